"""A mean with its 95 % interval, normal or by resampling people."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from domain.errors import MetricError

Z95 = 1.96
"""Standard deviations of a normal distribution that hold 95 % of it on both sides."""
_DRAWS_AT_ONCE = 2**20
"""Clusters drawn per block of resamples; bounds the memory to some 25 MB whatever is resampled."""
_CELLS_AT_ONCE = 16
"""Cells in one matrix product. The last block is filled up, so that a cell's sums do not depend, in
their last digit, on how many others there are."""
_ROWS_AT_ONCE = 16
"""Resamples in one matrix product: so small that no second thread is woken, which would only wait."""


@dataclass(frozen=True)
class Estimate:
    """A mean, in the unit of the values, with its 95 % interval."""

    mean: float
    low: float | None
    """None where the interval is not determined: one value, or one cluster."""
    high: float | None
    n: int
    """Values averaged."""
    clusters: int
    """Independent units among them."""


def normal_interval(values: Sequence[float], *, units_per_value: int = 1) -> Estimate:
    """Mean with the normal 95 % interval, mean -/+ 1.96 sd / sqrt(n).

    It takes the values for independent, which sessions of one person are not: use
    `cluster_bootstrap_interval` unless the paper's subscripts are to be reproduced.

    Args:
        values: Shape `(n,)`, any unit, n >= 1.
        units_per_value: Units that each value stands for; 4 (the edited images of a session) reproduces
            the half-widths of the paper's Table 1, 1 those of Tables 2 and 4.

    Returns:
        The estimate; the sd has the n - 1 denominator; one value has no interval.

    Raises:
        MetricError: No value, one that is not finite, or `units_per_value` < 1.

    References:
        arXiv 2608.28802, Tables 1, 2 and 4 (the unit is inferred from the printed half-widths).

    """
    if units_per_value < 1:
        raise MetricError(f"units_per_value is {units_per_value}, not a positive count")
    mean = _mean(values)
    n = len(values)
    if n == 1:
        return Estimate(mean=mean, low=None, high=None, n=1, clusters=1)
    sd = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (n - 1))
    half = Z95 * sd / math.sqrt(n * units_per_value)
    return Estimate(mean=mean, low=mean - half, high=mean + half, n=n, clusters=n)


def cluster_bootstrap_interval(
    values: Sequence[float],
    clusters: Sequence[Hashable],
    *,
    rng: np.random.Generator,
    resamples: int = 2_000,
) -> Estimate:
    """Mean with the percentile 95 % interval of a bootstrap over clusters (people).

    All values of a person are drawn together, because they are not independent of each other. The
    result depends on neither the order of the values nor the names of the clusters.

    Args:
        values: Shape `(n,)`, any unit, n >= 1.
        clusters: The cluster (person) of each value, shape `(n,)`.
        rng: Source of the resamples.
        resamples: Resamples drawn.

    Returns:
        The estimate; one cluster has no interval.

    Raises:
        MetricError: No value, one that is not finite, lengths that differ, or `resamples` < 1.

    References:
        Davison & Hinkley (1997), Bootstrap Methods, doi:10.1017/CBO9780511802843, sections 3.8 and 5.3.

    """
    if len(values) != len(clusters):
        raise MetricError(f"{len(values)} values, but {len(clusters)} clusters")
    if resamples < 1:
        raise MetricError(f"resamples is {resamples}, not a positive count")
    mean = _mean(values)
    totals = _cluster_totals(values, clusters, mean)
    n_clusters = len(totals)
    if n_clusters == 1:
        return Estimate(mean=mean, low=None, high=None, n=len(values), clusters=1)
    means = mean + resampled_means(totals[np.newaxis], rng, resamples)[:, 0]
    low, high = (float(bound) for bound in np.quantile(means, (0.025, 0.975)))
    return Estimate(mean=mean, low=low, high=high, n=len(values), clusters=n_clusters)


def _mean(values: Sequence[float]) -> float:
    if len(values) == 0:
        raise MetricError("no value to average")
    for position, value in enumerate(values):
        if not math.isfinite(value):
            raise MetricError(f"value {position} is {value}, not finite")
    return math.fsum(values) / len(values)


def _cluster_totals(
    values: Sequence[float], clusters: Sequence[Hashable], mean: float
) -> NDArray[np.float64]:
    """Sum of deviations and count of each cluster, shape `(clusters, 2)`, in an order free of names."""
    members: dict[Hashable, list[float]] = {}
    for value, cluster in zip(values, clusters, strict=True):
        members.setdefault(cluster, []).append(value - mean)
    # Only these two numbers enter the mean, so clusters that tie on both are interchangeable.
    return np.array(sorted((math.fsum(held), float(len(held))) for held in members.values()))


def resampled_means(
    totals: NDArray[np.float64], rng: np.random.Generator, resamples: int
) -> NDArray[np.float64]:
    """Means of resamples of clusters, the same resamples for every cell.

    Args:
        totals: Sum and count of each cluster of each cell, shape `(cells, clusters, 2)`, counts > 0.
        rng: Source of the resamples.
        resamples: Resamples drawn.

    Returns:
        Shape `(resamples, cells)`.

    References:
        Davison & Hinkley (1997), section 3.8: clusters are drawn whole.

    """
    n_cells, n_clusters, _ = totals.shape
    n_blocks = -(-n_cells // _CELLS_AT_ONCE)
    filled = np.ones((n_blocks * _CELLS_AT_ONCE, n_clusters, 2))
    filled[:n_cells] = totals
    blocks = filled.reshape(n_blocks, _CELLS_AT_ONCE, n_clusters, 2).transpose(0, 2, 3, 1)
    blocks = np.ascontiguousarray(blocks).reshape(n_blocks, n_clusters, 2 * _CELLS_AT_ONCE)
    rows = max(1, _DRAWS_AT_ONCE // n_clusters)
    means: list[NDArray[np.float64]] = []
    for start in range(0, resamples, rows):
        block = min(rows, resamples - start)
        drawn = rng.integers(n_clusters, size=(block, n_clusters))
        drawn += np.arange(block)[:, np.newaxis] * n_clusters
        times = np.bincount(drawn.ravel(), minlength=block * n_clusters).reshape(block, n_clusters)
        weights = np.zeros((-(-block // _ROWS_AT_ONCE) * _ROWS_AT_ONCE, n_clusters))
        weights[:block] = times
        tiles = weights.reshape(-1, _ROWS_AT_ONCE, n_clusters)
        sums = np.stack([(tiles @ held).reshape(len(weights), -1)[:block] for held in blocks], axis=1)
        ratios = sums[..., :_CELLS_AT_ONCE] / sums[..., _CELLS_AT_ONCE:]
        means.append(ratios.reshape(block, n_blocks * _CELLS_AT_ONCE)[:, :n_cells])
    return np.concatenate(means)
