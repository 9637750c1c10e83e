"""The laws of every source of votes, and of every service that is paid: held to them by being registered."""

from __future__ import annotations

import csv
import json
import pickle
import sqlite3
import subprocess
import sys
import webbrowser
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from fakes.rapidata_server import Rapidata, rapidata_server
from known import FIRST, KNOWN, MATCHES

from adapters.registry import VOTE_SERVICES, VOTE_SOURCES, vote_service_class, vote_source_class
from adapters.votes.page.database import open_database
from adapters.votes.page.links import Links
from adapters.votes.source import OrderedMatch, VoteOrder
from domain.errors import (
    AmbiguousError,
    DefinitionError,
    FatalError,
    ProviderError,
    QuotaError,
    TransientError,
)
from domain.known_matches import KnownMatches
from domain.matches import Match
from domain.votes import FoundVote, RejectedVote, VoteSourceName

pytestmark = pytest.mark.filterwarnings("ignore:.FieldValidationInfo. is deprecated")
"""Which the SDK of Rapidata imports."""
VOTES = "votes.sqlite"
Ballot = tuple[Match, str]
"""A match, and a, b or tie."""
sources = pytest.mark.parametrize("source", sorted(VOTE_SOURCES))
services = pytest.mark.parametrize("source", sorted(VOTE_SERVICES))


@pytest.fixture(autouse=True)
def page_here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Our own page keeps its votes in the test's folder."""
    monkeypatch.setenv("FACEDRIFT_VOTE_DATABASE_URL", f"sqlite:///{tmp_path / VOTES}")


@pytest.fixture
def rapidata(monkeypatch: pytest.MonkeyPatch) -> Iterator[Rapidata]:
    """Rapidata on this machine, and an account for it; a browser is never opened."""

    def never(*_: object, **__: object) -> bool:
        raise AssertionError("a browser was opened")

    monkeypatch.setattr(webbrowser, "open", never)
    monkeypatch.setenv("RAPIDATA_DISABLE_OTLP", "1")  # which the SDK sets as well; so it is undone
    with rapidata_server() as service:
        monkeypatch.setenv("RAPIDATA_CLIENT_ID", "client")
        monkeypatch.setenv("RAPIDATA_CLIENT_SECRET", "secret")
        monkeypatch.setenv("RAPIDATA_API_URL", service.url)
        yield service


def as_file(folder: Path, ballots: Sequence[Ballot], _: Rapidata) -> str:
    path = folder / "votes.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("match", "choice", "annotator"))
        writer.writerows((match.id, choice, n) for n, (match, choice) in enumerate(ballots))
    return str(path)


def as_label_studio(folder: Path, ballots: Sequence[Ballot], _: Rapidata) -> str:
    path = folder / "export.json"
    words = {"a": "left", "b": "right", "tie": ""}
    rows = [
        {
            "match": match.id,
            "left_is": "a",
            "pw": words.get(choice, choice),
            "annotation_id": n,
            "annotator": n,
        }
        | ({"choice": "tie"} if choice == "tie" else {})
        for n, (match, choice) in enumerate(ballots)
    ]
    path.write_text(json.dumps(rows))
    return str(path)


def as_rapidata(_: Path, ballots: Sequence[Ballot], service: Rapidata) -> str:
    service.results = {
        "info": {"type": "Compare", "version": "4.0"},
        "results": [
            {
                "privateMetadata": {"match": match.id},
                "assetUrls": {},
                "detailedResults": [
                    {
                        "votedFor": {
                            "a": f"{match.crop_a_sha256}.png",
                            "b": f"{match.crop_b_sha256}.png",
                            "tie": "Both",
                        }.get(choice, choice),
                        "userDetails": {"country": "DE", "userScores": {"global": 0.5}},
                    }
                ],
            }
            for match, choice in ballots
        ],
    }
    return "job1"


