"""How much faster the permutation test is than scipy's, and what all tests of the paper cost.

Run with `python -m tests.benchmarks.permutation`; prints two Markdown tables. Times are CPU seconds of this
process, in one run. Scipy draws fewer relabellings, and its time is scaled linearly to as many as ours.
Values are made up; sizes are those of arXiv 2608.28802 (every planned session; Kontext-Pro ran 4 of 5 pose
sessions).
"""

from __future__ import annotations

import statistics
import time
import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from metrics.family_tests import Sample, family_tests
from metrics.relabelling import PhotoLabel, Relabelling, person_relabelling
from metrics.wasserstein import PERMUTATIONS, session_test

ROUNDS = 5
SCIPY_RESAMPLES = 800
SCIPY_RESAMPLES_PER_SIZE = 40

GROUPS = {
    ("celeba", "gender"): ((244, 208), (305, 280)),
    ("celeba", "age"): ((413, 375), (136, 116)),
    ("celebset", "gender"): ((317, 36), (200, 32)),
    ("celebset", "skin"): ((383, 37), (134, 31)),
    ("celebset", "age"): ((98, 28), (41, 8)),
}
"""Photos and people of both groups."""

MODELS = {"celeba": 5, "celebset": 6}
TEST_SETS = (10, 10, 10, 5)
"""Sessions per photo."""
PROMPTS = (5,) * 20 + (4,) * 10
"""Prompts of each of the 30 categories that are asked for, 140 in all."""
FACIAL_HAIR_PROMPTS = 17

Values = NDArray[np.float64]
Draw = Callable[[np.random.Generator, int], Values]


def drops(rng: np.random.Generator, n: int) -> Values:
    """Drop_FSS of sessions: all distinct."""
    return rng.normal(30, 7, n)


def consistencies(rng: np.random.Generator, n: int) -> Values:
    """SC x 100 of sessions, in fortieths."""
    return np.rint(rng.beta(3, 1.5, n) * 40) * 2.5


def rates(rng: np.random.Generator, n: int) -> Values:
    """OER x 100 of sessions, in quarters."""
    return rng.poisson(0.8, n) * 25.0


def step_overedits(rng: np.random.Generator, n: int) -> Values:
    """Overedits of steps x 100."""
    return np.minimum(rng.poisson(0.2, n), 7) * 100.0


def step_consistencies(rng: np.random.Generator, n: int) -> Values:
    """SC x 100 of steps, in tenths."""
    return rng.binomial(10, 0.7, n) * 10.0


@dataclass(frozen=True)
class Family:
    """Tests of one part of the paper that share labels."""

    part: str
    relabelling: Relabelling
    tests: list[tuple[Draw, Sample]]


def scipy_seconds(a: Values, b: Values, resamples: int) -> float:
    """CPU seconds of scipy's test, scaled to `PERMUTATIONS`."""
    start = time.process_time()
    stats.permutation_test(
        (a, b),
        stats.wasserstein_distance,
        vectorized=False,
        n_resamples=resamples,
        batch=100,
        alternative="greater",
        rng=np.random.default_rng(0),
    )
    return (time.process_time() - start) * PERMUTATIONS / resamples


def our_seconds(a: Values, b: Values) -> float:
    """CPU seconds of the test with sessions relabelled."""
    start = time.process_time()
    session_test(a, b, seed=0, name=("benchmark",))
    return time.process_time() - start


def single_tests() -> list[str]:
    """The first table: one test at n = 2,440 / 3,050."""
    rng = np.random.default_rng(1)
    lines = [
        "| values | distinct | scipy, s | ours, s | ratio | ratios of the rounds |",
        "|---|---|---|---|---|---|",
    ]
    kinds = {"Drop_FSS (continuous)": drops, "SC (discrete)": consistencies, "OER (discrete)": rates}
    for name, draw in kinds.items():
        a, b = draw(rng, 2_440), draw(rng, 3_050)
        our_seconds(a, b)
        pairs = [(scipy_seconds(a, b, SCIPY_RESAMPLES), our_seconds(a, b)) for _ in range(ROUNDS)]
        ratios = [theirs / ours for theirs, ours in pairs]
        theirs, ours = (statistics.median(pair[i] for pair in pairs) for i in (0, 1))
        distinct = len(np.unique([*a, *b]))
        shown = ", ".join(f"{ratio:.0f}" for ratio in ratios)
        ratio = statistics.median(ratios)
        lines.append(f"| {name} | {distinct} | {theirs:.2f} | {ours:.3f} | {ratio:.0f} x | {shown} |")
    return lines


