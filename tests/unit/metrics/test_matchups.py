"""How often each model won against each other one."""

from __future__ import annotations

import polars as pl
import pytest
from ranked_worlds import World, results_of
from scipy.stats import binomtest

from domain.errors import MetricError
from metrics.matchups import matchups, wilson_interval
from metrics.ranking_frames import MATCHUPS


def test_a_pair_by_hand():
    """Seven wins, two ties and a loss on ten photos: 8 of 10."""
    rows = [
        (f"photo-{k}", "flux", "qwen", result) for k, result in enumerate(["a"] * 7 + ["tie"] * 2 + ["b"])
    ]
    table = matchups(results_of([*rows, ("photo-0", "qwen", "seed", "b")]))
    assert table.schema == MATCHUPS
    assert table.select("model", "other").rows() == [
        ("flux", "qwen"), ("qwen", "flux"), ("qwen", "seed"), ("seed", "qwen"),
    ]  # fmt: skip
    ours, theirs, lost, _ = table.iter_rows(named=True)
    assert [ours[name] for name in ("wins", "losses", "ties", "n_matches", "n_votes", "n_photos")] == [
        7, 1, 2, 10, 10, 10,
    ]  # fmt: skip
    assert ours["win_rate"] == pytest.approx(0.8)
    assert (ours["low"], ours["high"]) == pytest.approx((0.490162, 0.943318), abs=2e-5)
    assert (theirs["low"], theirs["high"]) == pytest.approx((1 - ours["high"], 1 - ours["low"]))
    assert (lost["win_rate"], lost["low"]) == (0, 0)
    assert lost["high"] == pytest.approx(0.793451, abs=2e-5)


@pytest.mark.parametrize(("wins", "n"), [(0, 1), (1, 1), (3, 10), (50, 100), (199, 200)])
def test_wilsons_bounds_are_those_of_scipy(wins: int, n: int):
    theirs = binomtest(wins, n).proportion_ci(method="wilson")
    assert wilson_interval(wins / n, n) == pytest.approx((theirs.low, theirs.high), abs=2e-5)


def test_several_matches_on_one_photo_are_not_several_trials():
    rows = [(f"photo-{k % 2}", "flux", "qwen", "a" if k % 4 else "b") for k in range(8)]
    row = matchups(results_of(rows)).row(0, named=True)
    assert (row["n_matches"], row["n_photos"], row["win_rate"]) == (8, 2, 0.75)
    assert (row["low"], row["high"]) == wilson_interval(0.75, 2)


def test_dimensions_add_up_to_all():
    results = World(strengths=(0.0, 0.5, 1.0), photos=12).results(2)
    chains = results.select("photo", "session").unique().sort("photo")
    chains = chains.with_columns(pl.Series("view", ["close", "half", "full"] * 4))
    table = matchups(results, chains=chains, dimensions={"view": ("close", "half", "full")})
    whole = table.filter(pl.col("dimension") == "all").drop("dimension", "value", "win_rate", "low", "high")
    parts = table.filter(pl.col("dimension") == "view").group_by("model", "other")
    sums = parts.agg(pl.col(whole.columns[2:]).sum()).sort("model", "other")
    assert sums.equals(whole)


@pytest.mark.parametrize(("share", "n"), [(0.5, 0), (1.1, 4), (-0.1, 4)])
def test_a_share_that_is_none(share: float, n: int):
    with pytest.raises(MetricError, match="is none"):
        wilson_interval(share, n)
