"""Wasserstein-1 distance between two groups, and its Monte Carlo permutation test.

Under relabelling only the labels move, so the pooled values are sorted once. With N values, n_a of them in
group a, and c_i of these among the i smallest,

    W1 = sum_i |N c_i - n_a i| (x_(i+1) - x_i) / (n_a n_b).

Values on an integer grid (OER in quarters, SC in fortieths) make every term an integer, and then the
statistic and its comparison are exact; otherwise distances are compared to a relative 1e-12.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from domain.errors import MetricError
from metrics.relabelling import BLOCK, Floats, block_stream
from metrics.walks import Pooled, drawn_sums, hypergeometric_sums

PERMUTATIONS = 9_999
"""Relabellings of a test; with the `+ 1` this gives round p-values."""

TOLERANCE = 1e-12
"""Relative difference up to which distances that are not exact count as equal."""


@dataclass(frozen=True)
class PermutationResult:
    """One group against another."""

    distance: float
    """Wasserstein-1 distance, >= 0, in the unit of the values; low is good."""
    p_value: float
    """(b + 1) / (B + 1), b = relabellings at least as far apart; one-sided."""
    p_adjusted: float | None
    """The same over all tests that share labels (step-down max-T); None where they share none."""
    null_mean: float
    """Mean distance of the relabellings, in the unit of the values: what sampling alone yields."""
    null_sd: float
    sd: float | None
    """Pooled within-group sd, n - 2 denominator; None with fewer than 3 values."""
    permutations: int
    n_a: int
    n_b: int
    units_a: int
    """Units with a value whose labels were exchanged: people, photos or sessions."""
    units_b: int

    @property
    def distance_per_sd(self) -> float | None:
        """Distance in sds, comparable across metrics; None where the sd is 0 or unknown."""
        return self.distance / self.sd if self.sd else None


@dataclass(frozen=True)
class ScipyCheck:
    """Our p-value beside that of `scipy.stats.permutation_test`."""

    ours: float
    scipys: float
    standard_error: float
    """Monte Carlo standard error of the difference of the two, at their mean."""
    distance: float
    scipys_distance: float

    @property
    def agree(self) -> bool:
        """Whether the distances are equal and the p-values within four standard errors."""
        near = math.isclose(self.distance, self.scipys_distance, rel_tol=1e-9, abs_tol=1e-9)
        return near and abs(self.ours - self.scipys) <= 4 * self.standard_error


def wasserstein_distance(a: Sequence[float], b: Sequence[float]) -> float:
    """Wasserstein-1 distance of two samples: the area between their distribution functions.

    Args:
        a: Values of one group, shape `(n,)`, any unit.
        b: Values of the other, shape `(m,)`, the same unit.

    Returns:
        The distance, >= 0, in the unit of the values; 0 for equal distributions. It has no direction.

    Raises:
        MetricError: A group is empty or has a value that is not finite.

    References:
        Ramdas, Garcia & Cuturi (2017), doi:10.3390/e19020047.

    """
    pooled = Pooled.of(np.concatenate([finite(a, "group a"), finite(b, "group b")]))
    return pooled.distance(pooled.sum_of(np.arange(pooled.total) < len(a)), len(a))


def session_test(
    a: Sequence[float],
    b: Sequence[float],
    *,
    seed: int,
    name: Sequence[str],
    permutations: int = PERMUTATIONS,
) -> PermutationResult:
    """Test whether two groups come from one distribution, every value a unit of its own (the paper's mode).

    Sessions of one person are not independent: with correlated sessions this test is wrong far more often
    than its level says. Use `family_tests` unless the paper is to be reproduced.

    Args:
        a: Values of one group, shape `(n,)`, any unit.
        b: Values of the other, shape `(m,)`, the same unit.
        seed: Of the relabellings, >= 0.
        name: Names the test; the same name, seed and values, the same p.
        permutations: Relabellings drawn, >= 1.

    Returns:
        The result; it depends on the order of neither values nor groups. `p_adjusted` is None.

    Raises:
        MetricError: A group is empty or has a value that is not finite; `permutations` < 1 or `seed` < 0.

    References:
        Phipson & Smyth (2010), doi:10.2202/1544-6115.1585 (the `+ 1`).

    """
    blocks = block_count(permutations)
    groups = [np.sort(finite(a, "group a")), np.sort(finite(b, "group b"))]
    # The smaller group is labelled, or the one with the smaller values: so the groups may trade places.
    small, large = sorted(groups, key=lambda values: (len(values), values.tolist()))
    pooled = Pooled.of(np.concatenate([small, large]))
    null = np.empty(permutations)
    for number in range(blocks):
        rng, part = block_stream(seed, name, number), null[number * BLOCK : (number + 1) * BLOCK]
        if pooled.is_discrete:
            part[:] = hypergeometric_sums(pooled, len(small), rng, len(part))
        else:
            part[:] = drawn_sums(pooled, len(small), rng)[: len(part)]
    observed = pooled.sum_of(np.arange(pooled.total) < len(small))
    at_least = null >= (observed if pooled.is_exact else observed * (1 - TOLERANCE))
    null *= pooled.unit / (len(small) * len(large))
    return PermutationResult(
        distance=pooled.distance(observed, len(small)),
        p_value=(int(at_least.sum()) + 1) / (permutations + 1),
        p_adjusted=None,
        null_mean=float(null.mean()),
        null_sd=float(null.std()),
        sd=pooled_sd(small, large),
        permutations=permutations,
        n_a=len(a),
        n_b=len(b),
        units_a=len(a),
        units_b=len(b),
    )


def check_with_scipy(
    a: Sequence[float], b: Sequence[float], *, seed: int, permutations: int = PERMUTATIONS
) -> ScipyCheck:
    """Run `session_test` and `scipy.stats.permutation_test` on the same values.

    Scipy's takes seconds to minutes at the size of a paper.

    Args:
        a: Values of one group, shape `(n,)`, any unit.
        b: Values of the other, shape `(m,)`, the same unit.
        seed: Of both, >= 0.
        permutations: Relabellings drawn by each; scipy goes through all where there are no more.

    Returns:
        Both p-values and distances, and whether they agree.

    Raises:
        MetricError: As for `session_test`.

    References:
        Knijnenburg et al. (2009), doi:10.1093/bioinformatics/btp211 (error of a Monte Carlo p-value).

    """
    ours = session_test(a, b, seed=seed, name=("check_with_scipy",), permutations=permutations)
    theirs = stats.permutation_test(
        (np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)),
        _scipys_distance,
        vectorized=False,
        n_resamples=permutations,
        batch=100,  # all at once takes gigabytes
        alternative="greater",
        rng=np.random.default_rng(seed),
    )
    p = float(theirs.pvalue)
    mean = (ours.p_value + p) / 2
    return ScipyCheck(
        ours=ours.p_value,
        scipys=p,
        standard_error=math.sqrt(2 * max(mean * (1 - mean), 1 / permutations) / permutations),
        distance=ours.distance,
        scipys_distance=float(theirs.statistic),
    )


def _scipys_distance(a: Floats, b: Floats) -> float:
    return float(stats.wasserstein_distance(a, b))


def pooled_sd(a: Floats, b: Floats) -> float | None:
    """Within-group sd of two samples, n - 2 denominator, in their unit; None with fewer than 3 values."""
    free = len(a) + len(b) - 2
    if free < 1:
        return None
    squares = ((a - a.mean()) ** 2).sum() + ((b - b.mean()) ** 2).sum()
    return math.sqrt(float(squares) / free)


def finite(values: Sequence[float] | Floats, what: str) -> Floats:
    """The values as an array.

    Raises:
        MetricError: There is none, or one is not finite.

    """
    array = np.asarray(values, dtype=np.float64)
    if not array.size:
        raise MetricError(f"{what} has no value")
    wrong = np.flatnonzero(~np.isfinite(array))
    if wrong.size:
        raise MetricError(f"{what}: value {wrong[0]} is {array[wrong[0]]}, not finite")
    return array


def block_count(permutations: int) -> int:
    """Blocks of relabellings to draw.

    Raises:
        MetricError: `permutations` < 1.

    """
    if permutations < 1:
        raise MetricError(f"permutations is {permutations}, not a positive count")
    return -(-permutations // BLOCK)
