"""The distance and its session-level permutation test."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from domain.errors import MetricError
from metrics import walks, wasserstein
from metrics.relabelling import BLOCK, block_stream
from metrics.walks import Pooled, grid_step
from metrics.wasserstein import check_with_scipy, pooled_sd, session_test, wasserstein_distance

NAME = ("test",)
SAMPLES = st.lists(st.floats(-100, 100, allow_nan=False), min_size=1, max_size=30)


def as_walk(monkeypatch):
    """Every test by a walk over its values, few distinct ones or not."""
    monkeypatch.setattr(walks, "_FEW", 0)


@pytest.mark.parametrize(
    ("a", "b", "distance"),
    [
        ([1.0], [4.0], 3.0),
        ([0.0, 1.0], [5.0, 6.0], 5.0),
        # F_a - F_b is 1/2 on [0, 1), 0 on [1, 3) and 1/2 on [3, 4)
        ([0.0, 3.0], [1.0, 4.0], 1.0),
        # 1 on [0, 1), 1/2 on [1, 2): unequal sizes
        ([0.0], [1.0, 2.0], 1.5),
        # 1/3 on [0, 25), -1/6 on [25, 50): 25/3 + 25/6
        ([0.0, 0.0, 50.0], [0.0, 25.0], 12.5),
        ([2.0, 2.0], [2.0], 0.0),
    ],
)
def test_distance_by_hand(a, b, distance):
    assert wasserstein_distance(a, b) == pytest.approx(distance, abs=1e-12)
    assert wasserstein_distance(b, a) == pytest.approx(distance, abs=1e-12)


@given(SAMPLES, SAMPLES)
def test_distance_is_scipys(a, b):
    assert wasserstein_distance(a, b) == pytest.approx(stats.wasserstein_distance(a, b), abs=1e-8)


@given(SAMPLES, SAMPLES)
def test_distance_is_at_least_the_difference_of_the_means(a, b):
    assert wasserstein_distance(a, b) >= abs(np.mean(a) - np.mean(b)) - 1e-8


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf")])
def test_values_that_are_not_finite_are_refused(bad):
    with pytest.raises(MetricError, match="not finite"):
        wasserstein_distance([1.0, bad], [2.0])
    with pytest.raises(MetricError, match="not finite"):
        session_test([1.0], [bad], seed=0, name=NAME)


def test_an_empty_group_is_refused():
    with pytest.raises(MetricError, match="no value"):
        wasserstein_distance([], [2.0])
    with pytest.raises(MetricError, match="no value"):
        session_test([1.0], [], seed=0, name=NAME)


def test_no_permutation_and_a_negative_seed_are_refused():
    with pytest.raises(MetricError, match="permutations"):
        session_test([1.0], [2.0], seed=0, name=NAME, permutations=0)
    with pytest.raises(MetricError, match="seed"):
        session_test([1.0], [2.0], seed=-1, name=NAME)


@pytest.mark.parametrize(
    ("values", "step"),
    [
        ([0.0, 25.0, 75.0], 25.0),
        ([82.5, 80.0], 2.5),
        ([np.mean([0.8, 0.8, 0.9, 0.8]) * 100, 80.0], 2.5),
        ([0.1, 0.25], 0.05),
        ([100 / 3, 0.0], None),
        ([np.pi, 1.0], None),
        ([1e7, 1.0], None),
        ([0.0, 0.0], None),
    ],
)
def test_grid(values, step):
    found = grid_step(np.array(values))
    assert found is step is None or found == pytest.approx(step)


@pytest.mark.parametrize("way", ["counts", "walk"])
@pytest.mark.parametrize(
    "values",
    [[1.0, 2.5, 3.1, 4.7, 5.2, 6.9, 7.3, 8.8, 9.4], [0.0, 0.0, 25.0, 25.0, 25.0, 50.0, 50.0, 100.0, 0.0]],
)
def test_null_is_that_of_all_126_partitions(way, values, monkeypatch):
    """4 of 9 values can be chosen in 126 ways; the drawn distances are as frequent as the exact ones."""
    if way == "walk":
        as_walk(monkeypatch)
    pooled = Pooled.of(np.array(values))
    exact: Counter[float] = Counter()
    for chosen in combinations(range(9), 4):
        rest = [values[i] for i in range(9) if i not in chosen]
        exact[round(stats.wasserstein_distance([values[i] for i in chosen], rest), 9)] += 1
    sums = walks.hypergeometric_sums if pooled.is_discrete else walks.drawn_sums
    drawn = np.concatenate([sums(pooled, 4, block_stream(3, NAME, block)) for block in range(10)])
    found = Counter(round(pooled.distance(total, 4), 9) for total in drawn)
    assert set(found) == set(exact)
    expected = [exact[key] / 126 * len(drawn) for key in sorted(exact)]
    assert stats.chisquare([found[key] for key in sorted(exact)], expected).pvalue > 1e-3


def test_p_value_by_exhaustion():
    """Of 126 partitions 2 are as far as {1..4} against {5..9}; the drawn p-value is near 2 / 126."""
    found = session_test([1.0, 2, 3, 4], [5.0, 6, 7, 8, 9], seed=1, name=NAME)
    exact = stats.permutation_test(
        ([1.0, 2, 3, 4], [5.0, 6, 7, 8, 9]),
        stats.wasserstein_distance,
        vectorized=False,
        n_resamples=np.inf,
        alternative="greater",
    ).pvalue
    assert found.p_value == pytest.approx(exact, abs=4 * np.sqrt(exact / 9_999))


@pytest.mark.parametrize("case", range(20))
def test_p_value_is_scipys_within_monte_carlo_error(case):
    rng = np.random.default_rng(case)
    n, m = rng.integers(15, 60, 2)
    kinds = (
        lambda size: rng.normal(0, 5, size),
        lambda size: rng.poisson(0.8, size) * 25.0,
        lambda size: rng.binomial(40, 0.8, size) * 2.5,
        lambda size: np.round(rng.normal(0, 2, size), 1) / 3,
    )
    a, b = kinds[case % 4](n), kinds[case % 4](m)
    shifted = b + (case % 3) * a.std() / 4 if case % 4 in (0, 3) else b
    check = check_with_scipy(a, shifted, seed=case, permutations=999)
    assert check.agree, check


def test_counts_and_walk_agree(monkeypatch):
    rng = np.random.default_rng(5)
    a, b = rng.poisson(0.8, 60) * 25.0, rng.poisson(1.0, 80) * 25.0
    counted = session_test(a, b, seed=2, name=NAME)
    as_walk(monkeypatch)
    walked = session_test(a, b, seed=2, name=NAME)
    assert walked.distance == counted.distance
    assert walked.p_value == pytest.approx(counted.p_value, abs=0.02)
    assert walked.null_mean == pytest.approx(counted.null_mean, rel=0.03)
    assert walked.null_sd == pytest.approx(counted.null_sd, rel=0.05)


@pytest.mark.parametrize("way", ["counts", "walk"])
def test_nothing_depends_on_chunks(way, monkeypatch):
    rng = np.random.default_rng(6)
    draw = (lambda n: rng.poisson(0.8, n) * 25.0) if way == "counts" else (lambda n: rng.normal(0, 1, n))
    a, b = draw(150), draw(170)
    as_set = session_test(a, b, seed=2, name=NAME, permutations=3_000)
    for rows in (1, 7, 1_000):
        monkeypatch.setattr(walks, "_ROWS", rows)
        other = session_test(a, b, seed=2, name=NAME, permutations=3_000)
        assert (other.p_value, other.distance) == (as_set.p_value, as_set.distance)
        assert other.null_mean == pytest.approx(as_set.null_mean, rel=1e-12)


def test_a_longer_run_extends_a_shorter_one():
    """Exceedances of the first block are those of a run of one block."""
    rng = np.random.default_rng(7)
    pooled = Pooled.of(rng.normal(0, 1, 300))
    blocks = [walks.drawn_sums(pooled, 120, block_stream(1, NAME, number)) for number in range(3)]
    again = walks.drawn_sums(pooled, 120, block_stream(1, NAME, 2))
    assert np.array_equal(blocks[2], again)
    assert not np.array_equal(blocks[0], blocks[1])
    a, b = rng.normal(0, 1, 100), rng.normal(0.1, 1, 100)
    runs = [session_test(a, b, seed=1, name=NAME, permutations=n) for n in (BLOCK, 2 * BLOCK)]
    far = [round(run.p_value * (run.permutations + 1)) - 1 for run in runs]
    assert 0 <= far[1] - far[0] <= BLOCK


def test_fewer_draws_of_counts_are_the_first_of_more():
    pooled = Pooled.of(np.random.default_rng(7).integers(0, 30, 400) * 2.5)
    few, many = (
        walks.hypergeometric_sums(pooled, 170, block_stream(1, NAME, 0), size) for size in (100, BLOCK)
    )
    assert np.array_equal(few, many[:100])


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.sampled_from([0.0, 25.0, 50.0, 75.0]), min_size=2, max_size=15),
    st.lists(st.sampled_from([0.0, 25.0, 50.0, 75.0]), min_size=2, max_size=15),
    st.randoms(use_true_random=False),
)
def test_nothing_depends_on_the_order_of_values_or_groups(a, b, random):
    found = session_test(a, b, seed=0, name=NAME, permutations=99)
    random.shuffle(a)
    random.shuffle(b)
    other = session_test(b, a, seed=0, name=NAME, permutations=99)
    assert (other.distance, other.p_value, other.null_mean) == (
        found.distance,
        found.p_value,
        found.null_mean,
    )
    assert (other.n_a, other.n_b) == (found.n_b, found.n_a)


def test_seed_and_name_choose_the_draws():
    a, b = np.random.default_rng(8).normal(0, 1, (2, 50))
    first = session_test(a, b, seed=0, name=("x",)).null_mean
    assert session_test(a, b, seed=0, name=("x",)).null_mean == first
    assert session_test(a, b, seed=1, name=("x",)).null_mean != first
    assert session_test(a, b, seed=0, name=("y",)).null_mean != first


def test_equal_groups_are_no_evidence():
    found = session_test([1.0, 1.0], [1.0], seed=0, name=NAME)
    assert (found.distance, found.p_value, found.distance_per_sd) == (0.0, 1.0, None)


def test_sd_by_hand():
    # squares 0.5 and 2 over 2 degrees of freedom
    assert pooled_sd(np.array([1.0, 2.0]), np.array([2.0, 4.0])) == pytest.approx(np.sqrt(1.25))
    assert pooled_sd(np.array([1.0]), np.array([2.0])) is None
    found = session_test([1.0, 2.0], [2.0, 4.0], seed=0, name=NAME)
    assert found.distance_per_sd == pytest.approx(1.5 / np.sqrt(1.25))


def test_p_is_never_zero():
    found = session_test(np.arange(50.0), np.arange(50.0) + 1_000, seed=0, name=NAME)
    assert found.p_value == 1 / 10_000
    assert wasserstein.PERMUTATIONS == 9_999
