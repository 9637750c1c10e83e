"""Means of many cells at once, each with its 95 % interval, n and clusters.

The bootstrap draws people once for all cells that have equally many: the resampled sums of all of them are
one matrix product. The draws depend on the seed and the number of people alone, so one more model, another
order of rows, or scoring in parts moves no interval; and two cells over the same people are resampled with
the same people, so that their difference can be read off.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from domain.errors import MetricError
from metrics.frames import estimate_columns
from metrics.intervals import Z95, resampled_means
from metrics.name_codes import distinct

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Cells:
    """Where values belong."""

    cell: Integers
    """The cell of each value, from 0, shape `(n,)`."""
    cluster: Integers
    """The person of each value, from 0, shape `(n,)`."""
    parent: Integers
    """The cell that pools each of these cells with others, after all of them; its own number for none."""

    @property
    def n_cells(self) -> int:
        """Cells and those that pool them."""
        return int(self.parent.max(initial=-1)) + 1

    def summed(self, values: NDArray[Any] | None) -> Floats:
        """Sums of values, counts where None; pooled ones too, shape `(n_cells,)`."""
        sums = np.bincount(self.cell, weights=values, minlength=len(self.parent)).astype(np.float64)
        pools = np.bincount(self.parent, weights=sums, minlength=self.n_cells).astype(np.float64)
        pools[: len(sums)] = sums
        return pools


def without_pools(cell: Integers, cluster: Integers) -> Cells:
    """Cells that stand for themselves."""
    return Cells(cell=cell, cluster=cluster, parent=np.arange(int(cell.max(initial=-1)) + 1))


@dataclass(frozen=True)
class CellMeans:
    """Means of cells, each array of shape `(cells,)`; NaN where not determined."""

    mean: Floats
    low: Floats
    high: Floats
    n: Integers
    """Values averaged."""
    clusters: Integers
    """Independent units among them."""

    def columns(self, name: str) -> dict[str, pl.Series]:
        """The columns `estimate_columns(name)`; null where not determined."""
        held = (self.mean, self.low, self.high, self.n, self.clusters)
        return {
            column: pl.Series(values, nan_to_null=True)
            for column, values in zip(estimate_columns(name), held, strict=True)
        }


def normal_means(
    values: Floats, cells: Cells, units_per_value: NDArray[np.integer] | None = None
) -> CellMeans:
    """Mean of each cell with the normal interval, mean -/+ 1.96 sd / sqrt(n x units).

    Args:
        values: Shape `(n,)`, any unit; NaN = not determined and left out. Every one counts as independent.
        cells: Where they belong.
        units_per_value: Units that each value of a cell stands for, shape `(n_cells,)`; 1 where None.

    Raises:
        MetricError: A value is infinite.

    References:
        See `metrics.intervals.normal_interval`.

    """
    held = _finite(values)
    n = cells.summed(held)
    mean = cells.summed(np.where(held, values, 0.0)) / np.where(n > 0, n, np.nan)
    own = np.where(held, values - mean[cells.cell], 0.0)
    # The squares about a pooled mean are those about the cells' own means and what lies between.
    n_own = len(cells.parent)
    between = n[:n_own] * (mean[:n_own] - mean[cells.parent]) ** 2
    squares = cells.summed(own**2)
    pooled = np.bincount(cells.parent, weights=np.where(n[:n_own] > 0, between, 0.0), minlength=len(n))
    variance = (squares + pooled) / np.where(n > 1, n - 1, np.nan)
    half = Z95 * np.sqrt(variance / (n * (1 if units_per_value is None else units_per_value)))
    counts = n.astype(np.int64)
    return CellMeans(mean=mean, low=mean - half, high=mean + half, n=counts, clusters=counts)


@dataclass
class _EqualSize:
    """Cells with equally many people."""

    where: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    """Score and cell."""
    totals: list[Floats] = field(default_factory=list[Floats])
    """Sum of deviations and count of each person, shape `(people, 2)`."""


def bootstrap_means(scores: Sequence[Floats], cells: Cells, *, seed: int, resamples: int) -> list[CellMeans]:
    """Mean of each cell with the percentile interval of a bootstrap over people.

    Args:
        scores: Values of several scores, each of shape `(n,)`, any unit; NaN = not determined and left out.
        cells: Where they belong.
        seed: Of the draws.
        resamples: Resamples drawn.

    Returns:
        One for each score; a cell of one person has a mean and no interval.

    Raises:
        MetricError: A value is infinite.

    References:
        See `metrics.intervals.cluster_bootstrap_interval`.

    """
    pairs = _Pairs(cells)
    made: list[CellMeans] = []
    groups: dict[int, _EqualSize] = {}
    for number, values in enumerate(scores):
        held = _finite(values)
        sums, counts = pairs.summed(np.where(held, values, 0.0)), pairs.summed(held)
        means = _empty(cells.n_cells)
        made.append(means)
        for cell, own in enumerate(pairs.cells):
            n, present = counts[own], counts[own] > 0
            if not present.any():
                continue
            mean = sums[own].sum() / n.sum()
            means.mean[cell], means.n[cell], means.clusters[cell] = mean, n.sum(), present.sum()
            if means.clusters[cell] > 1:
                group = groups.setdefault(int(means.clusters[cell]), _EqualSize())
                group.where.append((number, cell))
                group.totals.append(np.stack([sums[own] - mean * n, n], axis=1)[present])
    for n_people, group in sorted(groups.items()):
        stream = np.random.SFC64(np.random.SeedSequence(seed, spawn_key=(n_people,)))
        drawn = resampled_means(np.stack(group.totals), np.random.Generator(stream), resamples)
        bounds = np.quantile(drawn, (0.025, 0.975), axis=0)
        for (number, cell), low, high in zip(group.where, bounds[0], bounds[1], strict=True):
            mean = made[number].mean[cell]
            made[number].low[cell], made[number].high[cell] = mean + low, mean + high
    return made


class _Pairs:
    """The people of each cell, pooled cells included."""

    def __init__(self, cells: Cells) -> None:
        n_people = int(cells.cluster.max(initial=-1)) + 1
        code = cells.cell * n_people + cells.cluster
        first, self._own = distinct(code)
        pooled = np.flatnonzero(cells.parent[cells.cell[first]] != cells.cell[first])
        parents = cells.parent[cells.cell[first][pooled]] * n_people + cells.cluster[first][pooled]
        self._pooled = pooled
        pools, self._pool = distinct(parents)
        cell = np.concatenate([cells.cell[first], parents[pools] // max(n_people, 1)])
        bounds = np.searchsorted(cell, np.arange(cells.n_cells + 1))
        self.cells = [slice(start, end) for start, end in pairwise(bounds)]
        """The pairs of each cell, its people in their order."""

    def summed(self, values: NDArray[Any]) -> Floats:
        """Sums of values of each pair."""
        own = np.bincount(self._own, weights=values).astype(np.float64)
        return np.concatenate([own, np.bincount(self._pool, weights=own[self._pooled]).astype(np.float64)])


def _empty(n_cells: int) -> CellMeans:
    return CellMeans(
        mean=np.full(n_cells, np.nan),
        low=np.full(n_cells, np.nan),
        high=np.full(n_cells, np.nan),
        n=np.zeros(n_cells, dtype=np.int64),
        clusters=np.zeros(n_cells, dtype=np.int64),
    )


def _finite(values: Floats) -> NDArray[np.bool_]:
    """Which values are there."""
    held = np.isfinite(values)
    if np.isinf(values[~held]).any():
        raise MetricError(f"value {int(np.argmax(np.isinf(values)))} is not finite")
    return held
