"""Strengths out of win matrices, against published estimates, hand-worked cases and other solvers."""

from __future__ import annotations

import evalica
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.optimize import minimize

from domain.errors import MetricError
from metrics.bradley_terry import CENTRE, SCALE, fit_strengths, ratings
from metrics.win_graphs import are_strong

TEAMS = ("Milwaukee", "Detroit", "Toronto", "New York", "Boston", "Cleveland", "Baltimore")
BASEBALL = np.array(
    [
        [0, 7, 9, 7, 7, 9, 11],
        [6, 0, 7, 5, 11, 9, 9],
        [4, 6, 0, 7, 7, 8, 12],
        [6, 8, 6, 0, 6, 7, 10],
        [6, 2, 6, 7, 0, 7, 12],
        [4, 4, 5, 6, 6, 0, 6],
        [2, 4, 1, 3, 1, 7, 0],
    ],
    dtype=np.float64,
)
"""American League East of 1987: Agresti, Categorical Data Analysis (2nd edition 2002), section 10.6."""


def symmetric(n: int) -> st.SearchStrategy[np.ndarray]:
    """Win matrices with ties, in halves; some are not connected."""
    return hnp.arrays(np.float64, (n, n), elements=st.sampled_from([0, 0.5, 1, 2, 5, 9.5, 40])).map(
        lambda wins: wins * (1 - np.eye(n))
    )


def connected(wins: np.ndarray) -> bool:
    return bool(are_strong(wins[np.newaxis] > 0)[0])


def likelihood(strengths: np.ndarray, wins: np.ndarray) -> float:
    chances = 1 / (1 + np.exp(strengths[np.newaxis, :] - strengths[:, np.newaxis]))
    return float((wins * np.log(chances)).sum())


def test_the_published_estimates_of_the_baseball_teams():
    """Each pair met 13 times; estimates against Baltimore, as R prints them (BradleyTerry2)."""
    assert np.array_equal(BASEBALL + BASEBALL.T, 13 * (1 - np.eye(7)))
    found = fit_strengths(BASEBALL)
    assert found - found[-1] == pytest.approx([1.5814, 1.4364, 1.2945, 1.2476, 1.1077, 0.6839, 0], abs=5e-5)


def test_two_models_by_hand():
    """Three wins of four: odds of 3, so ln 3 apart."""
    found = fit_strengths(np.array([[0.0, 3.0], [1.0, 0.0]]))
    assert found == pytest.approx([np.log(3) / 2, -np.log(3) / 2])
    assert ratings(found) == pytest.approx([1000 + 95.4243, 1000 - 95.4243], abs=1e-3)
    assert SCALE * np.log(10) == pytest.approx(400)


def test_three_models_by_hand():
    """The first won 4/5 against the second and 8/9 against the third, the second 2/3: odds 8, 2, 1."""
    odds = [8.0, 2.0, 1.0]
    wins = np.array(
        [[0 if i == j else 90 * odds[i] / (odds[i] + odds[j]) for j in range(3)] for i in range(3)]
    )
    assert wins[0, 1] == pytest.approx(72)
    found = fit_strengths(wins)
    assert found - found[2] == pytest.approx(np.log(odds))


def test_a_ring_of_wins_makes_all_equal():
    ring = np.array([[0.0, 1, 0], [0, 0, 1], [1, 0, 0]])
    assert fit_strengths(ring) == pytest.approx([0, 0, 0], abs=1e-12)


@given(symmetric(4))
def test_no_other_strengths_are_more_likely(wins: np.ndarray):
    assume(connected(wins))
    found = fit_strengths(wins)
    best = minimize(lambda s: -likelihood(s, wins), np.zeros(4), method="BFGS", options={"gtol": 1e-9})
    assert likelihood(found, wins) >= -best.fun - 1e-9
    chances = 1 / (1 + np.exp(found[np.newaxis, :] - found[:, np.newaxis]))
    expected = ((wins + wins.T) * chances).sum(1)
    assert wins.sum(1) == pytest.approx(expected, rel=1e-7, abs=1e-7)


