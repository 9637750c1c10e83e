from __future__ import annotations

import math

import numpy as np
import pytest

from domain.errors import MetricError
from metrics import name_codes
from metrics.cell_means import Cells, bootstrap_means, normal_means, without_pools
from metrics.intervals import cluster_bootstrap_interval, normal_interval
from metrics.name_codes import distinct, joined

RNG = np.random.default_rng(5)
N = 600
CELL = RNG.integers(3, size=N)
PEOPLE = RNG.integers(40, size=N)
VALUES = np.where(RNG.random(N) < 0.1, np.nan, RNG.normal(20, 5, size=N) + 3 * CELL + PEOPLE / 10)
POOLING = Cells(cell=CELL, cluster=PEOPLE, parent=np.array([3, 3, 4]))


def rows_of(cell):
    members = {0: [0], 1: [1], 2: [2], 3: [0, 1], 4: [2]}[cell]
    return np.isin(CELL, members) & ~np.isnan(VALUES)


@pytest.mark.parametrize("cell", range(5))
@pytest.mark.parametrize("units", [1, 4])
def test_normal_means_are_those_of_one_cell_at_a_time(cell, units):
    found = normal_means(VALUES, POOLING, np.full(5, units))
    one = normal_interval(VALUES[rows_of(cell)].tolist(), units_per_value=units)
    assert (found.n[cell], found.clusters[cell]) == (one.n, one.clusters)
    assert (found.mean[cell], found.low[cell], found.high[cell]) == pytest.approx(
        (one.mean, one.low, one.high), rel=1e-12
    )


@pytest.mark.parametrize("cell", range(5))
def test_bootstrap_means_agree_with_those_of_one_cell_at_a_time(cell):
    (found,) = bootstrap_means([VALUES], POOLING, seed=1, resamples=8_000)
    rows = rows_of(cell)
    one = cluster_bootstrap_interval(
        VALUES[rows].tolist(), PEOPLE[rows].tolist(), rng=np.random.default_rng(2), resamples=8_000
    )
    assert (found.n[cell], found.clusters[cell]) == (one.n, one.clusters)
    assert found.mean[cell] == pytest.approx(one.mean, rel=1e-12)
    assert found.high[cell] - found.low[cell] == pytest.approx(one.high - one.low, rel=0.05)


def test_other_scores_and_cells_move_no_digit():
    alone = bootstrap_means([VALUES], POOLING, seed=1, resamples=200)[0]
    others = [RNG.normal(size=N) for _ in range(20)]
    together = bootstrap_means([*others, VALUES, *others], POOLING, seed=1, resamples=200)[20]
    assert (alone.low == together.low).all()
    assert (alone.high == together.high).all()


def test_equal_people_are_resampled_equally():
    """So the difference of two cells over the same people is as sure as it can be."""
    cells = without_pools(np.repeat([0, 1], 50), np.tile(np.arange(50), 2))
    values = np.tile(RNG.normal(size=50), 2) + np.repeat([0.0, 5.0], 50)
    (found,) = bootstrap_means([values], cells, seed=0, resamples=300)
    assert found.low[1] - found.low[0] == pytest.approx(5, abs=1e-9)


def test_one_person_one_value_and_nothing():
    cells = without_pools(np.array([0, 0, 1, 2]), np.array([7, 7, 1, 1]))
    values = np.array([1.0, 3.0, 4.0, np.nan])
    (found,) = bootstrap_means([values], cells, seed=0, resamples=10)
    normal = normal_means(values, cells)
    assert found.mean[:2].tolist() == normal.mean[:2].tolist() == [2.0, 4.0]
    assert (found.n.tolist(), found.clusters.tolist()) == ([2, 1, 0], [1, 1, 0])
    assert (normal.n.tolist(), normal.clusters.tolist()) == ([2, 1, 0], [2, 1, 0])
    assert np.isnan(found.low).all()
    assert np.isnan(normal.low[1:]).all()
    assert math.isnan(found.mean[2])
    columns = found.columns("x")
    assert columns["x"].to_list() == [2.0, 4.0, None]
    assert columns["x_low"].null_count() == 3


def test_an_infinite_value_raises():
    cells = without_pools(np.array([0]), np.array([0]))
    for call in (normal_means, lambda v, c: bootstrap_means([v], c, seed=0, resamples=2)):
        with pytest.raises(MetricError, match="value 0 is not finite"):
            call(np.array([math.inf]), cells)


def test_codes_of_many_names_do_not_overflow():
    codes = [RNG.integers(2**20, size=50) for _ in range(6)]
    order = np.lexsort(codes[::-1])
    assert (np.argsort(joined(codes), kind="stable") == order).all()


def test_distinct_numbers_small_and_large(monkeypatch):
    codes = np.array([5, 2, 5, 9, 2])
    small = distinct(codes)
    monkeypatch.setattr(name_codes, "_TABLE", 0)
    large = distinct(codes * 1_000)
    for first, place in (small, large):
        assert (first.tolist(), place.tolist()) == ([1, 0, 3], [1, 0, 1, 2, 0])
