"""The tables of a report in the paper's layout, out of the tidy ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from adapters.pages.paper_table import Head, PaperCell, PaperTable, Section
from metrics.leaderboard import POOLED
from tasks.paper_groups import GroupTableMaker
from tasks.paper_text import (
    METRICS,
    Metric,
    Wording,
    estimate_cell,
    extremes,
    number_text,
    rules_text,
    test_set_title,
    test_sets,
)

Tables = Mapping[str, pl.DataFrame]

NO_GROUPS = "no axis is defined, or no photos are known to be in two of its groups"
EMPTY = {
    "patterns": "no overedit is that frequent",
    "coverage": "nothing was left out",
    "coverage_by_group": "nothing was left out, or no photo's group is known",
    "sensitivity": "there is no session",
    "occlusion": "not both photos with and photos without hat or glasses",
}
"""Why a table can be without a row; of all others because of `NO_GROUPS`."""

MEANS = {"drop_fss": "Table 1", "sc": "Table 2", "oer": "Table 4"}


@dataclass(frozen=True)
class Absent:
    """A table or figure that has nothing to show."""

    name: str
    number: str
    title: str
    reason: str


NO_AXES = tuple(
    Absent(name, number, title, "the suite defines no axis")
    for name, number, title in (
        ("disparities", "Tables 5–10 and 22–27", "Means of groups and distances between them"),
        ("session_counts", "Tables 18–21", "Sessions by group"),
        ("stereotypes", "Table 30", "SC on facial hair by group"),
    )
)
"""What cannot be there without an axis."""


def paper_tables(tables: Tables, wording: Wording) -> list[PaperTable | Absent]:
    """Every table in the paper's layout, or why it is not there, in the paper's order.

    Args:
        tables: The tidy tables, as `tasks.scoring.score` gives them.
        wording: Names, axes and rules.
    """
    groups = GroupTableMaker(tables, wording)
    made = [_means(tables["leaderboard"], metric, wording) for metric in METRICS]
    made.insert(2, _patterns(tables["patterns"], wording))
    made += groups.disparities()
    made += groups.session_counts()
    made += [groups.attribute_bias(), groups.fss_sanity(), groups.occlusion(), *groups.stereotypes()]
    made += [
        _coverage(tables["coverage"], wording),
        _coverage_by_group(tables["coverage_by_group"], wording),
        _sensitivity(tables["sensitivity"], wording),
    ]
    held = [
        table
        if any(section.rows for section in table.sections)
        else Absent(table.name, table.number, table.title, EMPTY.get(table.name, NO_GROUPS))
        for table in made
    ]
    return held if wording.axes else [*held, *NO_AXES]


def _means(board: pl.DataFrame, metric: Metric, wording: Wording) -> PaperTable:
    sets = test_sets(name for name in board["test_set"].unique() if name != POOLED)
    sections = [
        Section(str(dataset), _mean_rows(part, metric, sets, wording))
        for (dataset,), part in board.group_by("dataset", maintain_order=True)
    ]
    return PaperTable(
        name=f"means_{metric.column}",
        number=MEANS[metric.column],
        title=f"Mean {metric.title}",
        legend=(
            f"{metric.direction.capitalize()}. Beside each mean half its 95 % interval and n, the sessions; "
            "best and worst are a model's test sets; Avg. pools the sessions of all test sets."
            + (
                " No face: share of edited images without one, counted by the rule."
                if metric.column == "drop_fss"
                else ""
            )
        ),
        rules=rules_text(wording.rules),
        heads=[[Head("Model"), *(Head(test_set_title(name)) for name in sets), Head("Avg.")]],
        sections=sections,
        n=int(board.filter(pl.col("test_set") == POOLED)[f"{metric.column}_n"].sum()),
    )


def _mean_rows(
    board: pl.DataFrame, metric: Metric, sets: list[str], wording: Wording
) -> list[list[PaperCell]]:
    rows = {(row["model"], row["test_set"]): row for row in board.iter_rows(named=True)}
    models = wording.models(board["model"].unique())
    pooled = {model: rows[model, POOLED][metric.column] for model in models if model not in wording.controls}
    held = [value for value in pooled.values() if value is not None]
    lead = (min(held) if metric.is_low_good else max(held)) if len(held) > 1 else None
    made: list[list[PaperCell]] = []
    for model in models:
        own = [rows.get((model, name)) for name in sets]
        marks = extremes(
            [None if row is None else row[metric.column] for row in own], low_is_good=metric.is_low_good
        )
        cells = [replace(_mean_cell(row, metric), marks=mark) for row, mark in zip(own, marks, strict=True)]
        average = _mean_cell(rows[model, POOLED], metric)
        if lead is not None and pooled.get(model) == lead:
            average = replace(average, marks=frozenset({"leader"}))
        made.append([PaperCell(wording.model(model)), *cells, average])
    return made


def _mean_cell(row: Mapping[str, Any] | None, metric: Metric) -> PaperCell:
    if row is None:
        return PaperCell("–", n="n = 0")
    cell = estimate_cell(row, metric.column, 2, metric.factor)
    if metric.column == "drop_fss" and row["no_face"] is not None:
        return replace(cell, n=f"{cell.n}, no face {row['no_face']:.1%}")
    return cell


def _patterns(patterns: pl.DataFrame, wording: Wording) -> PaperTable:
    def row(found: Mapping[str, Any]) -> list[PaperCell]:
        models = ", ".join(
            f"{wording.model(model)} ({rate:.0%} of {prompts})"
            for model, rate, prompts in zip(found["models"], found["rates"], found["prompts"], strict=True)
        )
        return [
            PaperCell(f"{found['intended']} → {found['found']}"),
            PaperCell(f"{found['n_models']} of {found['n_compared']}"),
            PaperCell(models),
        ]

    asked = patterns.select("dataset", "intended", "models", "prompts").explode("models", "prompts").unique()
    return PaperTable(
        name="patterns",
        number="Table 3",
        title="Frequent overediting patterns",
        legend=(
            "Found in at least 15 % of the images of an asked-for category; None: what was there vanished."
        ),
        rules=rules_text(wording.rules),
        heads=[[Head("Intended edit → overedit"), Head("# Models"), Head("Models (share of n images)")]],
        sections=[
            Section(str(dataset), [row(found) for found in part.iter_rows(named=True)])
            for (dataset,), part in patterns.group_by("dataset", maintain_order=True)
        ],
        n=int(asked["prompts"].sum()),
    )


def _coverage(coverage: pl.DataFrame, wording: Wording) -> PaperTable:
    names = ("test_set", "what", "reason")
    return _counted(
        coverage, wording, "coverage", "Left out of a mean, and why",
        "Sessions that stopped, and scores that complete sessions lack.",
        names,
    )  # fmt: skip


def _coverage_by_group(coverage: pl.DataFrame, wording: Wording) -> PaperTable:
    held = coverage.filter(pl.col("axis") != POOLED).with_columns(pl.col("group").fill_null("unknown"))
    return _counted(
        held, wording, "coverage_by_group", "Left out of a mean, by group of people",
        "The same for each group of the photos.",
        ("test_set", "axis", "group", "what", "reason"),
    )  # fmt: skip


def _counted(
    frame: pl.DataFrame, wording: Wording, name: str, title: str, legend: str, names: tuple[str, ...]
) -> PaperTable:
    def cells(row: Mapping[str, Any]) -> list[PaperCell]:
        counted = [PaperCell(str(row[column])) for column in names]
        return [PaperCell(wording.model(row["model"])), *counted, PaperCell(str(row["n"]))]

    return PaperTable(
        name=name,
        number="",
        title=title,
        legend=legend,
        rules=rules_text(wording.rules),
        heads=[[Head("Model"), *(Head(column.replace("_", " ")) for column in names), Head("n")]],
        sections=_by_dataset(frame, cells),
        n=int(frame["n"].sum()),
    )


def _sensitivity(frame: pl.DataFrame, wording: Wording) -> PaperTable:
    factors = {metric.column: metric.factor for metric in METRICS} | {"oer_no_facial_hair": 100.0}

    def cells(row: Mapping[str, Any]) -> list[PaperCell]:
        factor = factors.get(row["metric"], 1.0)
        moved = None if row["difference"] is None else row["difference"] * factor
        return [
            PaperCell(wording.model(row["model"])),
            PaperCell(row["metric"]),
            PaperCell(row["choice"].replace("_", " ")),
            PaperCell(row["value"] + (" (in force)" if row["in_force"] else "")),
            estimate_cell(row, "mean", 2, factor),
            PaperCell(number_text(moved, 2)),
        ]

    each_once = frame.filter("in_force").group_by("dataset", "model").agg(pl.col("mean_n").max())
    return PaperTable(
        name="sensitivity",
        number="",
        title="Sensitivity of the headline metrics to each choice",
        legend=(
            "Pooled means under each value of one choice, the others as in force; SC and OER × 100; "
            "difference from the value in force."
        ),
        rules=rules_text(wording.rules),
        heads=[[Head(text) for text in ("Model", "Metric", "Choice", "Value", "Mean", "Difference")]],
        sections=_by_dataset(frame, cells),
        n=int(each_once["mean_n"].sum()),
    )


def _by_dataset(frame: pl.DataFrame, cells: Callable[[Mapping[str, Any]], list[PaperCell]]) -> list[Section]:
    """One section a dataset, so that rows of two datasets are never taken for one."""
    return [
        Section(str(dataset), [cells(row) for row in part.iter_rows(named=True)])
        for (dataset,), part in frame.group_by("dataset", maintain_order=True)
    ]