@given(symmetric(5))
def test_evalica_agrees_on_connected_tables_with_ties(wins: np.ndarray):
    assume(connected(wins))
    i, j = (index.tolist() for index in np.nonzero(wins))
    found = evalica.bradley_terry(
        i,
        j,
        [evalica.Winner.X] * len(i),
        weights=wins[i, j].tolist(),
        tolerance=1e-14,
        limit=1_000_000,
    ).scores
    theirs = np.log(found.loc[range(5)].to_numpy())
    assert fit_strengths(wins) == pytest.approx(theirs - theirs.mean(), abs=1e-6)


@given(st.integers(0, 2**32 - 1))
def test_evalica_agrees_match_by_match(seed: int):
    """A tie is half a win each for both packages."""
    rng = np.random.default_rng(seed)
    strengths = rng.normal(0, 1, 6)
    i = rng.integers(6, size=600)
    j = (i + rng.integers(1, 6, size=600)) % 6
    drawn = rng.random(600)
    chance = 0.85 / (1 + np.exp(strengths[j] - strengths[i]))
    result = np.where(drawn < chance, 1.0, np.where(drawn < chance + 0.15, 0.5, 0.0))
    wins = np.zeros((6, 6))
    np.add.at(wins, (i, j), result)
    np.add.at(wins, (j, i), 1 - result)
    assume(connected(wins))
    winners = {1.0: evalica.Winner.X, 0.5: evalica.Winner.Draw, 0.0: evalica.Winner.Y}
    scores = evalica.bradley_terry(
        i.tolist(), j.tolist(), [winners[r] for r in result], tolerance=1e-14, limit=1_000_000
    ).scores
    theirs = np.log(scores.loc[range(6)].to_numpy())
    assert fit_strengths(wins) == pytest.approx(theirs - theirs.mean(), abs=1e-6)


@given(symmetric(4), st.permutations(range(4)), st.floats(0.1, 50))
def test_names_and_numbers_of_matches_do_not_matter(wins: np.ndarray, order: list[int], times: float):
    assume(connected(wins))
    found = fit_strengths(wins)
    assert fit_strengths(wins[np.ix_(order, order)]) == pytest.approx(found[order], abs=1e-7)
    assert fit_strengths(wins * times) == pytest.approx(found, abs=1e-7)
    assert fit_strengths(wins.T) == pytest.approx(-found, abs=1e-7)


@given(st.lists(symmetric(4), min_size=1, max_size=5))
def test_many_at_once_are_those_one_by_one(tables: list[np.ndarray]):
    held = [wins for wins in tables if connected(wins)]
    assume(held)
    one_by_one = np.stack([fit_strengths(wins) for wins in held])
    assert fit_strengths(np.stack(held)) == pytest.approx(one_by_one, abs=1e-9)
    assert fit_strengths(np.stack(held), start=one_by_one[0]) == pytest.approx(one_by_one, abs=1e-7)


def test_a_far_start_leads_to_the_same():
    far = np.array([30.0, -30, 30, -30, 30, -30, 0])
    assert fit_strengths(BASEBALL, start=far) == pytest.approx(fit_strengths(BASEBALL), abs=1e-9)


def test_what_is_not_determined_is_an_error_and_no_number():
    with pytest.raises(MetricError, match="never lost"):
        fit_strengths(np.array([[0.0, 2.0], [0.0, 0.0]]))
    apart = np.zeros((4, 4))
    apart[0, 1] = apart[1, 0] = apart[2, 3] = apart[3, 2] = 1
    with pytest.raises(MetricError, match="not determined"):
        fit_strengths(apart)


def test_no_convergence_says_after_how_many_iterations():
    with pytest.raises(MetricError, match="did not converge in 2 iterations"):
        fit_strengths(BASEBALL, iterations=2)


@pytest.mark.parametrize(
    ("wins", "message"),
    [
        (np.zeros((0, 0)), "shape"),
        (np.zeros((2, 3)), "shape"),
        (np.zeros(3), "shape"),
        (np.array([[0.0, -1], [1, 0]]), "negative"),
        (np.array([[0.0, np.nan], [1, 0]]), "not finite"),
    ],
)
def test_wins_that_are_none(wins: np.ndarray, message: str):
    with pytest.raises(MetricError, match=message):
        fit_strengths(wins)


def test_the_mean_of_the_rated_is_the_centre():
    assert ratings(fit_strengths(BASEBALL)).mean() == pytest.approx(CENTRE)
