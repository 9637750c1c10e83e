"""The tables about groups of people in the paper's layout, out of the tidy ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from adapters.pages.paper_table import Head, Mark, PaperCell, PaperTable, Section
from domain.suites import AxisDefinition
from metrics.comparison_rules import LEVEL, PROMINENT
from metrics.leaderboard import POOLED
from tasks.paper_text import (
    METRICS,
    NOTHING,
    Metric,
    Wording,
    axis_title,
    estimate_cell,
    number_text,
    numbers,
    rules_text,
    test_set_title,
    test_sets,
)

SHARED_ROWS = 10
"""Rows of each axis that Table 28 prints."""
FACIAL_HAIR = "facial hair"
SC = METRICS[1]
COUNTS = {("gender",): "Table 18", ("gender", "skin"): "Table 20", ("age",): "Tables 19 and 21"}

Row = Mapping[str, Any]


def distance_cell(row: Row | None, digits: int = 1) -> PaperCell:
    """A distance as the paper prints it, with its p-value."""
    if row is None or row["wd"] is None:
        return PaperCell(NOTHING, n="n = 0")
    marks: set[Mark] = set()
    if row["wd"] > PROMINENT:
        marks.add("prominent")
    if row["p"] >= LEVEL:
        marks.add("not_significant")
    beside = [f"p = {row['p']:.2g}"]
    if row["p_adjusted"] is not None:
        beside.append(f"adj. {row['p_adjusted']:.2g}")
    beside.append(f"by chance {number_text(row['null_mean'], digits)}")
    if row["wd_per_sd"] is not None:
        beside.append(f"{number_text(row['wd_per_sd'], 2)} sd")
    return PaperCell(number_text(row["wd"], digits), n=", ".join(beside), marks=frozenset(marks))


class GroupTableMaker:
    """Lays out the tables of groups; one without groups to compare has no row."""

    def __init__(self, tables: Mapping[str, pl.DataFrame], wording: Wording) -> None:
        self._tables = tables
        self._wording = wording
        self._rules = rules_text(wording.rules)

    def disparities(self) -> list[PaperTable]:
        """Means of groups and distances between them, a table for each metric and axis."""
        means, distances = self._tables["group_means"], self._tables["disparities"]
        return [
            self._disparity(means, distances, metric, axis, f"disparity_{metric.column}_{axis.name}")
            for axis in self._wording.axes
            for metric in METRICS
        ]

    def stereotypes(self) -> list[PaperTable]:
        """SC on the instructions about facial hair, a table for each axis."""
        named = pl.lit(FACIAL_HAIR).alias("test_set")
        means = self._tables["stereotype_means"].with_columns(named)
        distances = self._tables["stereotype_distances"].with_columns(named)
        return [
            self._disparity(means, distances, SC, axis, f"stereotypes_{axis.name}")
            for axis in self._wording.axes
        ]

    def _disparity(
        self, means: pl.DataFrame, distances: pl.DataFrame, metric: Metric, axis: AxisDefinition, name: str
    ) -> PaperTable:
        own = means.filter((pl.col("axis") == axis.name) & (pl.col("metric") == metric.column))
        tested = distances.filter(pl.col("metric") == metric.column)
        pairs = list(_pairs(tested, axis, self._wording.axes))
        is_stereotype = name.startswith("stereotypes")
        known = own.filter((pl.col("test_set") != POOLED) & (pl.col("n") > 0))
        sets = test_sets(known["test_set"])
        sections = [
            Section(str(dataset), list(self._disparity_rows(part, tested, axis, sets, pairs)))
            for (dataset,), part in own.group_by("dataset", maintain_order=True)
            if part.filter(pl.col("n") > 0)["group"].n_unique() > 1
        ]
        shown = "two worst groups" if axis.is_intersection else "worst and best group"
        subject = f"{metric.title} on facial hair" if is_stereotype else metric.title
        legend = (
            f"{metric.direction.capitalize()}. Means: {shown}, left the worst; WD: Wasserstein distance, "
            f"bold above {PROMINENT:g}; beside it p, p adjusted for all cells, the distance by chance "
            f"and WD/sd. n: {'edited images' if is_stereotype else 'sessions'} of each group."
        )
        return PaperTable(
            name=name,
            number="Table 30" if is_stereotype else numbers(metric.column, axis),
            title=f"{subject} by {axis_title(axis)}",
            legend=legend,
            rules=self._rules,
            heads=_disparity_heads(sets, pairs),
            sections=sections,
            n=int(known["n"].sum()),
        )

    def _disparity_rows(
        self,
        means: pl.DataFrame,
        distances: pl.DataFrame,
        axis: AxisDefinition,
        sets: Sequence[str],
        pairs: Sequence[_Pair],
    ) -> Iterator[list[PaperCell]]:
        groups: dict[tuple[str, str], list[Row]] = {}
        for row in means.iter_rows(named=True):
            groups.setdefault((row["model"], row["test_set"]), []).append(row)
        here = distances.filter(pl.col("dataset") == means["dataset"][0])
        tests = {
            (row["model"], row["test_set"], row["axis"], row["group_a"], row["group_b"]): row
            for row in here.iter_rows(named=True)
        }
        for model in self._wording.models(means["model"]):
            cells = [PaperCell(self._wording.model(model))]
            for name in sets:
                cells.append(self._group_pair(groups.get((model, name), []), axis))
                cells += [distance_cell(tests.get((model, name, *pair.key))) for pair in pairs]
            yield cells

    def _group_pair(self, rows: Sequence[Row], axis: AxisDefinition) -> PaperCell:
        ranked = sorted((row for row in rows if row["n"]), key=lambda row: row["rank"])
        if not ranked:
            return PaperCell(NOTHING, n="n = 0")
        shown = ranked[:2] if axis.is_intersection else ranked[:1] + ranked[1:][-1:]
        text = "  ".join(
            f"{self._wording.group(axis, row['group'])}: {number_text(row['mean'], 1)}" for row in shown
        )
        return PaperCell(text, n=f"n = {', '.join(str(row['n']) for row in shown)}")

    def session_counts(self) -> list[PaperTable]:
        """How many sessions of each group are complete, a table for each axis."""
        return [self._counts(axis) for axis in self._wording.axes]

    def _counts(self, axis: AxisDefinition) -> PaperTable:
        counts = self._tables["session_counts"].filter(pl.col("axis") == axis.name)
        groups = counts["group"].unique(maintain_order=True).to_list()
        sections: list[Section] = []
        for (dataset,), part in counts.group_by("dataset", maintain_order=True):
            for name in [*test_sets(part.filter(pl.col("test_set") != POOLED)["test_set"]), POOLED]:
                held = part.filter(pl.col("test_set") == name)
                title = "all test sets" if name == POOLED else test_set_title(name)
                sections.append(Section(f"{dataset} – {title}", self._count_rows(held, groups)))
        return PaperTable(
            name=f"session_counts_{axis.name}",
            number=COUNTS.get(tuple(sorted(axis.values)), ""),
            title=f"Complete sessions by {axis_title(axis)}",
            legend="Sessions whose edits all exist; where some do not, how many were planned.",
            rules=self._rules,
            heads=[[Head("Model"), *(Head(self._wording.group(axis, group)) for group in groups)]],
            sections=sections,
            n=int(counts.filter(pl.col("test_set") == POOLED)["n_sessions"].sum()),
        )

    def _count_rows(self, counts: pl.DataFrame, groups: Sequence[str | None]) -> list[list[PaperCell]]:
        rows = {(row["model"], row["group"]): row for row in counts.iter_rows(named=True)}
        return [
            [
                PaperCell(self._wording.model(model)),
                *(_count_cell(rows.get((model, group))) for group in groups),
            ]
            for model in self._wording.models(counts["model"])
        ]

    def attribute_bias(self) -> PaperTable:
        """The categories that most models overedit for one group (Table 28)."""
        shared, bias = self._tables["shared_attributes"], self._tables["attribute_bias"]
        key = ["dataset", "axis", "group_a", "group_b"]
        sections = [
            Section(
                f"{dataset} – {axis}: {a}, {b}",
                [self._bias_row(row) for row in part.head(SHARED_ROWS).iter_rows(named=True)],
            )
            for (dataset, axis, a, b), part in shared.group_by(key, maintain_order=True)
        ]
        return PaperTable(
            name="attribute_bias",
            number="Table 28",
            title="Asked-for categories that bring out differences between groups in overediting",
            legend="In how many models the category is among the ten with the largest distance, and which "
            "group it is worse for.",
            rules=self._rules,
            heads=[[Head("Category"), Head("# Models"), Head("Models")]],
            sections=sections,
            n=_most(bias.with_columns(n=pl.col("n_a") + pl.col("n_b")), "n"),
        )

    def _bias_row(self, row: Row) -> list[PaperCell]:
        count = f"{row['n_models']} of {row['n_compared']}"
        directions = f" ({row['directions']})" if row["directions"] else ""
        models = ", ".join(self._wording.model(model) for model in row["models"])
        return [PaperCell(row["category"]), PaperCell(count + directions), PaperCell(models)]

    def fss_sanity(self) -> PaperTable:
        """FSS of the base photos by group (Table 29)."""
        axes = {axis.name: axis for axis in self._wording.axes}
        return self._sanity("fss0", "Table 29", "FSS of the base photos × 100 by group", axes)

    def occlusion(self) -> PaperTable:
        """FSS of the base photos with and without hat or glasses (Appendix L)."""
        return self._sanity("occlusion", "Appendix L", "FSS of the base photos × 100 with hat or glasses", {})

    def _sanity(self, name: str, number: str, title: str, axes: Mapping[str, AxisDefinition]) -> PaperTable:
        means, distances = self._tables[f"{name}_means"], self._tables[f"{name}_distances"]
        sections: list[Section] = []
        for (dataset, axis_name), part in means.group_by("dataset", "axis", maintain_order=True):
            if part.filter(pl.col("n") > 0).height < 2:
                continue
            axis = axes.get(str(axis_name))
            rows = [
                [
                    PaperCell(self._wording.group(axis, row["group"]) if axis else row["group"]),
                    estimate_cell(_renamed(row), "mean", 2),
                    PaperCell(str(row["n_photos"])),
                ]
                for row in part.iter_rows(named=True)
            ]
            tested = distances.filter((pl.col("dataset") == dataset) & (pl.col("axis") == axis_name))
            for row in tested.iter_rows(named=True):
                sides = [row["group_a"], row["group_b"]]
                told = f"WD {'–'.join(self._wording.group(axis, side) if axis else side for side in sides)}"
                both = PaperCell(str(row["n_photos_a"] + row["n_photos_b"]))
                rows.append([PaperCell(told), distance_cell(row, 2), both])
            sections.append(Section(f"{dataset} – {str(axis_name).replace('_', ' ')}", rows))
        return PaperTable(
            name="fss_sanity" if name == "fss0" else name,
            number=number,
            title=title,
            legend="High: same person. Beside each mean half its 95 % interval; photos at the right.",
            rules=self._rules,
            heads=[[Head("Group"), Head("Mean"), Head("Photos")]],
            sections=sections,
            n=_most(means, "n"),
        )


class _Pair:
    """Two groups of one axis that are tested."""

    def __init__(self, axis: str, a: str, b: str, title: str) -> None:
        self.key = (axis, a, b)
        self.title = title


def _pairs(distances: pl.DataFrame, axis: AxisDefinition, axes: Sequence[AxisDefinition]) -> Iterator[_Pair]:
    """The tests of an axis; for an intersection those of its parts."""
    for part in axes:
        if part.is_intersection or not set(part.values) <= set(axis.values):
            continue
        found = distances.filter(pl.col("axis") == part.name)
        pairs = found.select("group_a", "group_b").unique(maintain_order=True).rows()
        for a, b in pairs:
            yield _Pair(part.name, a, b, f"WD {part.name}" if len(pairs) == 1 else f"WD {a}–{b}")


def _disparity_heads(sets: Sequence[str], pairs: Sequence[_Pair]) -> list[list[Head]]:
    span = 1 + len(pairs)
    second = [Head("Mean"), *(Head(pair.title) for pair in pairs)]
    return [
        [Head(""), *(Head(test_set_title(name), span) for name in sets)],
        [Head("Model"), *(head for _ in sets for head in second)],
    ]


def _most(frame: pl.DataFrame, column: str) -> int:
    """The sum over the axis with most values: the same photos are in the groups of several axes."""
    return int(frame.group_by("axis").agg(pl.col(column).sum())[column].max() or 0)  # pyright: ignore[reportArgumentType]


def _count_cell(row: Row | None) -> PaperCell:
    if row is None:
        return PaperCell("0")
    short = row["n_sessions"] < row["n_planned"]
    return PaperCell(str(row["n_sessions"]), n=f"{row['n_planned']} planned" if short else "")


def _renamed(row: Row) -> dict[str, Any]:
    return {"mean": row["mean"], "mean_low": row["low"], "mean_high": row["high"], "mean_n": row["n"]}