def as_page(folder: Path, ballots: Sequence[Ballot], _: Rapidata) -> str:
    """Each ballot of another voter; choices that the page itself would refuse are forced on its table."""
    if (folder / VOTES).exists():
        return "everyday"  # they are there
    database = open_database(f"sqlite:///{folder / VOTES}")
    Links(database, "everyday").invite([f"voter-{n}" for n in range(len(ballots))], 1, 1, 0)
    database.close()
    connection = sqlite3.connect(folder / VOTES)
    connection.execute("PRAGMA ignore_check_constraints = ON")
    for n, (match, choice) in enumerate(ballots, 1):
        serving = (f"serving-{n}", "nonce", n, match.id, "a", "voted", 0, 0)
        connection.execute(
            "INSERT INTO vote_servings (id, nonce, voter, match, left_side, state, drawn_ms, shown_ms) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            serving,
        )
        connection.execute(
            "INSERT INTO vote_votes (suite, serving, choice, voted_ms, ms) VALUES ('everyday', ?, ?, 9, 9)",
            (serving[0], choice),
        )
    connection.commit()
    connection.close()
    return "everyday"


GIVEN: dict[str, Callable[[Path, Sequence[Ballot], Rapidata], str]] = {
    "file": as_file,
    "label_studio": as_label_studio,
    "page": as_page,
    "rapidata": as_rapidata,
}
"""How each source is given ballots; a new source needs an entry here."""
BALLOTS: list[Ballot] = [(MATCHES[0], "a"), (MATCHES[0], "b"), (MATCHES[1], "tie"), (MATCHES[4], "b")]


def read(source: VoteSourceName, where: str, known: KnownMatches = KNOWN) -> list[FoundVote | RejectedVote]:
    return list(vote_source_class(source).build(where).read(known))


@sources
def test_ballots_become_votes(source: VoteSourceName, tmp_path: Path, rapidata: Rapidata) -> None:
    found = read(source, GIVEN[source](tmp_path, BALLOTS, rapidata))
    votes = [one.vote for one in found if isinstance(one, FoundVote)]
    assert [(vote.match, vote.choice) for vote in votes] == [(m.id, choice) for m, choice in BALLOTS]
    assert {vote.source for vote in votes} == {source}
    assert len({vote.annotator for vote in votes}) == 4


@sources
def test_the_same_ballots_are_the_same_votes_in_any_order(
    source: VoteSourceName, tmp_path: Path, rapidata: Rapidata
) -> None:
    first = read(source, GIVEN[source](tmp_path, BALLOTS, rapidata))
    again = read(source, GIVEN[source](tmp_path, BALLOTS, rapidata))
    ids = [[one.vote.id for one in found if isinstance(one, FoundVote)] for found in (first, again)]
    assert ids[0] == ids[1]
    assert len(set(ids[0])) == 4


@sources
def test_a_bad_ballot_costs_no_other(source: VoteSourceName, tmp_path: Path, rapidata: Rapidata) -> None:
    stranger = MATCHES[0].model_copy(update={"photo": "nobody"})
    ballots = [(MATCHES[0], "a"), (stranger, "a"), (MATCHES[1], "neither one"), (MATCHES[2], "b")]
    where = GIVEN[source](tmp_path, ballots, rapidata)
    found = read(source, where)
    bad = [one for one in found if isinstance(one, RejectedVote)]
    assert [one.reason for one in bad] == ["unknown_match", "bad_choice"]
    assert {one.where for one in bad} == {where}
    assert [one.vote.match for one in found if isinstance(one, FoundVote)] == [FIRST, MATCHES[2].id]


