"""Tests that relabel people and share their labels."""

from __future__ import annotations

import random
from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from domain.errors import MetricError
from metrics import walks
from metrics.family_tests import Sample, family_tests, step_down
from metrics.relabelling import BLOCK, PhotoLabel, person_relabelling
from metrics.wasserstein import session_test


def people(n_a: int, n_b: int, photos: int = 1) -> list[PhotoLabel]:
    """So many people of each group with so many photos each."""
    return [
        PhotoLabel(f"{person:03}-{photo}", f"s{person:03}", person < n_a)
        for person in range(n_a + n_b)
        for photo in range(photos)
    ]


def relabelled(photos, family=("celeba", "gender"), seed=0):
    return person_relabelling(photos, seed=seed, family=family)


def values_of(photos, rng, kind="continuous", each=5):
    names = [photo.photo for photo in photos for _ in range(each)]
    draw = rng.normal(30, 6, len(names)) if kind == "continuous" else rng.poisson(0.8, len(names)) * 25.0
    return Sample(draw, names)


def test_units_are_people_and_strange_photos():
    found = relabelled(
        [
            PhotoLabel("p1", "ann", True),
            PhotoLabel("p2", "ann", True),
            PhotoLabel("p3", "bob", False),
            PhotoLabel("p4", None, False),
            PhotoLabel("p5", None, True),
        ]
    )
    assert found.unit_of["p1"] == found.unit_of["p2"]
    assert len(set(found.unit_of.values())) == len(found.in_a) == 4
    assert len(found.strata) == 1


def test_a_person_in_both_groups_exchanges_labels_among_her_own_photos():
    photos = [
        *people(3, 4),
        PhotoLabel("young1", "mix", True),
        PhotoLabel("old1", "mix", False),
        PhotoLabel("old2", "mix", False),
    ]
    found = relabelled(photos)
    own = [found.unit_of[name] for name in ("young1", "old1", "old2")]
    labels = found.block(0)
    assert len(found.in_a) == 10
    assert (labels[own].sum(axis=0) == 1).all()
    assert (labels.sum(axis=0) == 4).all()
    assert labels[own].mean(axis=1) == pytest.approx([1 / 3] * 3, abs=0.05)


def test_labels_are_uniform():
    """4 of 9 units can be chosen in 126 ways."""
    found = relabelled(people(4, 5))
    labels = np.concatenate([found.block(number) for number in range(10)], axis=1)
    counts = Counter(tuple(np.flatnonzero(column).tolist()) for column in labels.T)
    assert set(counts) == set(combinations(range(9), 4))
    assert stats.chisquare(list(counts.values())).pvalue > 1e-3


@pytest.mark.parametrize("split", [(4, 5), (5, 4), (5, 5), (1, 9)])
def test_groups_may_trade_names(split):
    photos = people(*split)
    traded = [photo._replace(in_a=not photo.in_a) for photo in photos]
    assert np.array_equal(relabelled(photos).block(1), 1 - relabelled(traded).block(1))


def test_labels_depend_on_no_order():
    photos = people(7, 8, photos=2)
    shuffled = random.Random(1).sample(photos, len(photos))
    assert np.array_equal(relabelled(photos).block(0), relabelled(shuffled).block(0))


def test_a_photo_twice_or_an_empty_group_is_refused():
    with pytest.raises(MetricError, match="twice"):
        relabelled([PhotoLabel("p", "a", True), PhotoLabel("p", "b", False)])
    with pytest.raises(MetricError, match="no photo"):
        relabelled([PhotoLabel("p", "a", True)])


@pytest.mark.parametrize("kind", ["continuous", "discrete"])
def test_null_is_that_of_all_126_partitions_of_people(kind):
    """People of different sizes, so the number of values in a group moves with the labels."""
    rng = np.random.default_rng(3)
    photos = people(4, 5)
    names = [photo.photo for number, photo in enumerate(photos) for _ in range(1 + number % 3)]
    draw = rng.normal(0, 1, len(names)) if kind == "continuous" else rng.integers(0, 3, len(names)) * 25.0
    owner = np.array([photos.index(next(p for p in photos if p.photo == name)) for name in names])
    exact = []
    for chosen in combinations(range(9), 4):
        in_a = np.isin(owner, chosen)
        exact.append(stats.wasserstein_distance(draw[in_a], draw[~in_a]))
    in_a = owner < 4
    true = stats.wasserstein_distance(draw[in_a], draw[~in_a])
    found = family_tests([Sample(draw, names)], relabelled(photos))[0]
    p = np.mean(np.array(exact) >= true - 1e-9)
    assert found.distance == pytest.approx(true)
    assert found.p_value == pytest.approx(p, abs=0.02)
    assert found.null_mean == pytest.approx(np.mean(exact), rel=0.02)
    assert found.null_sd == pytest.approx(np.std(exact), rel=0.05)


def test_one_value_a_person_is_the_session_test():
    rng = np.random.default_rng(4)
    photos = people(30, 40)
    sample = values_of(photos, rng, each=1)
    found = family_tests([sample], relabelled(photos))[0]
    plain = session_test(sample.values[:30], sample.values[30:], seed=0, name=("x",))
    assert found.distance == pytest.approx(plain.distance)
    assert found.p_value == pytest.approx(plain.p_value, abs=0.025)
    assert (found.units_a, found.units_b, found.n_a, found.n_b) == (30, 40, 30, 40)


