"""The tables of a ranking, out of stored matches and votes."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from pathlib import Path

import polars as pl
import pytest
from vote_stores import a_match, a_vote, store_matches, store_votes

from adapters.stores.local import LocalStore
from domain.errors import DefinitionError, StoreError
from domain.matches import Match
from domain.runs import RunPlan
from domain.votes import ANONYMOUS, VoteRules, VotesCollected
from tasks.ballots import Ballot, ballot_of, salt_of
from tasks.match_tables import read_matches
from tasks.ranking_tables import RANKING_TABLES, facts, pseudonymous, ranking_tables
from tasks.vote_store import VotesRead, read_votes

PHOTOS = [f"photo-{number}" for number in range(6)]
MODELS = ("flux", "qwen", "seed", "slow")


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path, fsync=False)


@pytest.fixture
def matches() -> list[Match]:
    made = [a_match(photo, photo, a, b) for photo in PHOTOS for a, b in combinations(MODELS, 2)]
    return [*made, a_match("gold", "gold", "flux", "stranger", gold="a")]


@pytest.fixture
def ballot(matches: list[Match], store: LocalStore) -> Ballot:
    """Ann prefers the first in the alphabet but on photo 0; bob votes blindly on some; both do on gold."""
    made = store_matches("drift", "run-1", matches, store)
    ann = [
        a_vote(m.id, "b" if m.photo == PHOTOS[0] else "a", "ann@example.org", left="ab"[k % 2], ms=2000)
        for k, m in enumerate(matches)
    ]
    bob = [a_vote(m.id, "b", "bob", source="page", ms=90) for m in matches[::6]]
    again = a_vote(matches[0].id, "a", "ann@example.org", at="2026-11-30T13:00:00+00:00", source_id="again")
    store_votes("drift", ann, store)
    store_votes("drift", [*bob, again, a_vote("0" * 64, "a", "bob")], store)
    rules = VoteRules(resamples=200, min_gold_accuracy=None)
    return Ballot(rules, made, read_matches(made, store), read_votes("drift", made, store), "salt")


@pytest.fixture
def scored(matches: list[Match]) -> dict[str, pl.DataFrame]:
    """Slow completed too few; FSS falls along the alphabet, and was not found for seed on photo 1."""
    steps = [
        (model, photo, photo, step, 0.9 - 0.1 * rank - 0.01 * step)
        for rank, model in enumerate(MODELS)
        for photo in PHOTOS
        for step in (2, 1)
    ]
    lost = (pl.col("model") == "seed") & (pl.col("photo") == PHOTOS[1])
    table = pl.DataFrame(steps, schema=["model", "photo", "session", "step", "fss"], orient="row")
    dimensions = {"edit_target": "text", "people": "1", "face_size": "small", "photo_shape": "square"}
    chains = [
        {"photo": photo, "session": photo, **dimensions, "view": ("half", "full")[number % 2]}
        for number, photo in enumerate(PHOTOS)
    ]
    return {
        "steps": table.with_columns(pl.when(~lost).then("fss").alias("fss")),
        "completion": pl.DataFrame({"model": MODELS, "ranked": [True, True, True, False]}),
        "chains": pl.DataFrame(chains),
    }


def facts_of(tables: dict[str, pl.DataFrame]) -> dict[str, str]:
    return dict(tables["vote_facts"].iter_rows())


def test_a_ranking_has_all_its_tables_and_leaves_out_who_is_not_ranked(ballot: Ballot, scored) -> None:
    tables = ranking_tables(ballot, scored)
    assert set(tables) == set(RANKING_TABLES)
    board = tables["ranking"].filter(pl.col("dimension") == "all")
    assert board["model"].to_list() == ["qwen", "flux", "seed"], "8.5, 7.5 and 2 wins of 12"
    assert board["n_matches"].to_list() == [12, 12, 12]
    assert board["rating"].is_sorted(descending=True)
    values = tables["ranking"].select("dimension", "value").unique(maintain_order=True).rows()
    assert values == [
        ("all", "all"), ("edit_target", "text"), ("people", "1"), ("face_size", "small"),
        ("photo_shape", "square"), ("view", "half"), ("view", "full"),
    ]  # fmt: skip
    assert set(tables["matchups"]["model"]) == {"flux", "qwen", "seed"}
    told = facts_of(tables)
    assert told["models_not_ranked"] == "slow"
    assert told["matches_of_models_not_ranked"] == "18"


def test_results_show_what_was_seen_and_how_similar_it_was(
    ballot: Ballot, scored, matches: list[Match]
) -> None:
    results = ranking_tables(ballot, scored)["match_results"]
    assert results.height == 36, "gold matches are none"
    row = results.filter(pl.col("match") == matches[0].id).row(0, named=True)
    assert (row["model_a"], row["model_b"], row["result"]) == ("flux", "qwen", "b")
    assert (row["votes_a"], row["votes_b"], row["votes_tie"]) == (0, 2, 0)
    assert (row["fss_a"], row["fss_b"]) == pytest.approx((0.88, 0.78)), "of the last step"
    assert row["crop_a_sha256"] == matches[0].crop_a_sha256
    assert row["original_sha256"] == matches[0].original_sha256
    unseen = results.filter((pl.col("photo") == PHOTOS[1]) & (pl.col("model_a") == "seed"))
    assert unseen["fss_a"].to_list() == [None]


def test_fss_beside_the_people(ballot: Ballot, scored) -> None:
    """It prefers the first: 6 upsets on photo 0, 5 ties that bob makes, 3 matches without a face."""
    row = ranking_tables(ballot, scored)["metric_agreement"].row(0, named=True)
    assert (row["n_matches"], row["agree"], row["ties"], row["unknown"]) == (36, 22, 5, 3)
    assert row["share"] == pytest.approx(22 / 28)


def test_people_are_published_under_pseudonyms(ballot: Ballot, scored) -> None:
    tables = ranking_tables(ballot, scored)
    people = tables["annotators"]
    assert people["n_votes"].to_list() == [37, 7]
    assert people["flags"].to_list()[1] == ["too_fast"]
    for table in tables.values():
        assert "ann@" not in table.write_json()
        assert '"bob"' not in table.write_json()
    names = pseudonymous(ballot.read.votes, "salt")["annotator"].unique()
    assert set(people["annotator"]) == set(names)
    assert all(len(name) == 12 for name in names)
    assert not set(names) & set(pseudonymous(ballot.read.votes, "other")["annotator"])


def test_one_name_in_two_sources_is_two_people(ballot: Ballot) -> None:
    votes = ballot.read.votes.with_columns(annotator=pl.lit("sam"))
    assert pseudonymous(votes, "salt")["annotator"].n_unique() == 2


def test_the_facts_say_what_was_done_and_left_out(ballot: Ballot, scored) -> None:
    told = facts_of(ranking_tables(ballot, scored))
    expected = {
        "version": "2", "question": "Which face looks more like the original?", "weighting": "none",
        "min_gold_accuracy": "none", "resamples": "200", "strategy": "least_judged",
        "match_strategy": "least_judged",
        "matches": "37", "matches_gold": "1", "matches_with_result": "36", "matches_without_vote": "0",
        "votes": "44", "votes_from_file": "37", "votes_from_page": "7", "votes_repeated": "1",
        "votes_on_unknown_matches": "1", "votes_on_gold_matches": "2",
        "votes_of_annotators_below_gold_accuracy": "0", "annotators": "2", "annotators_left_out": "0",
        "votes_of_unknown_annotators": "0", "voters": "people", "simulated_votes": "0",
        "simulated_votes_left_out": "0", "simulated_crowds": "none", "votes_digest": ballot.read.digest,
    }  # fmt: skip
    assert {name: told[name] for name in expected} == expected


def test_the_filter_is_stated(ballot: Ballot, scored) -> None:
    rules = ballot.rules.model_copy(update={"min_gold_accuracy": 0.5})
    strict = Ballot(rules, ballot.match_set, ballot.matches, ballot.read, ballot.salt)
    tables = ranking_tables(strict, scored)
    told = facts_of(tables)
    assert (told["min_gold_accuracy"], told["annotators_left_out"]) == ("0.5", "1")
    assert told["votes_of_annotators_below_gold_accuracy"] == "6"
    assert tables["annotators"]["flags"].to_list() == [[], ["too_fast", "below_gold_accuracy"]]
    assert tables["match_results"]["votes_b"].sum() == 6


def test_without_chains_and_completion_there_is_one_board_of_all(ballot: Ballot, scored) -> None:
    tables = ranking_tables(ballot, {"steps": scored["steps"]})
    assert tables["ranking"]["dimension"].unique().to_list() == ["all"]
    assert tables["ranking"].height == 4
    assert facts_of(tables)["models_not_ranked"] == ""


def test_nobody_ranked_and_votes_on_gold_only_are_empty_boards(ballot: Ballot, scored) -> None:
    nobody = {**scored, "completion": pl.DataFrame({"model": MODELS, "ranked": [False] * 4})}
    tables = ranking_tables(ballot, nobody)
    assert tables["ranking"].is_empty()
    assert tables["matchups"].is_empty()
    assert tables["match_results"].height == 36
    votes = ballot.read.votes.filter("is_gold")
    golden = Ballot(ballot.rules, ballot.match_set, ballot.matches, VotesRead(votes, 0, 0, "d"), ballot.salt)
    tables = ranking_tables(golden, scored)
    assert {name: table.height for name, table in tables.items() if name != "vote_facts"} == {
        "ranking": 0, "matchups": 0, "match_results": 0, "annotators": 2, "vote_agreement": 4,
        "metric_agreement": 1,
    }  # fmt: skip
    assert dict(tables["vote_agreement"].select("name", "value").iter_rows())["gold_accuracy"] == 0.5


def test_the_salt_is_drawn_once(store: LocalStore) -> None:
    drawn = salt_of("drift", store)
    assert len(drawn) == 32
    assert salt_of("drift", store) == drawn
    assert salt_of("other", store) != drawn


def test_what_is_missing_is_said(a_run: RunPlan, store: LocalStore, matches: list[Match]) -> None:
    with pytest.raises(DefinitionError, match="give it `votes:`"):
        ballot_of(a_run, store)
    voted = a_run.model_copy(update={"suite": a_run.suite.model_copy(update={"votes": VoteRules()})})
    with pytest.raises(StoreError, match="no matches were made of the run"):
        ballot_of(voted, store)
    made = store_matches(voted.suite.id, voted.id, matches, store)
    with pytest.raises(StoreError, match="no votes on the 37 matches"):
        ballot_of(voted, store)
    store_votes(voted.suite.id, [a_vote(matches[0].id, "a", "ann")], store)
    assert ballot_of(voted, store).read.votes.height == 1
    store.delete(made.table)
    with pytest.raises(StoreError, match="gone from the store"):
        ballot_of(voted, store)


def test_facts_are_a_table_of_text(ballot: Ballot) -> None:
    from metrics.ranking_frames import MATCHES, VOTES
    from metrics.vote_majorities import match_results

    found = match_results(ballot.read.votes.select(VOTES.names()), ballot.matches.select(MATCHES.names()))
    table = facts(ballot, found, ["slow", "worse"], 3)
    assert table.schema == {"name": pl.String, "value": pl.String}
    assert table["name"].is_unique().all()
    assert dict(table.iter_rows())["models_not_ranked"] == "slow, worse"


def a_collection(source: str, where: str, n_rejected: int, at: str) -> VotesCollected:
    return VotesCollected.model_validate(
        {
            "suite": "drift", "source": source, "where": where, "run_id": "run-1", "at": at,
            "read": 9, "new": 0, "known": 9 - n_rejected, "n_rejected": n_rejected,
        }
    )  # fmt: skip


def test_rejected_rows_are_stated_by_source(ballot: Ballot, scored) -> None:
    """Of a file that was collected twice, those of the later time."""
    collected = [
        a_collection("file", "one.csv", 4, "2026-11-30T12:00:00+00:00"),
        a_collection("file", "one.csv", 1, "2026-11-30T13:00:00+00:00"),
        a_collection("file", "two.csv", 2, "2026-11-30T12:30:00+00:00"),
        a_collection("page", "votes", 0, "2026-11-30T12:30:00+00:00"),
    ]
    told = facts_of(ranking_tables(replace(ballot, collected=collected), scored))
    assert (told["rejected_from_file"], told["rejected_from_page"]) == ("3", "0")


def test_unknown_people_are_counted_and_are_no_annotators(
    matches: list[Match], store: LocalStore, scored
) -> None:
    made = store_matches("drift", "run-1", matches, store)
    votes = [a_vote(m.id, "a", f"{ANONYMOUS}{n}") for n, m in enumerate(matches)]
    store_votes("drift", [*votes, a_vote(matches[0].id, "a", "ann")], store)
    held = Ballot(
        VoteRules(resamples=200), made, read_matches(made, store), read_votes("drift", made, store), "salt"
    )
    tables = ranking_tables(held, scored)
    told = facts_of(tables)
    assert (told["votes"], told["votes_of_unknown_annotators"], told["annotators"]) == ("38", "37", "1")
    assert tables["annotators"]["n_votes"].to_list() == [1]


def test_the_same_votes_on_another_run_of_the_same_pictures_are_the_same_facts(
    ballot: Ballot, matches: list[Match], store: LocalStore, scored
) -> None:
    later = store_matches("drift", "run-2", matches[::-1], store)
    other = replace(
        ballot, match_set=later, matches=read_matches(later, store), read=read_votes("drift", later, store)
    )
    assert facts_of(ranking_tables(other, scored)) == facts_of(ranking_tables(ballot, scored))
