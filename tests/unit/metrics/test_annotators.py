"""Who votes how, and how well they agree."""

from __future__ import annotations

from typing import Any

import evalica
import numpy as np
import pandas as pd
import polars as pl
import pytest
from ranked_worlds import START, round_robin

from metrics.annotators import annotators, vote_agreement
from metrics.model_ranking import Draws
from metrics.ranking_frames import ANNOTATORS, MATCHES, VOTE_AGREEMENT, VOTES
from metrics.simulated_crowd import Crowd, simulate_votes, with_preferences

FEW = Draws(resamples=200)


def votes_of(*rows: tuple[Any, ...]) -> pl.DataFrame:
    """(match, choice, annotator, left, ms)."""
    filled = [(*row[:3], "2026-11-30T12:00:00+00:00", *row[3:]) for row in rows]
    return pl.DataFrame(filled, schema=VOTES, orient="row")


def matches_of(**gold: str | None) -> pl.DataFrame:
    rows = [(name, f"photo-{name}", "s", "flux", "qwen", answer) for name, answer in gold.items()]
    return pl.DataFrame(rows, schema=MATCHES, orient="row")


def test_people_by_hand():
    votes = votes_of(
        ("m", "a", "ann", "a", 2000),
        ("n", "b", "ann", "a", 3000),
        ("g", "a", "ann", None, 2500),
        ("m", "a", "bob", "b", 100),
        ("n", "tie", "bob", "b", 300),
        ("g", "b", "bob", None, None),
        ("m", "b", "cy", None, None),
    )
    table = annotators(votes, matches_of(m=None, n=None, g="a"), min_gold_accuracy=0.5)
    assert table.schema == ANNOTATORS
    assert table["annotator"].to_list() == ["ann", "bob", "cy"]
    ann, bob, cy = table.iter_rows(named=True)
    counted = ("n_votes", "n_gold", "gold_right", "n_compared", "n_sided")
    assert [ann[name] for name in counted] == [3, 1, 1, 1, 2]
    assert [bob[name] for name in counted] == [3, 1, 0, 1, 1]
    assert [cy[name] for name in counted] == [1, 0, 0, 1, 0]
    # In m the others of ann split, as those of bob do; those of cy are both a. In n they differ.
    assert [row["majority_agreement"] for row in (ann, bob, cy)] == [0, 0, 0]
    assert [row["left_share"] for row in (ann, bob, cy)] == [0.5, 0.0, None]
    assert [row["median_ms"] for row in (ann, bob, cy)] == [2500, 200, None]
    assert [row["flags"] for row in (ann, bob, cy)] == [[], ["too_fast", "below_gold_accuracy"], []]


@pytest.mark.parametrize(("of", "most"), [(16, 16), (100, 70)])
@pytest.mark.parametrize("beyond", [0, 1])
@pytest.mark.parametrize("to_the_left", [True, False])
def test_one_sided_is_beyond_four_standard_errors(of: int, most: int, beyond: int, to_the_left: bool):
    """|l/n - 1/2| > 4 * 1/2 / sqrt(n): 70 of 100 is just within, and 16 of 16; 17 of 17 is not."""
    of, most = max(of, most + beyond), most + beyond
    left = most if to_the_left else of - most
    rows = [(f"m{k}", "a" if k < left else "b", "ann", "a", 3000) for k in range(of)]
    row = annotators(votes_of(*rows), matches_of(**{f"m{k}": None for k in range(of)})).row(0, named=True)
    assert row["flags"] == (["one_sided"] if beyond else [])
    assert row["left_share"] == left / of


def test_agreement_by_hand():
    """m: a a b; n: b b; k: a alone; g is gold, answered right by one of two."""
    votes = votes_of(
        ("m", "a", "1", None, None), ("m", "a", "2", None, None), ("m", "b", "3", None, None),
        ("n", "b", "1", None, None), ("n", "b", "2", None, None), ("k", "a", "1", None, None),
        ("g", "a", "1", None, None), ("g", "b", "2", None, None),
    )  # fmt: skip
    table = vote_agreement(votes, matches_of(m=None, n=None, k=None, g="a"), draws=FEW)
    assert table.schema == VOTE_AGREEMENT
    found = {row["name"]: row for row in table.iter_rows(named=True)}
    # Observed: m has 4 ordered unequal pairs over m - 1 = 2. Expected: 2 a and 3 b make 12 of 20.
    assert found["krippendorff_alpha"]["value"] == pytest.approx(1 - (2 / 5) / (12 / 20))
    assert found["krippendorff_alpha"]["n"] == 5
    assert found["majority_share"]["value"] == pytest.approx(4 / 5)
    # The others of the two a in m split; those of b are a; in n each agrees with the other.
    assert found["leave_one_out_agreement"]["value"] == pytest.approx(2 / 3)
    assert found["leave_one_out_agreement"]["n"] == 3
    assert found["gold_accuracy"]["value"] == 0.5
    assert (found["gold_accuracy"]["low"], found["gold_accuracy"]["high"]) == (0, 1)
    assert found["gold_accuracy"]["n_clusters"] == 2


