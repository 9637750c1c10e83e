"""From a finished run to its votes: matches, a file of votes, and a paid job that is given once."""

from __future__ import annotations

import asyncio
import webbrowser
from collections.abc import Iterator
from pathlib import Path

import pytest
from fakes.rapidata_server import Rapidata, rapidata_server
from matched_runs import VotedRun, a_voted_run

from domain.errors import DefinitionError, StoreError
from domain.matches import Match, MatchSet
from domain.vote_requests import CollectRequest, MatchesRequest
from domain.votes import VoteRules, VotesCollected
from flows.collect_votes import collect_votes
from flows.make_matches import make_matches
from tasks import match_tables, vote_store, wiring

pytestmark = [
    pytest.mark.flow,
    pytest.mark.filterwarnings("ignore:.FieldValidationInfo. is deprecated"),  # in the SDK of Rapidata
]
SUITE = "quickstart"


@pytest.fixture
def made(home: Path) -> VotedRun:
    return a_voted_run(wiring.store(), people=2, models=2, rules=VoteRules(gold_share=0.0, gold_first=1))


def make(**fields: object) -> MatchSet:
    return asyncio.run(make_matches(MatchesRequest.model_validate({"suite": SUITE, **fields})))


def collect(**fields: object) -> VotesCollected:
    base = {"suite": SUITE, "approve_above_usd": None}
    return asyncio.run(collect_votes(CollectRequest.model_validate({**base, **fields})))


def matches_of(found: MatchSet) -> list[Match]:
    return list(match_tables.matches_of(match_tables.read_matches(found, wiring.store())))


def test_matches_are_made_once(made: VotedRun) -> None:
    found = make()
    assert (found.n_matches, found.n_gold, found.run_id) == (2, 1, made.run.id)
    before = sorted(wiring.store().list("crops/"))
    assert make() == make(run=made.run.id) == found
    assert sorted(wiring.store().list("crops/")) == before


def test_a_file_of_votes(made: VotedRun, home: Path) -> None:
    found = make()
    file = home / "votes.csv"
    rows = [f"{match.id},a,ann" for match in matches_of(found)]
    file.write_text(
        "\n".join(("match,choice,annotator", *rows, "x,a,ann", f"{matches_of(found)[0].id},c,bob"))
    )
    done = collect(source="file", path=str(file))
    assert (done.read, done.new, done.n_rejected) == (5, 3, 2)
    assert [(one.line, one.reason) for one in done.rejected] == [(5, "unknown_match"), (6, "bad_choice")]
    again = collect(source="file", path=str(file))
    assert (again.new, again.known, again.n_rejected) == (0, 3, 2)
    votes = vote_store.read_votes(SUITE, found, wiring.store()).votes
    assert (votes.height, votes["is_gold"].sum()) == (3, 1)


def test_what_is_missing_is_said_before_anything_runs(made: VotedRun, home: Path) -> None:
    (home / "votes.csv").write_text("match,choice,annotator\n")
    with pytest.raises(StoreError, match="facedrift matches make quickstart"):
        collect(source="file", path=str(home / "votes.csv"))
    make()
    with pytest.raises(DefinitionError, match="no such file"):
        collect(source="file", path=str(home / "nowhere.csv"))
    with pytest.raises(DefinitionError, match="RAPIDATA_CLIENT_ID"):
        collect(source="rapidata", price_usd=0.01, job="job1")


@pytest.fixture
def rapidata(monkeypatch: pytest.MonkeyPatch) -> Iterator[Rapidata]:
    def never(*_: object, **__: object) -> bool:
        raise AssertionError("a browser was opened")

    monkeypatch.setattr(webbrowser, "open", never)
    monkeypatch.setenv("RAPIDATA_DISABLE_OTLP", "1")
    with rapidata_server() as service:
        monkeypatch.setenv("RAPIDATA_CLIENT_ID", "client")
        monkeypatch.setenv("RAPIDATA_CLIENT_SECRET", "secret")
        monkeypatch.setenv("RAPIDATA_API_URL", service.url)
        yield service


def test_a_paid_job_is_given_once_and_read_when_it_is_done(made: VotedRun, rapidata: Rapidata) -> None:
    matches = matches_of(make())
    rapidata.state = "Running"
    with pytest.raises(DefinitionError, match="what one response costs"):
        collect(source="rapidata")
    assert rapidata.jobs == []
    first = collect(source="rapidata", price_usd=0.02, responses=2)
    assert (first.new, first.cost_usd, first.where) == (0, pytest.approx(0.12), "job1")
    assert "is Running" in (first.pending or "")
    assert len(rapidata.datapoints) == 3
    rapidata.state = "Completed"
    rapidata.results = {
        "results": [
            {
                "privateMetadata": {"match": match.id},
                "detailedResults": [{"votedFor": f"{sha}.png"} for sha in (match.crop_b_sha256,) * 2],
            }
            for match in matches
        ]
    }
    done = collect(source="rapidata", responses=2)
    assert (done.new, done.anonymous, done.cost_usd, done.pending) == (6, 6, 0.0, None)
    assert (collect(source="rapidata", responses=2).new, len(rapidata.jobs)) == (0, 1)
