"""Permutation tests of one dataset and axis: whole people relabelled, all tests by the same labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from domain.errors import MetricError
from metrics.relabelling import BLOCK, Floats, Relabelling
from metrics.walks import Ints, Pooled, counted_sums, labelled, walked_sums
from metrics.wasserstein import PERMUTATIONS, TOLERANCE, PermutationResult, block_count, finite, pooled_sd

_LARGEST_PRODUCT = 2.0**62
"""Bound of the integers that are compared; beyond it distances are."""


@dataclass(frozen=True)
class Sample:
    """Values of both groups of one test, each of a photo."""

    values: Sequence[float] | Floats
    """Shape `(n,)`, any unit."""
    photos: Sequence[str]
    """The photo of each value, shape `(n,)`."""


def family_tests(
    samples: Sequence[Sample], relabelling: Relabelling, *, permutations: int = PERMUTATIONS
) -> list[PermutationResult]:
    """Test the groups of one dataset and axis on several samples, whole people relabelled.

    All samples share the relabellings, which also gives p-values adjusted for their number: step-down
    max-T over distances in null sds above their null mean. Missing sessions are no matter: a unit without
    a value in a sample only carries its label. A relabelling that leaves a group of a sample without
    values counts as at least as far, and is left out of the null mean.

    Args:
        samples: Each with values of both groups; they may differ in unit.
        relabelling: The units, from `person_relabelling`; its seed and names are those of the draws.
        permutations: Relabellings drawn, >= 1.

    Returns:
        One result a sample, in order. Raw p-values depend on no other sample; nothing depends on the order
        of values, photos or groups.

    Raises:
        MetricError: A sample lacks a group, has a value that is not finite or a photo without a label;
            `permutations` < 1.

    References:
        Westfall & Young (1993), Resampling-Based Multiple Testing, ISBN 978-0-471-55761-6, algorithm 4.1;
        Ge, Dudoit & Speed (2003), doi:10.1007/BF02595811.
        Phipson & Smyth (2010), doi:10.2202/1544-6115.1585 (the `+ 1`).

    """
    blocks = block_count(permutations)
    tests = [_Test.of(sample, relabelling) for sample in samples]
    null = np.empty((len(tests), permutations))
    far = np.zeros(len(tests), dtype=np.int64)
    for number in range(blocks if tests else 0):
        first = number * BLOCK
        labels = relabelling.block(number)[:, : permutations - first].astype(np.float32)
        for row, test in enumerate(tests):
            null[row, first : first + BLOCK], at_least = test.relabelled(labels)
            far[row] += np.count_nonzero(at_least)
    raw = (far + 1) / (permutations + 1)
    adjusted = step_down(np.array([test.distance for test in tests]), null, raw)
    return [test.result(null[row], float(raw[row]), float(adjusted[row])) for row, test in enumerate(tests)]


def step_down(observed: Floats, null: Floats, raw: Floats) -> Floats:
    """P-values adjusted for the number of tests by step-down max-T.

    Args:
        observed: Distance of each test, shape `(tests,)`, in any units.
        null: Distances of the shared relabellings, shape `(tests, permutations)`; not a number where a
            relabelling leaves a group empty.
        raw: The raw p-values, shape `(tests,)`.

    Returns:
        Adjusted p-values, shape `(tests,)`; none is below its raw p-value.

    """
    heights = np.empty_like(observed)
    scaled = np.empty_like(null)
    for row, (distance, relabelled) in enumerate(zip(observed, null, strict=True)):
        mean, sd = _moments(relabelled)
        heights[row] = (distance - mean) / sd if sd else 0.0
        scaled[row] = np.nan_to_num((relabelled - mean) / sd, nan=-np.inf) if sd else 0.0
    adjusted = np.empty_like(raw)
    highest = np.full(null.shape[1], -np.inf)
    order = np.argsort(-heights, kind="stable")
    for row in order[::-1]:
        np.maximum(highest, scaled[row], out=highest)
        slack = TOLERANCE * (1 + abs(heights[row]))
        adjusted[row] = (np.count_nonzero(highest >= heights[row] - slack) + 1) / (null.shape[1] + 1)
    adjusted = np.maximum(adjusted, raw)
    adjusted[order] = np.maximum.accumulate(adjusted[order])
    return adjusted


@dataclass(frozen=True)
class _Test:
    """One sample made ready for relabelling."""

    pooled: Pooled
    units: Ints
    in_a: NDArray[np.bool_]
    values: Floats
    observed: float
    n_units: tuple[int, int]

    @classmethod
    def of(cls, sample: Sample, relabelling: Relabelling) -> _Test:
        values = finite(sample.values, "a sample")
        if len(values) != len(sample.photos):
            raise MetricError(f"{len(values)} values, but {len(sample.photos)} photos")
        strangers = set(sample.photos) - set(relabelling.unit_of)
        if strangers:
            raise MetricError(f"photo {min(strangers)!r} has a value, but no label")
        units = np.array([relabelling.unit_of[photo] for photo in sample.photos], dtype=np.int64)
        in_a = relabelling.in_a[units]
        if in_a.all() or not in_a.any():
            raise MetricError("a group has no value")
        pooled = Pooled.of(values)
        met = relabelling.in_a[np.unique(units)]
        return cls(pooled, units, in_a, values, pooled.sum_of(in_a), (int(met.sum()), int((~met).sum())))

    @property
    def n_a(self) -> int:
        return int(self.in_a.sum())

    @property
    def distance(self) -> float:
        return self.pooled.distance(self.observed, self.n_a)

    def relabelled(self, labels: NDArray[np.float32]) -> tuple[Floats, NDArray[np.bool_]]:
        """Distances of relabellings, and which are at least as far as the true labels."""
        pooled = self.pooled
        sums = (counted_sums if pooled.is_discrete else walked_sums)(pooled, self.units, labels)
        n_a = labelled(self.units, labels)
        products = n_a * (pooled.total - n_a)
        empty = products == 0
        distances = sums * pooled.unit / np.where(empty, np.nan, products)
        ours = self.n_a * (pooled.total - self.n_a)
        # The integers S / (n_a n_b) are compared crosswise: their products are at most this.
        largest = (pooled.total**2 / 4) ** 2 * float(pooled.distinct_gaps.sum())
        if pooled.is_exact and largest < _LARGEST_PRODUCT:
            crosswise = sums.astype(np.int64) * ours
            at_least = crosswise >= int(self.observed) * products.astype(np.int64)
        else:
            at_least = distances >= self.distance * (1 - TOLERANCE)
        return distances, at_least | empty

    def result(self, null: Floats, p_value: float, p_adjusted: float) -> PermutationResult:
        mean, sd = _moments(null)
        return PermutationResult(
            distance=self.distance,
            p_value=p_value,
            p_adjusted=p_adjusted,
            null_mean=mean,
            null_sd=sd,
            sd=pooled_sd(self.values[self.in_a], self.values[~self.in_a]),
            permutations=len(null),
            n_a=self.n_a,
            n_b=self.pooled.total - self.n_a,
            units_a=self.n_units[0],
            units_b=self.n_units[1],
        )


def _moments(null: Floats) -> tuple[float, float]:
    """Mean and sd of the distances that are defined; an sd that is rounding is 0."""
    held = null[np.isfinite(null)]
    if not held.size:
        raise MetricError("every relabelling leaves a group without values")
    mean, sd = float(held.mean()), float(held.std())
    return mean, sd if sd > TOLERANCE * mean else 0.0