@pytest.mark.parametrize("kind", ["continuous", "discrete"])
def test_counts_and_walk_give_the_same_p(kind, monkeypatch):
    """With shared labels both see the same relabellings, so nothing but rounding may differ."""
    photos = people(10, 12, photos=2)
    sample = values_of(photos, np.random.default_rng(5), kind, each=3)
    counted = family_tests([sample], relabelled(photos))[0]
    monkeypatch.setattr(walks, "_FEW", 0)
    walked = family_tests([sample], relabelled(photos))[0]
    assert walked.p_value == counted.p_value
    assert walked.null_mean == pytest.approx(counted.null_mean, rel=1e-12)


def test_nothing_depends_on_order_chunks_or_other_samples(monkeypatch):
    photos = people(10, 12, photos=2)
    rng = np.random.default_rng(6)
    samples = [values_of(photos, rng, kind) for kind in ("continuous", "discrete", "continuous")]
    found = family_tests(samples, relabelled(photos), permutations=3_000)
    monkeypatch.setattr(walks, "_ROWS", 5)
    order = rng.permutation(len(samples[0].values))
    shuffled = Sample(np.asarray(samples[0].values)[order], [samples[0].photos[i] for i in order])
    alone = family_tests([shuffled], relabelled(photos[::-1]), permutations=3_000)[0]
    assert (alone.p_value, alone.distance) == (found[0].p_value, found[0].distance)
    assert alone.null_mean == pytest.approx(found[0].null_mean, rel=1e-12)
    reverse = family_tests(samples[::-1], relabelled(photos), permutations=3_000)
    assert [r.p_adjusted for r in reverse[::-1]] == [r.p_adjusted for r in found]


def test_a_longer_run_extends_a_shorter_one():
    photos = people(10, 12)
    sample = values_of(photos, np.random.default_rng(7))
    runs = [family_tests([sample], relabelled(photos), permutations=n)[0] for n in (500, BLOCK, 2 * BLOCK)]
    far = [round(run.p_value * (run.permutations + 1)) - 1 for run in runs]
    assert far[0] <= far[1] <= far[2] <= far[1] + BLOCK


def test_adjusted_p_is_never_below_the_raw_one():
    photos = people(15, 15, photos=2)
    rng = np.random.default_rng(8)
    samples = [values_of(photos, rng, kind) for kind in ("continuous", "discrete") * 5]
    strong = Sample(np.where([p.startswith("00") for p in samples[0].photos], 60.0, 30.0), samples[0].photos)
    found = family_tests([*samples, strong], relabelled(photos))
    for result in found:
        assert result.p_adjusted is not None
        assert result.p_adjusted >= result.p_value
    assert found[-1].p_adjusted == min(result.p_adjusted or 1 for result in found)
    assert sum((result.p_adjusted or 0) < 0.05 for result in found[:-1]) <= 1


def test_one_test_needs_no_adjustment():
    photos = people(15, 15)
    found = family_tests([values_of(photos, np.random.default_rng(9))], relabelled(photos))[0]
    assert found.p_adjusted == pytest.approx(found.p_value)


def test_step_down_by_hand():
    """Null heights (in sds) -1, -1, 1, 1 and 1, -1, 1, -1; observed 1 and -1.

    The higher test meets the maxima 1, -1, 1, 1, three of them as high: (3 + 1) / 5. The lower one meets
    its own four: (4 + 1) / 5.
    """
    null = np.array([[0.0, 0.0, 2.0, 2.0], [20.0, 0.0, 20.0, 0.0]])
    adjusted = step_down(np.array([2.0, 0.0]), null, np.array([0.6, 1.0]))
    assert adjusted.tolist() == pytest.approx([0.8, 1.0])


def test_a_relabelling_without_a_group_counts_as_far():
    """Two of the people have values, so some relabellings leave a group empty; p cannot profit from it."""
    photos = people(5, 5)
    sample = Sample([1.0, 2.0], ["000-0", "009-0"])
    found = family_tests([sample], relabelled(photos))[0]
    assert found.p_value == 1.0
    assert found.null_mean == 1.0


def test_missing_values_and_strangers():
    photos = people(2, 2)
    with pytest.raises(MetricError, match="group has no value"):
        family_tests([Sample([1.0], ["000-0"])], relabelled(photos))
    with pytest.raises(MetricError, match="no label"):
        family_tests([Sample([1.0], ["who"])], relabelled(photos))
    with pytest.raises(MetricError, match="2 values"):
        family_tests([Sample([1.0, 2.0], ["000-0"])], relabelled(photos))
    with pytest.raises(MetricError, match="not finite"):
        family_tests([Sample([1.0, float("nan")], ["000-0", "003-0"])], relabelled(photos))
    assert family_tests([], relabelled(photos)) == []


def test_people_hold_the_level_where_sessions_do_not():
    """No true difference, but people differ: relabelling sessions finds one far too often."""
    photos = people(10, 10, photos=2)
    relabelling = relabelled(photos)
    rejected = {"person": 0, "session": 0}
    trials = 60
    for trial in range(trials):
        rng = np.random.default_rng(1_000 + trial)
        names = [photo.photo for photo in photos for _ in range(10)]
        person = np.repeat(rng.normal(0, 1, 20), 20)
        values = np.round(2 * (person + rng.normal(0, 1, len(names)))) * 25.0
        by_person = family_tests([Sample(values, names)], relabelling, permutations=199)[0]
        by_session = session_test(values[:200], values[200:], seed=0, name=("t",), permutations=199)
        rejected["person"] += by_person.p_value <= 0.05
        rejected["session"] += by_session.p_value <= 0.05
    assert rejected["person"] <= 9  # 60 x 0.05 = 3; P(> 9) < 0.001
    assert rejected["session"] >= 30
