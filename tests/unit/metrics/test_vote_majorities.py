"""How matches end."""

from __future__ import annotations

import math
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import MetricError
from metrics.ranking_frames import MATCHES, VOTES
from metrics.vote_majorities import agreement_with_others, match_results


def votes_of(*rows: tuple[Any, ...]) -> pl.DataFrame:
    """(match, choice, annotator) and, where given, time, left and ms."""
    filled = [(*row, *("2026-11-30T12:00:00+00:00", None, None)[len(row) - 3 :]) for row in rows]
    return pl.DataFrame(filled, schema=VOTES, orient="row")


def matches_of(*ids: str, gold: dict[str, str] | None = None) -> pl.DataFrame:
    held = gold or {}
    rows = [(name, f"photo-{name}", f"photo_{name}", "flux", "qwen", held.get(name)) for name in ids]
    return pl.DataFrame(rows, schema=MATCHES, orient="row")


def spelled(match: str, choices: str) -> list[tuple[str, str, str]]:
    """Votes of different people, one letter each: a, b or t."""
    words = {"a": "a", "b": "b", "t": "tie"}
    return [(match, words[letter], f"person {number}") for number, letter in enumerate(choices)]


@pytest.mark.parametrize(
    ("choices", "result"),
    [
        ("a", "a"),
        ("b", "b"),
        ("t", "tie"),
        ("ab", "tie"),
        ("aab", "a"),
        ("abb", "b"),
        ("abt", "tie"),
        ("aabt", "a"),
        ("aatt", "tie"),
        ("aabb", "tie"),
        ("aaattb", "a"),
        ("attt", "tie"),
        ("aabbt", "tie"),
    ],
)
def test_a_match_goes_to_the_choice_with_most_votes(choices: str, result: str):
    found = match_results(votes_of(*spelled("m", choices)), matches_of("m"))
    row = found.frame.row(0, named=True)
    assert row["result"] == result
    counted = {name: choices.count(name[0]) for name in ("a", "b", "tie")}
    assert {name: row[f"votes_{name}"] for name in counted} == counted
    assert sum(found.left_out.values()) == 0


def test_gold_matches_rate_nobody_and_what_is_left_out_is_counted():
    votes = votes_of(*spelled("m", "a"), *spelled("g", "aa"), ("elsewhere", "a", "person 0"))
    found = match_results(votes, matches_of("m", "g", "silent", gold={"g": "a"}))
    assert found.frame["match"].to_list() == ["m"]
    assert found.left_out == {
        "votes_on_unknown_matches": 1,
        "votes_repeated": 0,
        "votes_on_gold_matches": 2,
        "votes_of_annotators_below_gold_accuracy": 0,
        "matches_without_vote": 1,
    }


def test_the_first_vote_of_a_person_counts_whatever_the_order_and_the_time_zone():
    """10:30 in Berlin is before 10:00 in London."""
    rows = [("m", "a", "ann", "2026-11-30T10:30:00+01:00"), ("m", "b", "ann", "2026-11-30T10:00:00+00:00")]
    for order in (rows, rows[::-1]):
        found = match_results(votes_of(*order), matches_of("m"))
        assert found.frame["result"].to_list() == ["a"]
        assert found.left_out["votes_repeated"] == 1
    with pytest.raises(MetricError, match="'yesterday', not ISO 8601"):
        match_results(votes_of(("m", "a", "ann", "yesterday"), ("m", "b", "ann")), matches_of("m"))


def test_the_gold_filter_takes_who_is_below_and_keeps_who_was_not_tested():
    votes = votes_of(
        ("m", "a", "bad"), ("m", "b", "good"), ("n", "a", "bad"), ("n", "a", "untested"),
        ("g", "b", "bad"), ("g", "a", "good"), ("h", "a", "bad"),
    )  # fmt: skip
    matches = matches_of("m", "n", "g", "h", gold={"g": "a", "h": "a"})
    everybody = match_results(votes, matches)
    assert everybody.frame["result"].to_list() == ["tie", "a"]
    assert everybody.annotators_left_out == ()
    filtered = match_results(votes, matches, min_gold_accuracy=0.6)
    assert filtered.annotators_left_out == ("bad",)
    assert filtered.frame["result"].to_list() == ["b", "a"]
    assert filtered.frame["votes_a"].to_list() == [0, 1]
    assert filtered.left_out["votes_of_annotators_below_gold_accuracy"] == 2
    assert match_results(votes, matches, min_gold_accuracy=0.5).annotators_left_out == ()


def test_agreement_with_the_others_by_hand():
    """The others of ann and bob in m split, those of cy are both a; in n nobody else voted."""
    votes = votes_of(("m", "a", "ann"), ("m", "a", "bob"), ("m", "b", "cy"), ("n", "a", "cy"))
    table = agreement_with_others(votes)
    assert table.rows() == [("ann", 0, 0), ("bob", 0, 0), ("cy", 1, 0)]