def test_one_vote_a_match_says_nothing_of_agreement():
    table = vote_agreement(votes_of(("m", "a", "1", None, None)), matches_of(m=None), draws=FEW)
    assert table["value"].null_count() == 4
    assert table["n"].to_list() == [0, 0, 0, 0]
    same = votes_of(("m", "a", "1", None, None), ("m", "a", "2", None, None))
    row = vote_agreement(same, matches_of(m=None), draws=FEW).row(0, named=True)
    assert (row["name"], row["value"], row["n"]) == ("krippendorff_alpha", None, 2)


def simulated(crowd: Crowd, votes_per_match: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    rng = np.random.default_rng(5)
    matches = round_robin(["a", "b", "c", "d"], 40)
    golds = pl.DataFrame(
        [(f"gold-{k}", f"gold-{k}", "s", "a", "b", "ab"[k % 2]) for k in range(40)],
        schema=MATCHES,
        orient="row",
    )
    matches = pl.concat([matches, golds])
    told = with_preferences(matches, {"a": 0, "b": 0.6, "c": 1.2, "d": 1.8}, rng=rng)
    return simulate_votes(told, crowd, votes_per_match=votes_per_match, start=START, rng=rng), matches


def test_alpha_is_evalicas_and_its_interval_holds_it():
    votes, matches = simulated(Crowd(annotators=6, tie_weight=0.3), 3)
    row = vote_agreement(votes, matches, draws=Draws(resamples=1_000)).row(0, named=True)
    rated = votes.filter(~pl.col("match").str.starts_with("gold"))
    numbers = rated.with_columns(pl.col("choice").replace_strict({"a": 0.0, "b": 1.0, "tie": 2.0}))
    wide = numbers.pivot("match", index="annotator", values="choice").drop("annotator")
    assert row["value"] == pytest.approx(evalica.alpha(pd.DataFrame(wide.to_numpy())).alpha, abs=1e-9)
    assert row["low"] < row["value"] < row["high"]
    assert row["high"] - row["low"] < 0.4


def test_those_who_vote_blindly_stand_out():
    """Three of thirty always take the left, three vote at random and fast."""
    votes, matches = simulated(Crowd(annotators=30, random_share=0.1, left_share=0.1), 15)
    table = annotators(votes, matches, min_gold_accuracy=0.8)
    flags = dict(table.select("annotator", "flags").iter_rows())
    assert sum("one_sided" in held for held in flags.values()) == 3
    assert sum("too_fast" in held for held in flags.values()) == 6
    fast = {name for name, held in flags.items() if "too_fast" in held}
    assert {name for name, held in flags.items() if "below_gold_accuracy" in held} == fast
    careful = table.filter(~pl.col("annotator").is_in(fast))
    assert (
        careful["majority_agreement"].min()
        > table.filter(pl.col("annotator").is_in(fast))["majority_agreement"].max()
    )
    found = dict(vote_agreement(votes, matches, draws=FEW).select("name", "value").iter_rows())
    assert found["gold_accuracy"] == pytest.approx(0.8 * 0.983 + 0.2 * 0.5, abs=0.03)
    assert found["leave_one_out_agreement"] < found["majority_share"]


def test_people_whom_nobody_names_are_no_annotators():
    votes = votes_of(
        ("m", "a", "ann", "a", 2000),
        ("m", "a", "unknown-1", "a", 2000),
        ("m", "a", "unknown-2", "b", 100),
        ("g", "b", "unknown-3", None, None),
        ("g", "a", "ann", None, None),
    )
    table = annotators(votes, matches_of(m=None, g="a"), min_gold_accuracy=0.9)
    assert table["annotator"].to_list() == ["ann"]
    assert table["majority_agreement"].to_list() == [1.0], "their votes are still others' votes"
    told = vote_agreement(votes, matches_of(m=None, g="a"), draws=FEW).rows_by_key("name", unique=True)
    assert told["gold_accuracy"][0] == 0.5
    known = votes.with_columns(pl.col("annotator").str.replace("unknown", "bob"))
    clusters = [
        vote_agreement(one, matches_of(m=None, g="a"), draws=FEW).filter(pl.col("name") == "gold_accuracy")
        for one in (votes, known)
    ]
    assert [one["n_clusters"].item() for one in clusters] == [2, 2]
    more = pl.concat([votes, votes_of(("g", "b", "unknown-4", None, None))])
    again = vote_agreement(more, matches_of(m=None, g="a"), draws=FEW)
    row = again.filter(pl.col("name") == "gold_accuracy")
    assert (row["n"].item(), row["n_clusters"].item()) == (3, 2), "two unknown ones may be one person"
