"""Leaderboards: ratings, intervals, ranks, and what is said of models that cannot be rated."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ranked_worlds import World, results_of

from domain.errors import MetricError
from metrics.bradley_terry import SCALE, fit_strengths
from metrics.model_ranking import Draws, ranking
from metrics.ranking_frames import RANKING, RESULTS
from metrics.rating_draws import RatingDraws, rating_draws
from metrics.win_matrices import photo_wins

FEW = Draws(seed=0, resamples=200)


def series(photos: int, a: str, b: str, results: str) -> list[tuple[str, str, str, str]]:
    """Matches of a pair on photos in turn; a letter each: a, b or t."""
    words = {"a": "a", "b": "b", "t": "tie"}
    return [(f"photo-{k % photos}", a, b, words[letter]) for k, letter in enumerate(results)]


def by_model(board: pl.DataFrame) -> dict[str, dict]:
    return {row["model"]: row for row in board.iter_rows(named=True)}


def test_two_models_by_hand():
    """Two wins, a tie and a loss: 2.5 of 4, so ln(5/3) apart; each photo has one match."""
    board = ranking(results_of(series(4, "flux", "qwen", "aatb")), draws=FEW)
    assert board.schema == RANKING
    rows = by_model(board)
    assert rows["flux"]["rating"] == pytest.approx(1000 + SCALE * math.log(5 / 3) / 2)
    assert rows["qwen"]["rating"] == pytest.approx(1000 - SCALE * math.log(5 / 3) / 2)
    counted = ("n_matches", "n_votes", "n_photos", "wins", "losses", "ties")
    assert [rows["flux"][name] for name in counted] == [4, 4, 4, 2, 1, 1]
    assert [rows["qwen"][name] for name in counted] == [4, 4, 4, 1, 2, 1]
    assert board["model"].to_list() == ["flux", "qwen"]
    assert board["component"].to_list() == [1, 1]
    assert board["note"].to_list() == [None, None]
    assert board["rank"].to_list() == [1, 1], "four matches tell nobody apart"


def test_the_unbeaten_stand_in_the_order_of_their_wins():
    """Two tie and lose to nobody: one won 3 of 4 matches, the other 2 of 3; a tie is half a win."""
    rows = series(3, "low-1", "low-2", "abt") + series(3, "low-2", "low-3", "abt")
    rows += series(1, "a-second", "b-first", "t") + series(2, "b-first", "low-1", "aa")
    rows += series(2, "a-second", "low-1", "a") + series(1, "a-second", "b-first", "t")
    board = ranking(results_of(rows), draws=FEW)
    assert board["model"].to_list()[:2] == ["b-first", "a-second"]
    assert board["note"].to_list()[:2] == ["unbeaten", "unbeaten"]
    assert board["rating"].null_count() == 2


def test_an_unbeaten_and_a_winless_model_have_a_place_and_no_number():
    rows = series(6, "flux", "qwen", "ababab") + series(6, "best", "flux", "aaaaaa")
    rows += series(6, "qwen", "worst", "aaaaaa")
    board = ranking(results_of(rows), draws=FEW)
    assert board["model"].to_list() == ["best", "flux", "qwen", "worst"]
    assert board["note"].to_list() == ["unbeaten", None, None, "winless"]
    assert board["rating"].to_list() == [None, pytest.approx(1000), pytest.approx(1000), None]
    assert board["rank"].to_list() == [1, 2, 2, 4]
    assert board["rank_low"].to_list() == [None, 2, 2, None]
    assert board["rank_high"].to_list() == [None, 3, 3, None]
    assert board["wins"].to_list() == [6, 3, 9, 0]


def test_groups_that_never_met_are_ranked_apart():
    rows = series(6, "a1", "a2", "aababb") + series(6, "b1", "b2", "aaabaa") + series(6, "b2", "b3", "abaaaa")
    board = ranking(results_of(rows), draws=FEW)
    assert board["model"].to_list()[:3] == ["b1", "b2", "b3"]
    assert board["component"].to_list() == [1, 1, 1, 2, 2]
    assert board["note"].to_list() == [None, None, None, "disconnected", "disconnected"]
    rows_of = by_model(board)
    assert rows_of["a1"]["rank"] == 1
    assert rows_of["a1"]["rating"] == pytest.approx(1000)
    assert board.filter(pl.col("component") == 1)["rating"].mean() == pytest.approx(1000)


def test_whom_nothing_places_has_no_rank():
    """`top` beat the rated and `lone`; nobody else met `lone`."""
    rows = series(4, "a", "b", "abab") + series(4, "a", "top", "bbbb") + series(4, "lone", "top", "bbbb")
    row = by_model(ranking(results_of(rows), draws=FEW))["lone"]
    assert (row["rating"], row["rank"], row["note"]) == (None, None, "disconnected")


def test_nobody_can_be_rated_in_a_chain_of_wins():
    board = ranking(results_of(series(2, "a", "b", "aa") + series(2, "b", "c", "aa")), draws=FEW)
    assert board["rating"].null_count() == 3
    assert board["rank"].to_list() == [1, 2, 3]
    assert board["note"].to_list() == ["unbeaten", "disconnected", "winless"]


def test_one_photo_has_no_interval_and_tells_nobody_apart():
    board = ranking(results_of(series(1, "a", "b", "aaaaaaaaab")), draws=FEW)
    assert board["rating_low"].null_count() == board["rating_high"].null_count() == 2
    assert board["rank"].to_list() == [1, 1]
    assert board["rank_low"].null_count() == 2
    assert board["resamples"].to_list() == [0, 0]


def test_clear_differences_make_clear_ranks():
    rows = []
    for photo in range(60):
        upset = photo % 10 == 0
        for a, b in (("a", "b"), ("b", "c"), ("a", "c")):
            rows.append((f"photo-{photo:02d}", a, b, "b" if upset else "a"))
    board = ranking(results_of(rows), draws=Draws(resamples=1_000))
    assert board["rank"].to_list() == [1, 2, 3]
    assert board["rank_low"].to_list() == board["rank_high"].to_list() == [1, 2, 3]
    assert (board["rating_low"] <= board["rating"]).all()
    assert (board["rating"] <= board["rating_high"]).all()
    assert board["rating"].to_list()[1] == pytest.approx(1000), "it wins as often as it loses"


def test_a_model_that_one_photo_keeps_from_winless_has_no_lower_bound():
    """36 % of resamples miss the photo of its only win; that is more than 2.5 %, and it is counted."""
    rows = [row for k in range(30) for row in [(f"photo-{k}", "a", "b", "ab"[k % 2])]]
    rows += [(f"photo-{k}", "a", "weak", "b" if k == 7 else "a") for k in range(30)]
    rows += [(f"photo-{k}", "b", "weak", "a") for k in range(30)]
    board = ranking(results_of(rows), draws=Draws(resamples=4_000))
    row = by_model(board)["weak"]
    assert row["rating_low"] is None
    assert row["rating_high"] < by_model(board)["a"]["rating_low"]
    assert row["note"] is None
    assert (row["rank_low"], row["rank_high"]) == (3, 3)
    assert row["resamples_undetermined"] / row["resamples"] == pytest.approx((29 / 30) ** 30, abs=0.03)
    assert None not in [by_model(board)["a"][name] for name in ("rating_low", "rating_high")]


def test_draws_are_the_multinomial_bootstrap_over_photos():
    """The same resamples fitted one by one."""
    wins = photo_wins(World(strengths=(0.0, 0.3, 0.6), photos=12).results(0))
    drawn = rating_draws(wins, rng=np.random.default_rng(3), resamples=50)
    times = np.random.default_rng(3).multinomial(12, np.full(12, 1 / 12), size=50)
    for row, weights in zip(drawn.strengths, times, strict=True):
        table = sum(w * held for w, held in zip(weights, wins.by_photo, strict=True))
        assert np.isfinite(row).all()
        assert row == pytest.approx(fit_strengths(table), abs=1e-8)
    assert drawn.undetermined == 0


def test_a_resample_that_determines_some_only():
    """Two photos; without the second, c never won."""
    rows = [("p1", "a", "b", "a"), ("p1", "a", "b", "b"), ("p1", "a", "c", "a"), ("p2", "a", "b", "a")]
    rows += [("p2", "a", "b", "b"), ("p2", "a", "c", "b")]
    wins = photo_wins(results_of(rows))
    drawn = rating_draws(wins, rng=np.random.default_rng(0), resamples=400)
    point = fit_strengths(wins.total)
    winless = drawn.strengths[drawn.strengths[:, 2] == -np.inf]
    unbeaten = drawn.strengths[drawn.strengths[:, 2] == np.inf]
    assert len(winless) + len(unbeaten) == drawn.undetermined
    assert len(winless) == pytest.approx(100, abs=35)
    assert len(unbeaten) == pytest.approx(100, abs=35)
    assert winless[0, :2] == pytest.approx([point[:2].mean()] * 2)
    low, high = drawn.interval()
    assert (low[2], high[2]) == (-np.inf, np.inf)
    assert np.isfinite([low[0], high[0]]).all()


def test_intervals_and_rank_intervals_by_hand():
    """Of 41 draws the 2nd lowest and the 2nd highest are the bounds."""
    strengths = np.column_stack([np.arange(41.0), np.full(41, 20.0), np.full(41, 100.0)])
    low, high = RatingDraws(strengths, 0).interval()
    assert low.tolist() == [1, 20, 100]
    assert high.tolist() == [39, 20, 100]
    best, worst = RatingDraws(strengths, 0).rank_interval()
    assert best.tolist() == [2, 2, 1]
    assert worst.tolist() == [3, 3, 1]
    strengths[:3, 2] = np.nan
    low, high = RatingDraws(strengths, 3).interval()
    assert (low[2], high[2]) == (-np.inf, np.inf)


def test_boards_of_dimensions_are_those_of_their_photos():
    results = World(strengths=(0.0, 0.4, 0.8), photos=30).results(1)
    chains = (
        results.select("photo", "session")
        .unique()
        .sort("photo")
        .with_columns(pl.Series("people", (["1", "2"] * 15)))
    )
    board = ranking(results, chains=chains, dimensions={"people": ("1", "2", "3")}, draws=FEW)
    assert board.select("dimension", "value").unique(maintain_order=True).rows() == [
        ("all", "all"), ("people", "1"), ("people", "2"),
    ]  # fmt: skip
    ones = chains.filter(pl.col("people") == "1")
    alone = ranking(results.join(ones, on=["photo", "session"], how="semi"), draws=FEW)
    part = board.filter(pl.col("value") == "1")
    assert part["rating"].to_list() == pytest.approx(alone["rating"].to_list())
    assert set(part["n_photos"]) == {15}
    with pytest.raises(MetricError, match="no chain of photo"):
        ranking(results, chains=ones, dimensions={"people": ("1", "2")}, draws=FEW)
    with pytest.raises(MetricError, match="no column 'view'"):
        ranking(results, chains=ones, dimensions={"view": ("half",)}, draws=FEW)
    with pytest.raises(MetricError, match="there twice"):
        ranking(results, chains=pl.concat([chains, ones]), dimensions={"people": ("1",)}, draws=FEW)


@given(st.integers(0, 10_000))
def test_the_order_of_matches_changes_no_digit(seed: int):
    results = World(strengths=(0.0, 0.5, 1.0), photos=8, votes_per_match=1).results(seed)
    shuffled = results.sample(fraction=1.0, shuffle=True, seed=seed)
    assert ranking(shuffled, draws=FEW).equals(ranking(results, draws=FEW))


def test_no_match_is_an_empty_board():
    assert ranking(pl.DataFrame(schema=RESULTS)).schema == RANKING
    with pytest.raises(MetricError, match="resamples is 0"):
        rating_draws(
            photo_wins(results_of(series(2, "a", "b", "ab"))), rng=np.random.default_rng(), resamples=0
        )
