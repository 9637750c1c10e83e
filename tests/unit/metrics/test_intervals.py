from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.errors import MetricError
from metrics import intervals
from metrics.intervals import Estimate, cluster_bootstrap_interval, normal_interval

values_of_people = st.lists(
    st.tuples(st.floats(-100, 100), st.integers(0, 4)), min_size=2, max_size=12
).filter(lambda rows: len({person for _, person in rows}) > 1)


def bootstrap(values, clusters, resamples=200, seed=1):
    return cluster_bootstrap_interval(values, clusters, rng=np.random.default_rng(seed), resamples=resamples)


def test_normal_interval():
    # Mean 3, sum of squares 4 + 1 + 0 + 1 + 4 = 10, sd = sqrt(10 / 4), half = 1.96 sd / sqrt 5.
    half = 1.96 * math.sqrt(2.5) / math.sqrt(5)
    found = normal_interval([1, 2, 3, 4, 5])
    assert found == Estimate(
        3.0, pytest.approx(3 - half, abs=1e-12), pytest.approx(3 + half, abs=1e-12), n=5, clusters=5
    )


def test_four_units_per_value_halve_the_width():
    wide, narrow = normal_interval([1, 2, 4]), normal_interval([1, 2, 4], units_per_value=4)
    assert narrow.high - narrow.mean == pytest.approx((wide.high - wide.mean) / 2, abs=1e-12)


def test_one_value_or_one_person_has_no_interval():
    assert normal_interval([7.0]) == Estimate(7.0, None, None, n=1, clusters=1)
    assert bootstrap([1.0, 3.0], ["a", "a"]) == Estimate(2.0, None, None, n=2, clusters=1)


def test_bootstrap_of_two_people_has_three_outcomes():
    # a: 0, 0; b: 3. Resamples: aa -> 0, ab -> 3 / 3 = 1, bb -> 3; the 95 % interval spans them.
    found = bootstrap([0.0, 0.0, 3.0], ["a", "a", "b"], resamples=500)
    assert found == Estimate(1.0, pytest.approx(0, abs=1e-12), pytest.approx(3, abs=1e-12), n=3, clusters=2)


def test_bootstrap_agrees_with_the_normal_interval_for_independent_values():
    values = np.random.default_rng(0).normal(10, 2, size=800).tolist()
    found, normal = bootstrap(values, range(800), resamples=4000), normal_interval(values)
    assert found.mean == normal.mean
    assert found.high - found.low == pytest.approx(normal.high - normal.low, rel=0.05)


def test_values_of_one_person_widen_the_interval():
    people = np.repeat(np.arange(50), 10)
    values = np.random.default_rng(0).normal(size=50)[people].tolist()
    together, apart = bootstrap(values, people.tolist()), bootstrap(values, range(500))
    assert together.high - together.low > 2 * (apart.high - apart.low)


@settings(max_examples=50, deadline=None)
@given(values_of_people, st.randoms())
def test_order_of_rows_and_names_of_people_do_not_matter(rows, random):
    values, people = zip(*rows, strict=True)
    shuffled = list(rows)
    random.shuffle(shuffled)
    renamed = [f"person {9 - person}" for _, person in shuffled]
    found = bootstrap(values, people)
    assert bootstrap([value for value, _ in shuffled], renamed) == found
    assert min(values) - 1e-9 <= found.low <= found.high <= max(values) + 1e-9


def test_constant_values_have_an_interval_of_no_width():
    found = bootstrap([0.1] * 7, list("aabbccc"))
    assert (found.low, found.mean, found.high) == pytest.approx((0.1, 0.1, 0.1), abs=1e-15)


def test_blocks_of_resamples_make_one_sample(monkeypatch):
    values, people = [1.0, 2.0, 4.0, 8.0], list("abcd")
    whole = bootstrap(values, people, resamples=101)
    monkeypatch.setattr(intervals, "_DRAWS_AT_ONCE", 40)
    assert bootstrap(values, people, resamples=101) == whole


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_values_that_are_not_finite_raise(bad):
    with pytest.raises(MetricError, match="value 1 is"):
        normal_interval([1.0, bad])
    with pytest.raises(MetricError, match="value 1 is"):
        bootstrap([1.0, bad], ["a", "b"])


def test_nothing_to_average_raises():
    with pytest.raises(MetricError, match="no value"):
        normal_interval([])
    with pytest.raises(MetricError, match="no value"):
        bootstrap([], [])


def test_counts_that_do_not_fit_raise():
    with pytest.raises(MetricError, match="2 values, but 1 clusters"):
        bootstrap([1.0, 2.0], ["a"])
    with pytest.raises(MetricError, match="resamples"):
        bootstrap([1.0, 2.0], ["a", "b"], resamples=0)
    with pytest.raises(MetricError, match="units_per_value"):
        normal_interval([1.0, 2.0], units_per_value=0)