def test_weights_are_log_odds_of_shrunk_agreement_and_never_negative():
    """Ann agreed with the others in 9 of 9 earlier matches, x and y in none: their votes weigh nothing."""
    earlier = [f"e{number}" for number in range(9)]
    rows = [
        (name, choice, who)
        for name in earlier
        for who, choice in (("ann", "a"), ("bob", "a"), ("cy", "a"), ("x", "b"), ("y", "tie"))
    ]
    rows += [("m", "b", "ann"), ("m", "a", "x"), ("m", "a", "y")]
    matches = matches_of(*earlier, "m")
    plain = match_results(votes_of(*rows), matches).frame.filter(pl.col("match") == "m")
    assert plain["result"].to_list() == ["a"]
    weighted = match_results(votes_of(*rows), matches, weighting="agreement").frame.filter(
        pl.col("match") == "m"
    )
    assert weighted["result"].to_list() == ["b"]
    assert weighted["votes_a"].to_list() == [2], "votes are counted, not weighed"


def test_the_weight_at_its_edge():
    """Who agreed in 3 of 3 weighs ln(8.6 / 2.4): more than one of whom nothing is known, less than two."""
    one = math.log(5.6 / 2.4)
    tested = math.log((3 + 5.6) / 2.4)
    assert 2 * one > tested > one
    rows = [(f"e{n}", "a", who) for n in range(3) for who in ("ann", "bob", "cy")]
    rows += [
        ("m", "a", "ann"),
        ("m", "b", "new"),
        ("k", "a", "ann"),
        ("k", "b", "new 1"),
        ("k", "b", "new 2"),
    ]
    found = match_results(votes_of(*rows), matches_of("e0", "e1", "e2", "m", "k"), weighting="agreement")
    assert dict(found.frame.select("match", "result").iter_rows())["m"] == "a"
    assert dict(found.frame.select("match", "result").iter_rows())["k"] == "b"


@given(
    st.lists(st.tuples(st.sampled_from("mn"), st.sampled_from(["a", "b", "tie"])), min_size=1, max_size=12)
)
def test_with_one_vote_a_match_weights_change_nothing_and_order_never_does(drawn: list[tuple[str, str]]):
    single = votes_of(*((f"m{k}", choice, f"person {k % 3}") for k, (_, choice) in enumerate(drawn)))
    matches = matches_of(*(f"m{k}" for k in range(len(drawn))))
    plain = match_results(single, matches).frame
    assert match_results(single, matches, weighting="agreement").frame.equals(plain)
    several = votes_of(*((name, choice, f"person {k}") for k, (name, choice) in enumerate(drawn)))
    found = match_results(several, matches_of("m", "n"))
    assert match_results(several[::-1], matches_of("n", "m")).frame.equals(found.frame)
    assert found.frame.select(pl.sum_horizontal("votes_a", "votes_b", "votes_tie").sum()).item() == len(drawn)


def test_what_is_refused():
    good = votes_of(("m", "a", "ann"))
    with pytest.raises(MetricError, match="choice is none of a, b, tie"):
        match_results(votes_of(("m", "left", "ann")), matches_of("m"))
    with pytest.raises(MetricError, match="no column 'ms'"):
        match_results(good.drop("ms"), matches_of("m"))
    with pytest.raises(MetricError, match="a match is there twice"):
        match_results(good, matches_of("m", "m"))
    with pytest.raises(MetricError, match="weighting is 'some'"):
        match_results(good, matches_of("m"), weighting="some")
    with pytest.raises(MetricError, match="lacks its annotator"):
        match_results(votes_of(("m", "a", None)), matches_of("m"))


def test_no_vote_at_all_is_an_empty_table():
    found = match_results(votes_of(), matches_of("m"))
    assert found.frame.is_empty()
    assert found.left_out["matches_without_vote"] == 1


def test_nothing_is_learnt_of_people_whom_nobody_names():
    """Ann agrees in 20 of 21 matches and weighs log(25.6/3.4) = 2.02; an unknown vote log(0.7/0.3) = 0.85."""
    ids = [f"m{n}" for n in range(20)]
    votes = [(name, "a", person) for name in ids for person in ("ann", "bob", "cy")]
    rows = [*votes, ("x", "a", "ann"), ("x", "b", "unknown-1"), ("x", "b", "unknown-2")]
    weighed = match_results(votes_of(*rows), matches_of(*ids, "x"), weighting="agreement").frame
    assert weighed.filter(pl.col("match") == "x")["result"].item() == "a", "2.02 against 1.69"
    three = [*rows, ("x", "b", "unknown-3")]
    weighed = match_results(votes_of(*three), matches_of(*ids, "x"), weighting="agreement").frame
    assert weighed.filter(pl.col("match") == "x")["result"].item() == "b", "2.02 against 2.54"


def test_an_unknown_person_is_never_below_the_gold_accuracy():
    votes = votes_of(("g", "b", "unknown-1"), ("g", "b", "ann"), ("m", "a", "unknown-2"))
    found = match_results(votes, matches_of("m", "g", gold={"g": "a"}), min_gold_accuracy=0.5)
    assert found.annotators_left_out == ("ann",)
