"""A crowd that is made up: marked as such, the same for the same seed, and out of people's rankings."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from matched_runs import VotedRun, a_voted_run, make_matches
from vote_stores import a_vote, store_votes

from adapters.base import ObjectStore
from adapters.stores.local import LocalStore
from domain.crowds import CrowdRules
from domain.errors import DefinitionError, StoreError
from domain.matches import MatchSet
from domain.vote_requests import SimulateRequest
from domain.votes import VoteRules, VotesCollected
from tasks import match_tables, vote_store
from tasks.ballots import ballot_of, find_ballot
from tasks.vote_collecting import account, collections
from tasks.vote_notices import notice_of
from tasks.vote_simulating import simulate

STRENGTHS = {"m0": 3.0, "m1": 0.0, "m2": -3.0}
RULES = VoteRules(gold_share=0.25, gold_first=1)


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ObjectStore:
    monkeypatch.setenv("FACEDRIFT_STORE", str(tmp_path / "store"))
    return LocalStore(tmp_path / "store", fsync=False)


@pytest.fixture
def made(store: ObjectStore) -> VotedRun:
    return a_voted_run(store, people=4, rules=RULES)


@pytest.fixture
def matches(made: VotedRun) -> MatchSet:
    return make_matches(made)


def vote(store: ObjectStore, strengths: dict[str, float] = STRENGTHS, **crowd: object) -> VotesCollected:
    rules = CrowdRules.model_validate({"annotators": 20, "votes_per_match": 5, **crowd})
    return simulate(SimulateRequest(suite="quickstart", strengths=strengths, crowd=rules), store)


def test_votes_are_marked_and_the_truth_is_kept(matches: MatchSet, store: ObjectStore) -> None:
    done = vote(store)
    assert (done.new, done.read, done.n_rejected) == (5 * (18 - 6 + 3), 75, 0), "12 matches and 3 known ones"
    votes = vote_store.stored("quickstart", store)
    assert votes["source"].unique().to_list() == ["simulated"]
    assert votes["at"].null_count() == votes.height, "nobody voted at any time"
    assert votes["annotator"].str.starts_with(f"{done.where}:").all()
    assert done.crowd is not None
    assert dict(done.crowd.strengths) == STRENGTHS
    assert done.crowd.measured == ()
    assert "SIMULATED: nobody voted; the crowd's strengths are m0=3.000, m1=0.000, m2=-3.000" in account(done)
    assert collections("quickstart", store) == [done]


def test_the_same_crowd_again_adds_and_writes_nothing(matches: MatchSet, store: ObjectStore) -> None:
    first = vote(store)
    before = sorted(store.list("votes/"))
    again = vote(store)
    assert (again.new, again.known) == (0, first.new)
    assert sorted(store.list("votes/")) == before
    for key in list(store.list("votes/quickstart/parts/")):
        store.delete(key)
    assert vote(store).new == first.new, "what is lost comes back"
    other = vote(store, seed=1)
    assert (other.new, other.where == first.where) == (first.new, False)
    assert vote(store, {**STRENGTHS, "m0": 2.0}).new == first.new


def test_the_strong_win_and_known_answers_have_an_error_of_their_own(
    matches: MatchSet, store: ObjectStore
) -> None:
    vote(store, annotators=200, votes_per_match=99, errors=0, random_share=0, ties=0, gold_errors=0.3)
    held = vote_store.read_votes("quickstart", matches, store).votes
    table = match_tables.read_matches(matches, store).rename({"id": "match"})
    told = held.join(table, on="match")
    gold = told.filter(pl.col("gold").is_not_null())
    assert (gold["choice"] == gold["gold"]).mean() == pytest.approx(0.7, abs=0.08), "297 votes"
    first = told.filter((pl.col("model_a") == "m0") & (pl.col("model_b") == "m2"))
    assert (first["choice"] == "a").mean() == pytest.approx(1 / (1 + 2.718281828**-6), abs=0.02)
    left = told.filter(pl.col("left") == "a").height / told.height
    assert left == pytest.approx(0.5, abs=0.05)


def test_people_are_never_mixed_with_a_crowd(made: VotedRun, matches: MatchSet, store: ObjectStore) -> None:
    n = vote(store).new
    crowd = ballot_of(made.run, store)
    assert crowd.voters == "a simulated crowd"
    assert (crowd.read.votes.height, crowd.read.simulated_left_out) == (n, 0)
    [truth] = crowd.truths
    assert "m0=3.000" in truth
    assert "seed 0" in truth
    [match] = match_tables.read_matches(matches, store).filter(pl.col("gold").is_null())["id"].head(1)
    store_votes("quickstart", [a_vote(match, "a", "ann")], store)
    people = ballot_of(made.run, store)
    assert (people.voters, people.read.votes.height, people.read.simulated_left_out) == ("people", 1, n)
    assert people.truths == []
    assert people.digest != crowd.digest


def test_a_vote_of_a_person_on_other_matches_is_enough(
    made: VotedRun, matches: MatchSet, store: ObjectStore
) -> None:
    n = vote(store).new
    store_votes("quickstart", [a_vote("0" * 64, "a", "ann")], store)
    assert find_ballot(made.run, store) is None
    with pytest.raises(StoreError, match=f"but {n} simulated ones, which do not count"):
        ballot_of(made.run, store)


def test_a_suite_may_have_simulated_votes_never_count(store: ObjectStore) -> None:
    made = a_voted_run(store, people=2, rules=RULES.model_copy(update={"simulated": "never"}))
    make_matches(made)
    vote(store)
    assert find_ballot(made.run, store) is None


def test_a_notice_is_loud() -> None:
    facts = {"simulated_votes": "75", "simulated_votes_left_out": "0", "simulated_crowds": "c: m0=3"}
    [loud] = notice_of(facts)
    assert loud.startswith("SIMULATED VOTES: all 75 votes")
    assert loud.endswith("c: m0=3")
    [quiet] = notice_of({"simulated_votes": "0", "simulated_votes_left_out": "75"})
    assert quiet == "75 simulated votes are left out: this ranking is by people only"
    assert notice_of({"simulated_votes": "0", "simulated_votes_left_out": "0"}) == ()
    assert notice_of({"votes": "3"}) == (), "of an older ranking"


def test_what_cannot_be_simulated_is_said(made: VotedRun, store: ObjectStore) -> None:
    with pytest.raises(StoreError, match="facedrift matches make"):
        vote(store)
    make_matches(made)
    with pytest.raises(DefinitionError, match="'flux' meets nobody") as caught:
        vote(store, {"flux": 1.0})
    assert caught.value.allowed == ("m0", "m1", "m2")
    with pytest.raises(ValueError, match="together above 1"):
        CrowdRules(random_share=0.6, left_share=0.5)
    with pytest.raises(ValueError, match="need as many voters"):
        CrowdRules(annotators=2, votes_per_match=3)
