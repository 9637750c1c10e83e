"""What is chosen when groups are compared, and the columns of the tables that come of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import polars as pl

from domain.errors import MetricError
from metrics.session_scores import IntervalRule
from metrics.wasserstein import PERMUTATIONS

Unit = Literal["person", "session"]

HIGH_IS_GOOD = frozenset({"sc", "fss0"})
"""Metrics whose worst group is the one with the lowest mean; of all others it is the highest."""

PROMINENT = 3.0
"""Distance, in points of 100, above which a significant disparity is prominent (arXiv 2608.28802)."""
LEVEL = 0.05


@dataclass(frozen=True)
class ComparisonRules:
    """Every choice that changes a number; printed with every table."""

    unit: Unit = "person"
    """What is relabelled: people (photos where the person is unknown), or single values (the paper)."""
    permutations: int = PERMUTATIONS
    seed: int = 0
    interval: IntervalRule = "bootstrap"
    """As in `metrics.session_scores.ScoringRules`."""
    resamples: int = 2_000

    def __post_init__(self) -> None:
        """Raise MetricError for a rule that does not exist."""
        known = self.unit in get_args(Unit) and self.interval in get_args(IntervalRule)
        if not known or self.seed < 0 or self.permutations < 1 or self.resamples < 1:
            raise MetricError(f"not a set of comparison rules: {self}")


def values_schema(by: Sequence[str]) -> pl.Schema:
    """The columns of values to compare.

    `value` is null where undefined, so that its cell is there; `units` is what one value stands for under
    the interval "paper" (4 edited images of a session), else 1.
    """
    names = {name: pl.String for name in (*by, "metric", "photo")}
    return pl.Schema({**names, "value": pl.Float64, "units": pl.Int64})


def means_schema(by: Sequence[str]) -> pl.Schema:
    """The columns of group means."""
    return pl.Schema(
        {
            **{name: pl.String for name in (*by, "axis", "metric", "group")},
            **{name: pl.Float64 for name in ("mean", "low", "high")},
            **{name: pl.Int64 for name in ("rank", "n", "n_photos", "n_people")},
            "interval": pl.String,
        }
    )


def distances_schema(by: Sequence[str]) -> pl.Schema:
    """The columns of distances between two groups."""
    counts = [f"{name}_{side}" for name in ("n", "n_photos", "n_people", "n_units") for side in "ab"]
    floats = ("wd", "p", "p_adjusted", "null_mean", "null_sd", "sd", "wd_per_sd")
    return pl.Schema(
        {
            **{name: pl.String for name in (*by, "axis", "metric", "group_a", "group_b")},
            **{name: pl.Float64 for name in ("mean_a", "mean_b")},
            **{name: pl.String for name in ("worst", "best")},
            **{name: pl.Float64 for name in floats},
            "prominent": pl.Boolean,
            **{name: pl.Int64 for name in counts},
            "unit": pl.String,
            **{name: pl.Int64 for name in ("permutations", "seed")},
        }
    )


def coded_values(values: pl.DataFrame, by: Sequence[str]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The cells in order, numbered, and the values of each, sorted so that the order of rows is no matter.

    Returns:
        Columns `cell`, `by` and `metric`; and columns `cell`, `dataset`, `photo`, `value`, `units`.

    Raises:
        MetricError: A column is absent, cells are not named by dataset, or a value is not finite.

    """
    schema = values_schema(by)
    if "dataset" not in by:
        raise MetricError("cells are not named by dataset")
    for name, kind in schema.items():
        if values.schema.get(name) != kind:
            raise MetricError(f"values have no column {name!r} of type {kind}")
    if not values["value"].drop_nulls().is_finite().all():
        raise MetricError("a value is not finite")
    key = [*by, "metric"]
    cells = values.select(key).unique().sort(key).with_row_index("cell")
    held = values.drop_nulls("value").join(cells, on=key, nulls_equal=True)
    return cells, held.select("cell", "dataset", "photo", "value", "units").sort("cell", "value", "photo")
