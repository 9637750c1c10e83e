"""A crowd whose truth is known."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from ranked_worlds import START, World, coverage, round_robin

from domain.errors import MetricError
from metrics.bradley_terry import fit_strengths, ratings
from metrics.ranking_frames import MATCHES, VOTES
from metrics.simulated_crowd import Crowd, result_share, simulate_votes, true_ratings, with_preferences

PLAIN = Crowd(annotators=50, random_share=0.0, slips=0.0)


def test_chances_by_hand():
    """Odds of 4 and nu = 0.5: 2 : 1/2 : 1/2."""
    crowd = Crowd(annotators=10, random_share=0.2, slips=0.1, tie_weight=0.5)
    log4 = np.array([np.log(4)])
    assert crowd.careful_chances(log4)[:, 0] == pytest.approx([2 / 3, 1 / 6, 1 / 6])
    careful = 0.8 * 0.9
    blind = (1 - careful) / 2
    assert crowd.vote_chances(log4)[:, 0] == pytest.approx(
        [careful * 2 / 3 + blind, careful / 6 + blind, careful / 6]
    )


def test_the_share_of_results_by_hand():
    """One vote of three to one; three such votes: p^3 + 3 p^2 q = 27/32."""
    three_to_one = np.array([np.log(3)])
    assert result_share(three_to_one, PLAIN, 1) == pytest.approx([0.75])
    assert result_share(three_to_one, PLAIN, 3) == pytest.approx([27 / 32])
    assert result_share(three_to_one, PLAIN, 2) == pytest.approx([9 / 16 + 3 / 16])
    assert result_share(np.array([0.0]), Crowd(tie_weight=0.4), 3) == pytest.approx([0.5])


def test_votes_come_as_often_as_they_should():
    crowd = Crowd(annotators=40, random_share=0.25, slips=0.0, tie_weight=0.5)
    matches = round_robin(["a", "b"], 30_000)
    rng = np.random.default_rng(0)
    told = with_preferences(matches, {"a": np.log(4), "b": 0.0}, rng=rng)
    votes = simulate_votes(told, crowd, votes_per_match=1, start=START, rng=rng)
    shares = [(votes["choice"] == choice).mean() for choice in ("a", "b", "tie")]
    assert shares == pytest.approx(crowd.vote_chances(np.array([np.log(4)]))[:, 0], abs=0.01)
    assert (votes["left"] == "a").mean() == pytest.approx(0.5, abs=0.01)


def test_nobody_votes_twice_on_a_match_and_all_is_of_the_seed():
    told = with_preferences(
        round_robin(["a", "b", "c"], 20), dict.fromkeys("abc", 0.0), rng=np.random.default_rng(0)
    )
    made = [
        simulate_votes(told, PLAIN, votes_per_match=7, start=START, rng=np.random.default_rng(1))
        for _ in range(2)
    ]
    assert made[0].equals(made[1])
    assert made[0].schema == VOTES
    assert made[0].height == 420
    assert not made[0].select(pl.struct("match", "annotator").is_duplicated().any()).item()
    assert made[0]["at"].n_unique() == 420
    everybody = simulate_votes(told, PLAIN, votes_per_match=50, start=START, rng=np.random.default_rng(1))
    assert not everybody.select(pl.struct("match", "annotator").is_duplicated().any()).item()


def test_a_photo_adds_the_same_to_all_matches_of_a_model():
    told = with_preferences(
        round_robin(["a", "b", "c"], 50), {"a": 1.0, "b": 0.0, "c": -1.0}, interaction_sd=0.5,
        rng=np.random.default_rng(0),
    )  # fmt: skip
    wide = told.with_columns(pair=pl.col("model_a") + pl.col("model_b")).pivot(
        "pair", index="photo", values="preference"
    )
    assert wide["ab"].to_numpy() + wide["bc"].to_numpy() == pytest.approx(wide["ac"].to_numpy())
    assert wide["ab"].std() == pytest.approx(0.5 * np.sqrt(2), rel=0.3)


def test_gold_is_mostly_answered_right():
    golds = pl.DataFrame([("g", "p", "s", "x", "y", "b")], schema=MATCHES, orient="row")
    told = with_preferences(golds, {}, rng=np.random.default_rng(0))
    votes = simulate_votes(told, PLAIN, votes_per_match=50, start=START, rng=np.random.default_rng(0))
    assert (votes["choice"] == "b").mean() >= 0.96


def test_true_ratings_of_single_votes_are_the_strengths_themselves():
    strengths = np.array([-0.5, 0.0, 0.7])
    assert true_ratings(strengths.tolist(), PLAIN) == pytest.approx(ratings(strengths))
    surer = true_ratings(strengths.tolist(), PLAIN, votes_per_match=5)
    assert surer[2] - surer[0] > 1.5 * (true_ratings(strengths.tolist(), PLAIN)[2] - ratings(strengths)[0])


def test_true_ratings_are_those_of_very_many_photos():
    """Votes are drawn on 4,000 photos; the standard error of a rating is then some 3 points."""
    world = World(strengths=(-1.0, 0.0, 1.2), photos=4_000)
    results = world.results(0)
    wins = np.zeros((3, 3))
    for a, b, result in results.select("model_a", "model_b", "result").iter_rows():
        i, j = world.models.index(a), world.models.index(b)
        share = {"a": 1.0, "b": 0.0, "tie": 0.5}[result]
        wins[i, j] += share
        wins[j, i] += 1 - share
    assert ratings(fit_strengths(wins)) == pytest.approx(world.truth(), abs=12)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"annotators": 0}, "shares of them"),
        ({"random_share": 0.7, "left_share": 0.4}, "shares of them"),
        ({"slips": 1.2}, "shares of them"),
        ({"tie_weight": -1}, "tie_weight is -1"),
    ],
)
def test_a_crowd_that_cannot_be(fields: dict, message: str):
    with pytest.raises(MetricError, match=message):
        Crowd(**fields)


def test_what_is_refused():
    matches = round_robin(["a", "b"], 1)
    with pytest.raises(MetricError, match="model 'b' has no strength"):
        with_preferences(matches, {"a": 0.0}, rng=np.random.default_rng(0))
    told = with_preferences(matches, {"a": 0.0, "b": 0.0}, rng=np.random.default_rng(0))
    for count in (0, 51):
        with pytest.raises(MetricError, match="cannot be had"):
            simulate_votes(told, PLAIN, votes_per_match=count, start=START, rng=np.random.default_rng(0))


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_intervals_hold_the_truth_as_often_as_they_say():
    """200 drawings of 12 models: the models of one drawing depend on each other, so it counts as 200 trials.

    The bound is 3 standard errors of 95 % of 200. Matches resampled as if independent hold it too rarely.
    """
    world = World()
    ours = coverage(world, 200).held
    error = np.sqrt(0.95 * 0.05 / 200)
    assert ours.mean() == pytest.approx(0.95, abs=3 * error)
    assert coverage(world, 40, by_match=True).held.mean() < 0.95 - 3 * error
