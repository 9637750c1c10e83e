"""The queue of matches, the order that tells most, and what a voter is served."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from domain.errors import MetricError
from metrics.matchmaking import EVEN, START, d_optimal, next_match, rounds, spread

GRIDS = arrays.arrays(np.bool_, st.tuples(st.integers(0, 6), st.integers(0, 9)))


def a_queue(completed: np.ndarray, seed: int = 0) -> np.ndarray:
    return rounds(completed, rng=np.random.default_rng(seed))


@given(GRIDS, st.integers(0, 5))
def test_the_queue_holds_exactly_the_matches_that_can_be(completed: np.ndarray, seed: int) -> None:
    queue = a_queue(completed, seed)
    possible = {
        (a, b, photo)
        for a, b in combinations(range(len(completed)), 2)
        for photo in range(completed.shape[1])
        if completed[a, photo] and completed[b, photo]
    }
    assert len(queue) == len(possible)
    assert set(map(tuple, queue.tolist())) == possible


@given(GRIDS, st.integers(0, 5))
def test_every_pair_meets_once_before_any_meets_twice(completed: np.ndarray, seed: int) -> None:
    queue = a_queue(completed, seed)
    shared = Counter((a, b) for a, b, _ in queue.tolist())
    met: Counter[tuple[int, int]] = Counter()
    for a, b, _ in queue.tolist():
        met[a, b] += 1
        assert all(met[pair] >= min(met[a, b] - 1, shared[pair]) for pair in shared)


def test_a_full_grid_is_a_latin_square() -> None:
    """Three models and three photos: each round has each pair once and each photo once."""
    queue = a_queue(np.ones((3, 3), np.bool_)).reshape(3, 3, 3)
    for held in queue:
        assert sorted(map(tuple, held[:, :2].tolist())) == [(0, 1), (0, 2), (1, 2)]
        assert sorted(held[:, 2].tolist()) == [0, 1, 2]
    for pair in ((0, 1), (0, 2), (1, 2)):
        photos = [row[2] for held in queue.tolist() for row in held if tuple(row[:2]) == pair]
        assert sorted(photos) == [0, 1, 2]


def test_the_same_seed_gives_the_same_queue_and_another_one_does_not() -> None:
    completed = np.ones((6, 10), np.bool_)
    assert (a_queue(completed, 3) == a_queue(completed, 3)).all()
    assert (a_queue(completed, 3) != a_queue(completed, 4)).any()


def test_a_round_of_the_paper_spreads_over_the_photos() -> None:
    """26 models and 199 photos: 325 pairs a round, so each photo is used once or twice."""
    queue = a_queue(np.ones((26, 199), np.bool_))
    assert len(queue) == 325 * 199
    used = Counter(queue[:325, 2].tolist())
    assert set(used.values()) == {1, 2}
    assert len(used) == 199


def test_completed_has_two_dimensions() -> None:
    with pytest.raises(MetricError, match="1 dimensions"):
        a_queue(np.ones(3, np.bool_))


def test_the_newcomer_meets_everybody_before_the_others_meet_again() -> None:
    """Models 0–2 have met on photos 0 and 1; model 3 is new."""
    queue = a_queue(np.ones((4, 4), np.bool_))
    known = np.array([5 if 3 not in (a, b) and photo < 2 else 0 for a, b, photo in queue.tolist()])
    order = d_optimal(queue, 4, known)
    first = queue[order[:3]].tolist()
    assert {tuple(row[:2]) for row in first} == {(0, 3), (1, 3), (2, 3)}
    assert sorted(order.tolist()) == list(range(len(queue)))
    n_known = int((known > 0).sum())
    assert (known[order[-n_known:]] > 0).all()
    assert (known[order[:-n_known]] == 0).all()


def log_determinant(counts: np.ndarray) -> float:
    """Of the information of pair counts, by definition."""
    n = len(counts)
    information = EVEN * (np.diag(counts.sum(axis=0)) - counts) + np.full((n, n), 1 / n) + START * np.eye(n)
    return float(np.linalg.slogdet(information)[1])


@pytest.mark.parametrize("seed", range(4))
def test_each_choice_gains_the_most_that_can_be_gained(seed: int) -> None:
    rng = np.random.default_rng(seed)
    queue = a_queue(rng.random((5, 4)) < 0.8, seed)
    known = rng.integers(0, 3, len(queue)) * (rng.random(len(queue)) < 0.5)
    order = d_optimal(queue, 5, known)
    counts = np.zeros((5, 5))
    for (a, b, _), n in zip(queue.tolist(), known.tolist(), strict=True):
        counts[a, b] += n
        counts[b, a] += n
    left = [place for place in range(len(queue)) if known[place] == 0]
    for place in order[: len(left)].tolist():
        gains: dict[int, float] = {}
        for other in left:
            a, b, _ = queue[other]
            more = counts.copy()
            more[a, b] += 1
            more[b, a] += 1
            gains[other] = log_determinant(more)
        assert gains[place] == pytest.approx(max(gains.values()), abs=1e-5)
        left.remove(place)
        a, b, _ = queue[place]
        counts[a, b] += 1
        counts[b, a] += 1


def test_a_queue_without_matches_has_an_order() -> None:
    assert d_optimal(np.empty((0, 3), np.int64), 3, np.empty(0, np.int64)).tolist() == []
    with pytest.raises(MetricError, match="do not fit"):
        d_optimal(np.empty((0, 2), np.int64), 3, np.empty(0, np.int64))


def test_gold_is_spread() -> None:
    assert list(spread(4, 3, 1)) == [
        (True, 0), (False, 0), (False, 1), (True, 1), (False, 2), (False, 3), (True, 2),
    ]  # fmt: skip
    assert list(spread(0, 2, 1)) == [(True, 0), (True, 1)]


@given(st.integers(0, 30), st.integers(0, 30), st.integers(0, 5))
def test_each_is_spread_once(n_matches: int, n_gold: int, first: int) -> None:
    found = list(spread(n_matches, n_gold, first))
    assert [number for is_gold, number in found if is_gold] == list(range(n_gold))
    assert [number for is_gold, number in found if not is_gold] == list(range(n_matches))


class Voters:
    """A page in small: who has seen what, and the votes of each match."""

    def __init__(self, n: int, n_gold: int, seed: int = 0) -> None:
        self.counts = np.zeros(n, np.int64)
        self.gold = np.arange(n) >= n - n_gold
        self.seen: dict[int, list[int]] = {}
        self.left: list[str] = []
        self.rng = np.random.default_rng(seed)

    def vote(self, voter: int, **options: Any) -> int | None:
        held = self.seen.setdefault(voter, [])
        served = next_match(self.counts, self.gold, held, rng=self.rng, **options)
        if served is None:
            return None
        held.append(served.index)
        self.counts[served.index] += 1
        self.left.append(served.left)
        return served.index


@given(st.integers(1, 12), st.lists(st.integers(0, 3), max_size=60))
def test_votes_stay_level_and_nobody_sees_a_match_twice(n: int, turns: list[int]) -> None:
    """While every voter still has all of the least judged before them, no match is two votes ahead."""
    page = Voters(n, 0)
    for number, _ in enumerate(turns):
        page.vote(number)  # somebody new each time, who has seen nothing
        assert page.counts.max() - page.counts.min() <= 1
    page = Voters(n, 0)
    for voter in turns:
        page.vote(voter)
    for held in page.seen.values():
        assert len(held) == len(set(held)) <= n


def test_the_queue_is_served_in_its_order() -> None:
    page = Voters(5, 0)
    assert [page.vote(1) for _ in range(6)] == [0, 1, 2, 3, 4, None]
    assert page.vote(2) == 0


def test_matches_with_enough_votes_are_shown_no_more() -> None:
    page = Voters(3, 0)
    assert [page.vote(voter, enough=1) for voter in range(4)] == [0, 1, 2, None]


def test_a_voter_begins_with_known_answers_and_meets_some_later() -> None:
    page = Voters(2000, 300)
    shown = [page.gold[page.vote(1, gold_first=3, gold_share=0.05) or 0] for _ in range(1003)]
    assert all(shown[:3])
    assert sum(shown[3:]) == pytest.approx(50, abs=25)


def test_known_answers_are_spent_evenly_and_are_no_substitute() -> None:
    page = Voters(4, 2)
    assert [page.vote(1, gold_first=3, gold_share=0.0) for _ in range(5)] == [2, 3, 0, 1, None]
    assert page.vote(2, gold_first=1) == 2


def test_sides_are_drawn_evenly() -> None:
    page = Voters(4000, 0)
    for _ in range(4000):
        page.vote(1)
    assert page.left.count("a") == pytest.approx(2000, abs=130)  # four standard errors


def test_what_does_not_fit_is_an_error() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(MetricError, match="do not fit"):
        next_match(np.zeros(2, np.int64), np.zeros(3, np.bool_), [], rng=rng)
    with pytest.raises(MetricError, match="match 2 of 2"):
        next_match(np.zeros(2, np.int64), np.zeros(2, np.bool_), [2], rng=rng)
