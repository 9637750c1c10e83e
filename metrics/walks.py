"""The sum behind the Wasserstein-1 distance, for many relabellings at once.

With N pooled values in order, n_a labelled a and c_i of these among the first i, the sum is
S = sum_i |N c_i - n_a i| (x_(i+1) - x_i), and W1 = S / (n_a n_b). Equal values share a place, so few
distinct values need few terms. On an integer grid every term is an integer below 2^53, so S is exact.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from metrics.relabelling import BLOCK, Floats

_FEW = 256
"""Distinct values up to which counts per value are cheaper than a walk over all values."""
_FINEST = 1e6
"""Steps per unit of the finest grid that is looked for."""
_LARGEST_ON_GRID = 1e6
"""Beyond it float64 does not tell a multiple of the finest grid."""
_ROWS = 32
"""Positions of a walk worked on at once; bounds the memory."""
_LARGEST_EXACT = 2**53

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Pooled:
    """The values of both groups in order."""

    order: Ints
    """Places of the values in the order given, smallest value first, shape `(N,)`."""
    gaps: Floats
    """Steps between neighbours in units of `unit`, shape `(N - 1,)`."""
    places: Ints
    """Index of each value, in the order given, among the distinct values, shape `(N,)`."""
    counts: Ints
    """How often each distinct value occurs, shape `(K,)`."""
    distinct_gaps: Floats
    """Steps between the distinct values in units of `unit`, shape `(K - 1,)`."""
    unit: float
    """The grid's step in the unit of the values; 1 without a grid."""
    is_exact: bool
    """Whether every sum is an integer that float64 holds."""

    @classmethod
    def of(cls, values: Floats) -> Pooled:
        """Sort finite values, shape `(N,)`, and look for the grid that they lie on."""
        step = grid_step(values)
        scaled = np.rint(values / step) if step else values
        distinct, places, counts = np.unique(scaled, return_inverse=True, return_counts=True)
        order = np.argsort(scaled, kind="stable").astype(np.int64)
        largest = len(values) ** 2 / 4 * float(distinct[-1] - distinct[0])
        return cls(
            order=order,
            gaps=np.diff(scaled[order]),
            places=places.astype(np.int64),
            counts=counts.astype(np.int64),
            distinct_gaps=np.diff(distinct),
            unit=step or 1.0,
            is_exact=step is not None and largest < _LARGEST_EXACT,
        )

    @property
    def total(self) -> int:
        """Values of both groups together."""
        return len(self.order)

    @property
    def is_discrete(self) -> bool:
        """Whether counts per distinct value are used in place of a walk."""
        return len(self.counts) <= _FEW

    def sum_of(self, in_a: NDArray[np.bool_]) -> float:
        """The sum for one labelling of the values in the order given, shape `(N,)`."""
        c = np.bincount(self.places, weights=in_a, minlength=len(self.counts))
        terms = np.abs(self.total * c.cumsum()[:-1] - float(in_a.sum()) * self.counts.cumsum()[:-1])
        return float(terms @ self.distinct_gaps)

    def distance(self, total: float, n_a: int) -> float:
        """The distance, in the unit of the values, from the sum of a labelling with so many in a."""
        return total * self.unit / (n_a * (self.total - n_a))


def grid_step(values: Floats) -> float | None:
    """The widest step of which all values are multiples; None where it is finer than 1e-6 or none.

    A value counts as a multiple of 1e-6 to 1e-9, so that the rounding of a mean of judge's scores does not
    take it off its grid.
    """
    if np.abs(values).max(initial=0.0) > _LARGEST_ON_GRID:
        return None
    fine = values * _FINEST
    whole = np.rint(fine)
    if np.abs(fine - whole).max(initial=0.0) > 1e-3:
        return None
    step = int(np.gcd.reduce(whole.astype(np.int64)))
    # Divided, not multiplied by 1e-6, so that 2.5 is 2.5 and a distance of 3 is not above 3.
    return step / _FINEST if step else None


def hypergeometric_sums(pooled: Pooled, n_a: int, rng: np.random.Generator, size: int = BLOCK) -> Floats:
    """Sums of relabellings of single values, by their counts per distinct value, shape `(size,)`.

    They are drawn one after the other, so fewer are the first of more.
    """
    # Frequent values first: what is left to draw from shrinks fast, and small numbers are drawn faster.
    order = np.argsort(-pooled.counts, kind="stable")
    drawn = rng.multivariate_hypergeometric(pooled.counts[order], n_a, size=size, method="marginals")
    c = np.empty((len(order), size))
    c[order] = drawn.T
    c = c[:-1].cumsum(axis=0)
    c *= pooled.total
    c -= (float(n_a) * pooled.counts[:-1].cumsum())[:, np.newaxis]
    return _weighted(pooled.distinct_gaps, np.abs(c, out=c))


