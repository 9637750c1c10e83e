"""Who can be rated against whom."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from metrics.win_graphs import DISCONNECTED, UNBEATEN, WINLESS, are_strong, win_graph


def wins(n: int, *arrows: tuple[int, int]) -> np.ndarray:
    made = np.zeros((n, n))
    for winner, loser in arrows:
        made[winner, loser] += 1
    return made


RING = ((0, 1), (1, 2), (2, 0))


def test_all_connected():
    graph = win_graph(wins(3, *RING))
    assert graph.rated.all()
    assert graph.note == (None, None, None)
    assert graph.component.tolist() == [1, 1, 1]
    assert graph.above.tolist() == [0, 0, 0]
    assert graph.members(1).tolist() == [0, 1, 2]


def test_one_that_never_lost_and_one_that_never_won():
    graph = win_graph(wins(5, *RING, (3, 0), (3, 1), (2, 4)))
    assert graph.rated.tolist() == [True, True, True, False, False]
    assert graph.note == (None, None, None, UNBEATEN, WINLESS)
    assert graph.above.tolist() == [1, 1, 1, 0, 4]


def test_a_pair_that_beat_all_others_is_unbeaten_although_each_lost_once():
    graph = win_graph(wins(5, *RING, (3, 4), (4, 3), (3, 0)))
    assert graph.note == (None, None, None, UNBEATEN, UNBEATEN)
    assert graph.above.tolist() == [2, 2, 2, 0, 0]


def test_two_groups_that_never_met_are_rated_apart():
    graph = win_graph(wins(5, (0, 1), (1, 0), (2, 3), (3, 4), (4, 2)))
    assert graph.component.tolist() == [2, 2, 1, 1, 1]
    assert graph.rated.all()
    assert graph.note == (DISCONNECTED, DISCONNECTED, None, None, None)
    assert graph.members(2).tolist() == [0, 1]


def test_one_whom_nothing_places_against_the_rated():
    """3 beat the ring and 4; the ring and 4 never met."""
    graph = win_graph(wins(5, *RING, (3, 0), (3, 4)))
    assert graph.note == (None, None, None, UNBEATEN, DISCONNECTED)
    assert graph.ordered.tolist() == [True, True, True, True, False]


def test_a_chain_of_wins_rates_nobody_but_gives_an_order():
    graph = win_graph(wins(3, (0, 1), (1, 2)))
    assert not graph.rated.any()
    assert graph.note == (UNBEATEN, DISCONNECTED, WINLESS)
    assert graph.ordered.all()
    assert graph.above.tolist() == [0, 1, 2]


def test_two_models_and_one_result():
    assert win_graph(wins(2, (1, 0))).note == (WINLESS, UNBEATEN)
    tie = np.array([[0, 0.5], [0.5, 0]])
    assert win_graph(tie).rated.all()


@given(hnp.arrays(np.bool_, (6, 6)), st.permutations(range(6)))
def test_the_graph_is_that_of_the_definition(arrows: np.ndarray, order: list[int]):
    edges = arrows & ~np.eye(6, dtype=bool)
    reach = edges | np.eye(6, dtype=bool)
    for middle in range(6):
        reach |= reach[:, middle : middle + 1] & reach[middle]
    assert are_strong(edges[np.newaxis])[0] == reach.all()
    graph = win_graph(edges.astype(float))
    together = reach & reach.T
    assert graph.above.tolist() == [int((reach[:, m] & ~reach[m]).sum()) for m in range(6)]
    for part in set(graph.component):
        inside = graph.component == part
        sizes = together.sum(1)[inside]
        members = graph.members(part)
        assert len(members) == (sizes.max() if sizes.max() > 1 else 0)
        for model in np.flatnonzero(inside & ~graph.rated):
            if not len(members):
                continue
            up, down = reach[model, members[0]], reach[members[0], model]
            expected = UNBEATEN if up else WINLESS if down else DISCONNECTED
            assert graph.note[model] == expected
            assert graph.ordered[model] == (up or down)
    moved = win_graph(edges[np.ix_(order, order)].astype(float))
    assert sorted(moved.above) == sorted(graph.above)


def test_several_graphs_at_once():
    both = np.stack([wins(3, *RING) > 0, wins(3, (0, 1), (1, 2)) > 0, np.ones((3, 3)) > 0])
    assert are_strong(both).tolist() == [True, False, True]


@pytest.mark.parametrize("n", [1, 2, 3, 7, 8, 9, 40])
def test_a_ring_of_any_size_is_connected_and_without_one_arrow_it_is_not(n: int):
    ring = np.roll(np.eye(n, dtype=bool), 1, axis=1)
    assert are_strong(ring[np.newaxis])[0]
    ring[0] = False
    assert are_strong(ring[np.newaxis])[0] == (n == 1)
