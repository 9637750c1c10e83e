"""Means of groups, whatever is averaged: one row a cell, axis, metric and group.

Cells are named by columns of the caller's choice (`by`), such as suite, dataset, model and test set.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from metrics.cell_means import CellMeans, Cells, bootstrap_means, normal_means
from metrics.comparison_rules import HIGH_IS_GOOD, ComparisonRules, coded_values, means_schema
from metrics.group_axes import Axis, with_person


def means_by_group(
    values: pl.DataFrame,
    labels: pl.DataFrame,
    axes: Sequence[Axis],
    by: Sequence[str],
    rules: ComparisonRules,
) -> pl.DataFrame:
    """Mean of every group with its 95 % interval.

    Args:
        values: Frame `values_schema(by)`; `by` holds `dataset`.
        labels: Frame `metrics.group_axes.LABELS`.
        axes: The axes, whose groups are in `labels`.
        by: The columns that name a cell.
        rules: The interval and the seed.

    Returns:
        Frame `means_schema(by)`, sorted by cell, axis, metric and group (axis and group in their order):
        `mean` in the unit of the values, `rank` 1 = worst group of the axis; a group without a value has
        n = 0 and nulls. `n` counts values, `n_people` a photo of an unknown person as one.

    Raises:
        MetricError: A column is absent, or a value is not finite.

    """
    cells, held = coded_values(values, by)
    parts = [
        _axis_means(cells, held, labels, axis, rules).with_columns(_axis=position)
        for position, axis in enumerate(axes)
    ]
    schema = means_schema(by)
    if not parts:
        return pl.DataFrame(schema=schema)
    frame = pl.concat(parts).sort(*by, "_axis", "metric", "_group")
    bad = pl.when(pl.col("metric").is_in(HIGH_IS_GOOD)).then(pl.col("mean")).otherwise(-pl.col("mean"))
    ranked = frame.with_columns(bad.rank("min").over(*by, "metric", "axis").alias("rank"))
    return ranked.select(pl.col(name).cast(kind) for name, kind in schema.items())


def _axis_means(
    cells: pl.DataFrame, held: pl.DataFrame, labels: pl.DataFrame, axis: Axis, rules: ComparisonRules
) -> pl.DataFrame:
    """One row a cell and group of one axis, those without a value too."""
    known = with_person(labels.filter((pl.col("axis") == axis.name) & pl.col("group").is_not_null()))
    coded = known.select(
        "dataset",
        "photo",
        pl.col("group").replace_strict(_places(axis), return_dtype=pl.Int64).alias("_group"),
        (pl.col("person").rank("dense").cast(pl.Int64) - 1).alias("_person"),
    ).with_row_index("_photo")
    sided = held.join(coded, on=["dataset", "photo"], maintain_order="left")
    n_groups = len(axis.groups)
    place = (sided["cell"].cast(pl.Int64) * n_groups + sided["_group"]).to_numpy()
    n_places = cells.height * n_groups
    found = _estimates(sided, place, n_places, rules)
    photos = np.unique(place * max(coded.height, 1) + sided["_photo"].cast(pl.Int64).to_numpy())
    people = np.unique(place * max(coded.height, 1) + sided["_person"].to_numpy())
    counted = {
        name: np.bincount(unique // max(coded.height, 1), minlength=n_places)
        for name, unique in (("n_photos", photos), ("n_people", people))
    }
    order = pl.DataFrame({"_group": range(n_groups), "group": axis.groups})
    return cells.join(order, how="cross", maintain_order="left_right").with_columns(
        pl.lit(axis.name).alias("axis"),
        pl.lit(rules.interval).alias("interval"),
        *(
            pl.Series(name, getattr(found, name)[:n_places], nan_to_null=True)
            for name in ("mean", "low", "high", "n")
        ),
        *(pl.Series(name, held) for name, held in counted.items()),
    )


def _estimates(
    sided: pl.DataFrame, place: NDArray[np.int64], n_places: int, rules: ComparisonRules
) -> CellMeans:
    """The mean of every place, with its interval."""
    person = sided["_person"].to_numpy()
    where = Cells(cell=place, cluster=person, parent=np.arange(n_places))
    values = sided["value"].to_numpy()
    if rules.interval == "bootstrap":
        return bootstrap_means([values], where, seed=rules.seed, resamples=rules.resamples)[0]
    units = np.ones(n_places, dtype=np.int64)
    if rules.interval == "paper":
        np.maximum.at(units, place, sided["units"].to_numpy())
    return normal_means(values, where, units)


def _places(axis: Axis) -> dict[str, int]:
    return {group: place for place, group in enumerate(axis.groups)}