def drawn_sums(pooled: Pooled, n_a: int, rng: np.random.Generator) -> Floats:
    """Sums of 2,048 relabellings of single values, by a walk that draws each label as it comes.

    Selection sampling: a value is labelled a with probability (labels left) / (values left). Memory does
    not grow with the number of values.

    References:
        Fan, Muller & Rezucha (1962), doi:10.1080/01621459.1962.10480667, Method 1.

    """
    total = pooled.total
    left = np.full(BLOCK, float(n_a))
    hit = np.empty(BLOCK, dtype=np.bool_)
    sums = np.zeros(BLOCK)
    uniforms, walk = np.empty((_ROWS, BLOCK)), np.empty((_ROWS, BLOCK))
    for start in range(0, total - 1, _ROWS):
        gaps = pooled.gaps[start : start + _ROWS]
        places = np.arange(start, start + len(gaps), dtype=np.float64)[:, np.newaxis]
        drawn = rng.random(out=uniforms[: len(gaps)])
        drawn *= total - places
        part = walk[: len(gaps)]
        for uniform, row in zip(drawn, part, strict=True):
            np.less(uniform, left, out=hit)
            left = np.subtract(left, hit, out=row)
        left = left.copy()
        # N c_i - n_a i with c_i = n_a - left
        part *= -float(total)
        part += n_a * (total - 1 - places)
        sums += _weighted(gaps, np.abs(part, out=part))
    return sums


def labelled(units: Ints, labels: NDArray[np.float32]) -> Floats:
    """How many values each relabelling puts into group a, shape `(relabellings,)`."""
    return _counts(units, np.zeros_like(units), 1, labels)[0]


def counted_sums(pooled: Pooled, units: Ints, labels: NDArray[np.float32]) -> Floats:
    """Sums of relabelled units, by their counts per distinct value.

    Args:
        pooled: The values in order.
        units: The unit of each value in the order given, shape `(N,)`.
        labels: 1 = group a, shape `(units, relabellings)`.

    Returns:
        Shape `(relabellings,)`.

    """
    c = _counts(units, pooled.places, len(pooled.counts), labels).cumsum(axis=0)
    n_a, c = c[-1], c[:-1]
    c *= pooled.total
    c -= pooled.counts[:-1].cumsum()[:, np.newaxis] * n_a
    return _weighted(pooled.distinct_gaps, np.abs(c, out=c))


def walked_sums(pooled: Pooled, units: Ints, labels: NDArray[np.float32]) -> Floats:
    """The same by a walk over all values, for many distinct ones; arguments as of `counted_sums`."""
    steps = np.multiply(labels, float(pooled.total), dtype=np.float64)
    steps -= labelled(units, labels)
    ordered = units[pooled.order]
    at = np.zeros(labels.shape[1])
    sums = np.zeros(labels.shape[1])
    walk = np.empty((_ROWS, labels.shape[1]))
    for start in range(0, pooled.total - 1, _ROWS):
        gaps = pooled.gaps[start : start + _ROWS]
        part = walk[: len(gaps)]
        for unit, row in zip(ordered[start : start + len(gaps)].tolist(), part, strict=True):
            at = np.add(at, steps[unit], out=row)
        at = at.copy()
        sums += _weighted(gaps, np.abs(part, out=part))
    return sums


def _counts(units: Ints, places: Ints, kinds: int, labels: NDArray[np.float32]) -> Floats:
    """Values in group a per place, shape `(kinds, relabellings)`.

    A sparse product: few values a unit, and no threads that wait for each other on a busy machine. Counts
    are whole numbers below 2^24, which float32 holds.
    """
    ones = np.ones(len(units), dtype=np.float32)
    held = sparse.coo_array((ones, (places, units)), shape=(kinds, len(labels))).tocsr()
    return np.asarray(held @ labels, dtype=np.float64)


def _weighted(weights: Floats, rows: Floats) -> Floats:
    """Sum of rows by weight; summed alike whatever the number of threads."""
    return np.einsum("r,rp->p", weights, rows)
