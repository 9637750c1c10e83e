"""500 votes while the server is killed again and again: what was answered is kept, and nothing twice."""

from __future__ import annotations

import random
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest
from matches import some_matches
from servers.postgres import postgres
from servers.voting_site import Site, voting_site

pytestmark = [pytest.mark.integration, pytest.mark.timeout(600)]

VOTERS, VOTES_EACH, MATCHES, KILLS = 5, 100, 110, 4
JSON = {"Accept": "application/json"}


@dataclass
class Told:
    """What clients were told: the answer to each serving that was acknowledged."""

    answers: dict[str, str] = field(default_factory=dict)
    lost: set[str] = field(default_factory=set)
    """Servings whose vote was sent and never answered."""
    lock: threading.Lock = field(default_factory=threading.Lock)


@pytest.fixture(params=["sqlite", "postgres"])
def site(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Site]:
    if request.param == "sqlite":
        yield from _running(tmp_path, "")
        return
    pytest.importorskip("psycopg", reason="the extra `vote` is not installed")
    with postgres() as url:
        yield from _running(
            tmp_path, url.replace("postgresql+asyncpg://postgres:@", "postgresql://postgres@")
        )


def _running(folder: Path, database_url: str) -> Iterator[Site]:
    found = voting_site(folder, *some_matches(MATCHES), database_url)
    try:
        found.start()
        yield found
    finally:
        found.close()


def vote_all(site: Site, link: str, told: Told, seed: int) -> None:
    """Vote until the page says that it was enough, through any number of broken connections."""
    rng = random.Random(seed)
    headers = JSON | {"Origin": site.base}
    with httpx.Client(headers=headers, timeout=30) as client:
        while True:
            try:
                table = client.get(link).raise_for_status().json()
                while (serving := table["serving"]) is not None:
                    answer = rng.choice(("left", "right", "tie"))
                    form = {"serving": serving["id"], "nonce": serving["nonce"], "choice": answer}
                    with told.lock:
                        told.lost.add(serving["id"])
                    reply = client.post(f"{link}/cast", data=form).raise_for_status()
                    with told.lock:
                        told.answers[serving["id"]] = answer
                        told.lost.discard(serving["id"])
                    table = reply.json()
            except httpx.TransportError:
                time.sleep(0.05)
            else:
                return


def test_no_answered_vote_is_lost_and_none_counts_twice(site: Site) -> None:
    told = Told()
    links = [site.invite(f"voter-{number}", VOTES_EACH) for number in range(VOTERS)]
    with ThreadPoolExecutor(VOTERS) as pool:
        voting = [pool.submit(vote_all, site, link, told, seed) for seed, link in enumerate(links)]
        for kill in range(1, KILLS + 1):
            while len(told.answers) < kill * VOTERS * VOTES_EACH // (KILLS + 1):
                assert not [one for one in voting if one.done() and one.exception()]
                time.sleep(0.005)
            site.kill()
            site.start()
        for one in voting:
            one.result()
    votes = site.votes()
    by_serving = {vote.source_id: vote for vote in votes}
    assert len(by_serving) == len(votes) == VOTERS * VOTES_EACH
    assert len({(vote.annotator, vote.match) for vote in votes}) == len(votes)
    sides = {
        serving: "tie" if vote.choice == "tie" else "left" if vote.choice == vote.left else "right"
        for serving, vote in by_serving.items()
    }
    assert {serving: sides.get(serving) for serving in told.answers} == told.answers
    assert set(by_serving) - set(told.answers) <= told.lost  # committed, and the answer was cut off
    assert len(told.lost) <= KILLS * VOTERS
    assert site.stop(signal.SIGTERM) == 0
    assert f"stopped with {len(votes)} votes by {VOTERS} of {VOTERS} voters" in site.log.read_text()