@sources
def test_nothing_to_read_is_an_error_that_says_what_to_mend(
    source: VoteSourceName, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("CLIENT_ID", "CLIENT_SECRET", "TOKEN"):
        monkeypatch.delenv(f"RAPIDATA_{name}", raising=False)
    with pytest.raises(DefinitionError, match=r"no such|RAPIDATA_CLIENT_ID"):
        read(source, str(tmp_path / "nowhere"))


def test_what_is_not_registered_says_what_is() -> None:
    with pytest.raises(DefinitionError, match="allowed: file, label_studio, page, rapidata"):
        vote_source_class("simulated")
    with pytest.raises(DefinitionError, match="allowed: rapidata"):
        vote_service_class("file")


# Services


@pytest.fixture
def order(tmp_path: Path) -> VoteOrder:
    def picture(name: str) -> Path:
        path = tmp_path / f"{name}.png"
        path.write_bytes(name.encode() * 3)
        return path

    matches = [
        OrderedMatch(m.id, picture(m.original_sha256), picture(m.crop_a_sha256), picture(m.crop_b_sha256))
        for m in MATCHES[:2]
    ]
    return VoteOrder("facedrift everyday 0123", "Which is more alike?", "global", 5, matches)


@services
def test_a_job_is_given_and_found_by_its_name(
    source: VoteSourceName, order: VoteOrder, rapidata: Rapidata
) -> None:
    service = vote_service_class(source).build()
    assert service.find(order.name) is None
    job = service.give(order)
    assert service.find(order.name) == job == "job1"
    assert service.find(order.name[:-1]) is None
    assert service.pending(job) is None
    assert len(rapidata.jobs) == 1


@services
def test_faces_are_uploaded_as_they_are_beside_the_original(
    source: VoteSourceName, order: VoteOrder, rapidata: Rapidata
) -> None:
    vote_service_class(source).build().give(order)
    assert rapidata.uploads == {
        path.name: path.read_bytes()
        for one in order.matches
        for path in (one.original, one.face_a, one.face_b)
    }
    assert all(query == {"compress": ["false"]} for query in rapidata.queries)
    for one, sent in zip(
        order.matches, sorted(rapidata.datapoints, key=lambda d: d["sortIndex"]), strict=True
    ):
        assert sent["privateMetadata"] == {"match": one.match}
        shown, context = (segment["asset"] for segment in sent["segments"])
        assert [asset["name"] for asset in shown["assets"]] == [
            f"stored-{one.face_a.name}", f"stored-{one.face_b.name}",
        ]  # fmt: skip
        assert context["name"] == f"stored-{one.original.name}"
    definition = rapidata.definitions[0]
    assert definition["referee"]["totalVotes"] == 5
    assert definition["workflow"]["rapid"]["criteria"] == {"literal": order.question}


@services
def test_a_paid_call_is_sent_once_and_is_ambiguous_when_its_answer_is_lost(
    source: VoteSourceName, order: VoteOrder, rapidata: Rapidata
) -> None:
    service = vote_service_class(source).build()
    rapidata.lose.add("POST /job")
    with pytest.raises(AmbiguousError) as raised:
        service.give(order)
    assert len(rapidata.jobs) == 1
    assert service.find(order.name) == "job1"
    assert pickle.loads(pickle.dumps(raised.value)).provider == source


@services
@pytest.mark.parametrize(
    ("call", "status", "kind"),
    [
        ("POST /connect/token", 401, FatalError),
        ("POST /connect/token", 500, TransientError),
        ("GET /audience/global", 404, FatalError),
        ("GET /audience/global", 500, TransientError),
        ("POST /asset/file", 400, TransientError),
        ("POST /job", 402, QuotaError),
        ("POST /job", 400, FatalError),
        ("POST /job", 500, AmbiguousError),
    ],
)
def test_every_failure_says_what_to_do(
    source: VoteSourceName,
    order: VoteOrder,
    rapidata: Rapidata,
    call: str,
    status: int,
    kind: type[ProviderError],
) -> None:
    rapidata.fail[call] = status
    with pytest.raises(ProviderError) as raised:
        vote_service_class(source).build().give(order)
    assert type(raised.value) is kind
    assert "secret" not in str(raised.value)
    assert rapidata.asked.count("POST /job") <= 1
    assert rapidata.jobs == []


@services
@pytest.mark.parametrize(
    ("state", "said"),
    [("Running", "is Running"), ("SpendLimited", "top it up"), ("ManualApproval", "reviews")],
)
def test_a_job_that_is_not_done_says_what_it_waits_for(
    source: VoteSourceName, rapidata: Rapidata, state: str, said: str
) -> None:
    rapidata.state = state
    assert said in (vote_service_class(source).build().pending("job1") or "")


@services
def test_a_job_that_failed_is_an_error(source: VoteSourceName, rapidata: Rapidata) -> None:
    rapidata.state = "Failed"
    with pytest.raises(FatalError, match="failed"):
        vote_service_class(source).build().pending("job1")


@services
def test_an_answer_that_nobody_knows_is_an_error(source: VoteSourceName, rapidata: Rapidata) -> None:
    rapidata.state = "Dreaming"
    with pytest.raises(FatalError, match="update facedrift"):
        vote_service_class(source).build().pending("job1")


@services
@pytest.mark.parametrize("results", [[], {}, {"results": 7}, "x"])
def test_results_of_another_shape_are_an_error(
    source: VoteSourceName, rapidata: Rapidata, results: Any
) -> None:
    rapidata.results = "x" if results == b"x" else results
    with pytest.raises(TransientError, match="results"):
        read(source, "job1")


@services
def test_answers_that_are_missing_or_on_other_matches_are_said(
    source: VoteSourceName, rapidata: Rapidata
) -> None:
    rapidata.results = {
        "results": [7, {"privateMetadata": {"match": "x"}}, {"privateMetadata": {"match": FIRST}}]
    }
    found = read(source, "job1")
    assert [one.reason for one in found if isinstance(one, RejectedVote)] == [
        "unknown_match", "unknown_match", "no_votes",
    ]  # fmt: skip


@services
def test_nobody_is_told_and_nothing_is_asked_but_the_service(
    source: VoteSourceName, rapidata: Rapidata
) -> None:
    """No look for a newer version, no telemetry, no look at who the user is."""
    vote_service_class(source).build().find("a job")
    assert rapidata.asked == ["POST /connect/token", "GET /jobs"]


@services
def test_a_token_takes_the_place_of_an_account(
    source: VoteSourceName, rapidata: Rapidata, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RAPIDATA_CLIENT_ID")
    monkeypatch.delenv("RAPIDATA_CLIENT_SECRET")
    monkeypatch.setenv("RAPIDATA_TOKEN", "a-token")
    vote_service_class(source).build().find("a job")
    assert rapidata.asked == ["GET /jobs"]


def test_what_is_used_of_the_sdk_that_is_private_is_there() -> None:
    """Where one of these is gone, `adapters.votes.rapidata_client` needs another way."""
    import rapidata as sdk
    from rapidata.api_client import rest
    from rapidata.service.openapi_service import OpenAPIService

    assert isinstance(rest._TRANSIENT_RETRY_MAX_ATTEMPTS, int)
    for name in ("_check_version", "_check_beta_features"):
        assert callable(getattr(sdk.RapidataClient, name))
    assert "api_client" in OpenAPIService.__init__.__code__.co_names


WITHOUT_SDK = """
import sys
sys.modules["rapidata"] = None
from adapters.registry import vote_service_class
from domain.errors import DefinitionError
import importlib.util
real = importlib.util.find_spec
import adapters.votes.rapidata_client as client
client.find_spec = lambda name: None if name == "rapidata" else real(name)
try:
    vote_service_class("rapidata").build()
except DefinitionError as error:
    print(error)
"""


def test_without_the_package_its_extra_is_named() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_SDK], capture_output=True, text=True, check=True,
        cwd=Path(__file__).parents[2], env={"PYTHONPATH": str(Path(__file__).parents[2])},
    )  # fmt: skip
    assert done.stdout.strip() == "Rapidata needs its package: uv sync --extra rapidata"