def photo_labels(groups: Sequence[tuple[int, int]]) -> list[PhotoLabel]:
    """Photos of both groups, spread over their people."""
    return [
        PhotoLabel(f"{side}{number:03}", f"{side}{number % people}", side == "a")
        for side, (photos, people) in zip("ab", groups, strict=True)
        for number in range(photos)
    ]


def paper_families() -> list[Family]:
    """All 1,199 tests, by what shares labels."""
    rng = np.random.default_rng(2)
    families: list[Family] = []
    for (dataset, axis), groups in GROUPS.items():
        photos = photo_labels(groups)
        names = [photo.photo for photo in photos]
        relabelling = person_relabelling(photos, seed=0, family=(dataset, axis))

        def test(draw: Draw, each: int, names: list[str] = names) -> tuple[Draw, Sample]:
            return draw, Sample(draw(rng, each * len(names)), names * each)

        models = MODELS[dataset]
        cells = [4 if model == 1 and n == 5 else n for model in range(models) for n in TEST_SETS]
        sessions = [test(draw, each) for draw in (drops, consistencies, rates) for each in cells]
        categories = [test(step_overedits, each) for each in PROMPTS * models]
        families.append(Family("Tables 5-10, 22-27", relabelling, sessions))
        families.append(Family("Appendix J (Table 28)", relabelling, categories))
        base = [test(drops, 1)] * (2 if (dataset, axis) == ("celeba", "gender") else 1)
        families.append(Family("Table 29, Appendix L", relabelling, base))
        if axis != "age":
            hair = [test(step_consistencies, FACIAL_HAIR_PROMPTS)] * models
            families.append(Family("Table 30", relabelling, hair))
    return families


def whole_paper() -> list[str]:
    """The second table: all tests, people relabelled."""
    families = paper_families()
    known: dict[tuple[object, ...], float] = {}
    parts: dict[str, list[float]] = {}
    for family in families:
        start = time.process_time()
        results = family_tests([sample for _, sample in family.tests], family.relabelling)
        ours = time.process_time() - start
        theirs = 0.0
        for (draw, sample), result in zip(family.tests, results, strict=True):
            size = (draw, result.n_a, result.n_b)
            if size not in known:
                values = np.asarray(sample.values)
                known[size] = scipy_seconds(
                    values[: result.n_a], values[result.n_a :], SCIPY_RESAMPLES_PER_SIZE
                )
            theirs += known[size]
        held = parts.setdefault(family.part, [0, 0.0, 0.0])
        parts[family.part] = [held[0] + len(results), held[1] + ours, held[2] + theirs]
    parts["all"] = [sum(column) for column in zip(*parts.values(), strict=True)]
    lines = [
        "| part | tests | ours, CPU s | scipy loop, CPU s (extrapolated) | ratio |",
        "|---|---|---|---|---|",
    ]
    lines += [
        f"| {part} | {tests:.0f} | {ours:.1f} | {theirs:.0f} | {theirs / ours:.0f} x |"
        for part, (tests, ours, theirs) in parts.items()
    ]
    return [*lines, "", f"Peak extra memory: {peak(families):.0f} MB"]


def peak(families: Sequence[Family]) -> float:
    """Most memory that any family's tests take at a time, MB."""
    largest = 0
    by_size = sorted(families, key=lambda family: sum(len(s.values) for _, s in family.tests))
    most_tests = max(families, key=lambda family: len(family.tests))
    for family in (by_size[-1], most_tests):
        tracemalloc.start()
        family_tests([sample for _, sample in family.tests], family.relabelling)
        largest = max(largest, tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    return largest / 1e6


def main() -> None:
    """Print both tables."""
    print("\n".join([*single_tests(), "", *whole_paper()]))  # noqa: T201


if __name__ == "__main__":
    main()
