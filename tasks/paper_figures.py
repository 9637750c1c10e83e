"""The figures of a report, out of its tidy tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from adapters.pages.figures import (
    AnyFigure,
    Bar,
    BarFigure,
    BarPanel,
    Caption,
    HeatFigure,
    HeatPanel,
    Line,
    LineFigure,
    LinePanel,
    PointSet,
    ScatterFigure,
)
from domain.suites import AxisDefinition
from domain.taxonomy import Taxonomy
from metrics.comparison_rules import LEVEL, PROMINENT
from metrics.leaderboard import POOLED
from metrics.overediting import none_column
from tasks.paper_tables import NO_GROUPS, Absent
from tasks.paper_text import (
    METRICS,
    PAPER_DATASETS,
    Metric,
    Wording,
    axis_title,
    file_name,
    rules_text,
    test_set_title,
    test_sets,
)

Tables = Mapping[str, pl.DataFrame]

FIRST_BARS = {("gender",): (6, None), ("gender", "skin"): (None, 7), ("age",): (8, 9)}
"""Of the paper's group bars, the figures of Drop_FSS on CelebA and CelebSET; SC and OER follow by fours."""


def paper_figures(tables: Tables, wording: Wording, taxonomy: Taxonomy) -> Iterator[AnyFigure | Absent]:
    """Every figure, or why it is not there, in the paper's order; one at a time, since they are large.

    Args:
        tables: The tidy tables, as `tasks.scoring.score` gives them.
        wording: Names, axes and rules.
        taxonomy: The categories in their order.
    """
    yield _confusion(tables["tracker_confusion"], wording)
    yield _distances(tables["disparities"], wording)
    for metric in METRICS:
        yield from _group_bars(tables["group_means"], metric, wording)
    yield _progression(tables["progression"], wording)
    yield from _overediting(tables["overediting"], wording, taxonomy)


def _confusion(confusion: pl.DataFrame, wording: Wording) -> HeatFigure | Absent:
    title = "What the tracker saw of changes whose truth is known"
    if confusion.is_empty():
        reason = "no model tells what it did, and no people were asked"
        return Absent("tracker_confusion", "Figure 4", title, reason)
    panels: list[HeatPanel] = []
    for (sub_axis,), part in confusion.group_by("sub_axis", maintain_order=True):
        names = sorted(
            {*part["truth"], *part["found"]}, key=lambda name: (name == none_column(str(sub_axis)), name)
        )
        counts = {(row["truth"], row["found"]): row["count"] for row in part.iter_rows(named=True)}
        values = [[float(counts.get((truth, found), 0)) for found in names] for truth in names]
        panels.append(HeatPanel(f"{sub_axis} (left out: {part['n_left_out'][0]})", names, names, values))
    caption = Caption(
        "tracker_confusion", "Figure 4", title, int(confusion["count"].sum()), rules_text(wording.rules),
        "Truth: what a model says that it drew. Left out: more than one category on a side.",
    )  # fmt: skip
    return HeatFigure(caption, "truth", "tracker", "images", panels)


def _distances(disparities: pl.DataFrame, wording: Wording) -> ScatterFigure | Absent:
    title = "p-values of distances that are not significant"
    tested = disparities.filter((pl.col("test_set") != POOLED) & pl.col("wd").is_not_null())
    if tested.is_empty():
        return Absent("p_against_wd", "Figure 5", title, NO_GROUPS)
    missed = tested.filter(pl.col("p") >= LEVEL)
    points = [
        PointSet(metric.title, part["wd"].to_list(), part["p"].to_list())
        for metric in METRICS
        for part in (missed.filter(pl.col("metric") == metric.column).sort("wd", "p"),)
    ]
    prominent = int((missed["wd"] > PROMINENT).sum())
    caption = Caption(
        "p_against_wd", "Figure 5", title, missed.height, rules_text(wording.rules),
        f"{missed.height} of {tested.height} distances have p ≥ {LEVEL:g}; {prominent} of them are above "
        f"{PROMINENT:g}.",
    )  # fmt: skip
    return ScatterFigure(caption, "Wasserstein distance", "p", PROMINENT, points)


