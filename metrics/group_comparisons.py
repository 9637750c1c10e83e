"""Distances between groups, whatever is compared: one row a cell, axis, metric and pair of groups.

Cells are named by columns of the caller's choice (`by`), such as suite, dataset, model and test set.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Any, NamedTuple

import polars as pl

from metrics.comparison_rules import (
    HIGH_IS_GOOD,
    LEVEL,
    PROMINENT,
    ComparisonRules,
    coded_values,
    distances_schema,
)
from metrics.family_tests import Sample, family_tests
from metrics.group_axes import Axis, with_person
from metrics.relabelling import PhotoLabel, Relabelling, person_relabelling
from metrics.wasserstein import PermutationResult, session_test

_FAMILY = ("suite", "dataset")


def distances_between_groups(
    values: pl.DataFrame,
    labels: pl.DataFrame,
    axes: Sequence[Axis],
    by: Sequence[str],
    rules: ComparisonRules,
) -> pl.DataFrame:
    """Wasserstein-1 distance between the groups of every axis, with its permutation test.

    An intersection has no test of its own: its parts have. An axis of more than two groups is tested pair
    by pair. All cells and metrics of one suite, dataset and pair share their relabellings, and `p_adjusted`
    is over these.

    Args:
        values: Frame `values_schema(by)`; `by` holds `dataset`.
        labels: Frame `metrics.group_axes.LABELS`: the photos in it are those whose labels are exchanged.
        axes: The axes, whose groups are in `labels`.
        by: The columns that name a cell.
        rules: What is relabelled, how often, and the seed.

    Returns:
        Frame `distances_schema(by)`, sorted by cell, axis, metric and pair: `wd` >= 0 in the unit of the
        values, low is good, without direction (`worst` and `best` give it; null where the means are
        equal); `p` one-sided; `prominent` = `wd` > 3 and `p` < 0.05; `wd_per_sd` compares across metrics.
        Where a group has no value these are null and its n is 0. `n_units` are what was relabelled: a
        person with photos in both groups is as many units as photos. `p_adjusted` is null for the unit
        "session".

    Raises:
        MetricError: A column is absent, or a value is not finite.

    References:
        arXiv 2608.28802, section 2.5.4; `metrics.wasserstein` and `metrics.family_tests`.

    """
    cells, held = coded_values(values, by)
    family = [name for name in _FAMILY if name in by]
    rows: list[tuple[tuple[Any, ...], dict[str, Any]]] = []
    for position, axis in enumerate(axes):
        if axis.is_intersection:
            continue
        grouped = with_person(labels.filter((pl.col("axis") == axis.name) & pl.col("group").is_not_null()))
        sided = held.join(grouped.drop("axis", "subject"), on=["dataset", "photo"])
        for part in cells.partition_by(family, maintain_order=True):
            known = grouped.filter(pl.col("dataset") == part["dataset"][0])
            for number, pair in enumerate(combinations(axis.groups, 2)):
                tests = _pair_cells(part, sided, pair)
                for cell, result in zip(tests, _results(tests, known, axis, pair, rules), strict=True):
                    place = (*cell.key[:-1], position, cell.key[-1], number)
                    rows.append((place, _distance_row(cell, by, axis, pair, result, rules)))
    rows.sort(key=lambda row: row[0])
    return pl.DataFrame([row for _, row in rows], schema=distances_schema(by))


class _Side(NamedTuple):
    """One group in one cell."""

    values: list[float]
    photos: list[str]
    people: list[str]

    @property
    def mean(self) -> float | None:
        return math.fsum(self.values) / len(self.values) if self.values else None


_NOBODY = _Side([], [], [])


class _Cell(NamedTuple):
    """One test, or the lack of one."""

    key: tuple[str, ...]
    """Values of `by`, then the metric."""
    sides: tuple[_Side, _Side]

    @property
    def is_testable(self) -> bool:
        return all(side.values for side in self.sides)


def _pair_cells(cells: pl.DataFrame, sided: pl.DataFrame, pair: tuple[str, str]) -> list[_Cell]:
    columns = [
        pl.col(name).filter(pl.col("group") == group).alias(f"{name}/{group}")
        for group in pair
        for name in ("value", "photo", "person")
    ]
    found = sided.join(cells, on="cell", how="semi").group_by("cell").agg(columns)
    sides = {row[0]: (_Side(*row[1:4]), _Side(*row[4:])) for row in found.iter_rows()}
    return [_Cell(row[1:], sides.get(row[0], (_NOBODY, _NOBODY))) for row in cells.iter_rows()]


def _results(
    cells: Sequence[_Cell], known: pl.DataFrame, axis: Axis, pair: tuple[str, str], rules: ComparisonRules
) -> list[PermutationResult | None]:
    """One result a cell, in order; None where a group has no value."""
    testable = [cell for cell in cells if cell.is_testable]
    if rules.unit == "session":
        found = [
            session_test(
                *(side.values for side in cell.sides),
                seed=rules.seed,
                name=("session_test", axis.name, *sorted(pair), *cell.key),
                permutations=rules.permutations,
            )
            for cell in testable
        ]
    else:
        samples = [
            Sample([*a.values, *b.values], [*a.photos, *b.photos])
            for a, b in (cell.sides for cell in testable)
        ]
        relabelling = _relabelling(known, axis, pair, rules) if samples else None
        found = family_tests(samples, relabelling, permutations=rules.permutations) if relabelling else []
    results = iter(found)
    return [next(results) if cell.is_testable else None for cell in cells]


def _relabelling(
    known: pl.DataFrame, axis: Axis, pair: tuple[str, str], rules: ComparisonRules
) -> Relabelling:
    rows = known.filter(pl.col("group").is_in(pair)).select("photo", "subject", "group").iter_rows()
    photos = [PhotoLabel(photo, subject, group == pair[0]) for photo, subject, group in rows]
    family = ("person_relabelling", known["dataset"][0], axis.name, *sorted(pair))
    return person_relabelling(photos, seed=rules.seed, family=family)


def _distance_row(
    cell: _Cell,
    by: Sequence[str],
    axis: Axis,
    pair: tuple[str, str],
    result: PermutationResult | None,
    rules: ComparisonRules,
) -> dict[str, Any]:
    metric = cell.key[-1]
    row: dict[str, Any] = dict(zip([*by, "metric"], cell.key, strict=True))
    row |= {"axis": axis.name, "unit": rules.unit, "permutations": rules.permutations, "seed": rules.seed}
    for side, group, held in zip("ab", pair, cell.sides, strict=True):
        row |= {f"group_{side}": group, f"mean_{side}": held.mean, f"n_{side}": len(held.values)}
        row |= {f"n_photos_{side}": len(set(held.photos)), f"n_people_{side}": len(set(held.people))}
    if result is None:
        return row | {"n_units_a": 0, "n_units_b": 0}
    low, high = sorted(pair, key=lambda group: row["mean_a" if group == pair[0] else "mean_b"])
    differ = row["mean_a"] != row["mean_b"]
    worst, best = (low, high) if metric in HIGH_IS_GOOD else (high, low)
    return row | {
        "worst": worst if differ else None,
        "best": best if differ else None,
        "wd": result.distance,
        "p": result.p_value,
        "p_adjusted": result.p_adjusted,
        "null_mean": result.null_mean,
        "null_sd": result.null_sd,
        "sd": result.sd,
        "wd_per_sd": result.distance_per_sd,
        "prominent": result.distance > PROMINENT and result.p_value < LEVEL,
        "n_units_a": result.units_a,
        "n_units_b": result.units_b,
    }