def _group_bars(means: pl.DataFrame, metric: Metric, wording: Wording) -> Iterator[BarFigure | Absent]:
    for axis in wording.axes:
        own = means.filter(
            (pl.col("axis") == axis.name)
            & (pl.col("metric") == metric.column)
            & (pl.col("test_set") != POOLED)
        )
        for (dataset,), part in own.group_by("dataset", maintain_order=True):
            name = file_name("groups", metric.column, axis.name, str(dataset))
            title = f"{metric.title} by {axis_title(axis)} on {dataset}"
            number = _bar_number(metric, axis, str(dataset))
            if part.filter(pl.col("n") > 0)["group"].n_unique() < 2:
                yield Absent(name, number, title, NO_GROUPS)
                continue
            caption = Caption(
                name, number, title, int(part["n"].sum()), rules_text(wording.rules),
                f"{metric.direction.capitalize()}. Lines: 95 % intervals.",
            )  # fmt: skip
            groups = part["group"].unique(maintain_order=True).to_list()
            panels = [_bar_panel(part, test_set, groups, wording) for test_set in test_sets(part["test_set"])]
            shown = [wording.group(axis, group) for group in groups]
            yield BarFigure(caption, metric.title, shown, panels)


def _bar_panel(means: pl.DataFrame, test_set: str, groups: list[str], wording: Wording) -> BarPanel:
    held = means.filter(pl.col("test_set") == test_set)
    rows = {(row["model"], row["group"]): row for row in held.iter_rows(named=True)}
    models = wording.models(held["model"])
    return BarPanel(
        test_set_title(test_set),
        [wording.model(model) for model in models],
        [[_bar(rows[model, group]) for group in groups] for model in models],
    )


def _bar(row: Mapping[str, Any]) -> Bar:
    return Bar(row["mean"], row["low"], row["high"], row["n"])


def _bar_number(metric: Metric, axis: AxisDefinition, dataset: str) -> str:
    first = FIRST_BARS.get(tuple(sorted(axis.values)))
    if first is None or dataset not in PAPER_DATASETS:
        return ""
    number = first[PAPER_DATASETS.index(dataset)]
    return "" if number is None else f"Figure {number + 4 * METRICS.index(metric)}"


def _progression(progression: pl.DataFrame, wording: Wording) -> LineFigure | Absent:
    title = "Similarity to the person after each edit"
    if progression.is_empty():
        return Absent("progression", "Figure 18", title, "no session has a Drop_FSS")
    panels: list[LinePanel] = []
    for (dataset,), part in progression.group_by("dataset", maintain_order=True):
        lines: list[Line] = []
        for model in wording.models(part["model"]):
            rows = part.filter(pl.col("model") == model).sort("step")
            columns = (rows[name].to_list() for name in ("fss", "fss_low", "fss_high"))
            lines.append(Line(wording.model(model), *columns))
        panels.append(LinePanel(str(dataset), lines))
    caption = Caption(
        "progression", "Figure 18", title, int(progression["fss_n"].sum()), rules_text(wording.rules),
        "Mean FSS, high is good; step 0 is the photo before any edit. Bands: 95 % intervals.",
    )  # fmt: skip
    return LineFigure(caption, "step", "FSS", panels)


def _overediting(
    overedits: pl.DataFrame, wording: Wording, taxonomy: Taxonomy
) -> Iterator[HeatFigure | Absent]:
    rows = list(taxonomy.sub_axis_of)
    columns = [
        name
        for sub_axis, categories in taxonomy.categories.items()
        for name in (*categories, none_column(sub_axis))
    ]
    title = "Overedits by what was asked for"
    if overedits.is_empty():
        yield Absent("overediting", "", title, "no session has an OER")
    for (dataset, model), part in overedits.group_by("dataset", "model", maintain_order=True):
        rates = {(row["intended"], row["found"]): row["rate"] for row in part.iter_rows(named=True)}
        values = [[rates.get((row, column)) for column in columns] for row in rows]
        prompts = part.unique("intended")
        caption = Caption(
            file_name("overediting", str(dataset), str(model)), "",
            f"{title}: {wording.model(str(model))} on {dataset}",
            int(prompts["prompts"].sum()), rules_text(wording.rules),
            f"{prompts.height} of {len(rows)} categories were asked for; white: not asked for, or its kind.",
        )  # fmt: skip
        panel = HeatPanel("", rows, columns, values)
        yield HeatFigure(caption, "asked for", "found", "share of images", [panel])
