"""`facedrift vote serve` as a process of its own, over a store with matches; it can be killed."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import httpx
from chains import a_dataset, a_plan, sessions_of

from adapters.stores.local import LocalStore
from adapters.votes.page.database import Database, open_database
from adapters.votes.page.links import Links
from adapters.votes.page.source import PageVotes
from domain import keys
from domain.matches import Match, MatchSet
from domain.votes import Vote, VoteRules
from tasks import ledger, match_tables

ROOT = Path(__file__).parents[2]
SUITE = "faces-demo"
STARTS_WITHIN_S = 120.0
_SUITE_FILE = """\
id: faces-demo
title: "Faces to vote on"
dataset: {id: packaged-faces, adapter: packaged_faces}
taxonomy: face-edit-attributes
session_set: face-edit-sessions
models: [control-unchanged]
embedder: {pack: mobile}
votes: {gold_first: 1, gold_share: 0.0}
"""


@dataclass
class Site:
    """A store with matches, the page's database, and the process that serves them."""

    folder: Path
    database_url: str
    port: int
    environment: dict[str, str]
    database: Database
    process: subprocess.Popen[bytes] | None = field(default=None)

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def log(self) -> Path:
        return self.folder / "serve.log"

    def start(self) -> None:
        command = [sys.executable, "-m", "flows.cli", "vote", "serve", SUITE, "--port", str(self.port)]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                command, env=self.environment, stdout=log, stderr=log, cwd=self.folder
            )
        self.ready()

    def ready(self) -> None:
        """Return once it answers."""
        deadline = time.monotonic() + STARTS_WITHIN_S
        while time.monotonic() < deadline:
            assert self.process is not None
            assert self.process.poll() is None, self.log.read_text()
            try:
                if httpx.get(f"{self.base}/healthz", timeout=5).is_success:
                    return
            except httpx.TransportError:
                time.sleep(0.1)
        raise AssertionError(f"the voting page did not come up:\n{self.log.read_text()}")

    def kill(self) -> None:
        """SIGKILL."""
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def stop(self, number: int = signal.SIGINT) -> int:
        """End it as Ctrl-C does; its exit code."""
        assert self.process is not None
        self.process.send_signal(number)
        return self.process.wait(60)

    def close(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.kill()
        self.database.close()

    def invite(self, name: str, wanted: int = 100) -> str:
        """A new voter's link."""
        [made] = Links(self.database, SUITE).invite([name], wanted, 1, _now_ms())
        return f"{self.base}/vote/{made.token}"

    def revoke(self, name: str) -> None:
        assert Links(self.database, SUITE).revoke(name, _now_ms()) == 1

    def votes(self) -> list[Vote]:
        return [one.vote for one in PageVotes(self.database, SUITE).votes()]


def voting_site(
    folder: Path, matches: Sequence[Match], pictures: Mapping[str, bytes], database_url: str = ""
) -> Site:
    """A site that is not started yet."""
    suites = folder / "definitions" / "suites"
    suites.mkdir(parents=True)
    (suites / f"{SUITE}.yaml").write_text(_SUITE_FILE)
    store = LocalStore(folder / "store")
    for sha, data in pictures.items():
        store.put_new(keys.image(sha, "png"), data)
    _keep_run(store, matches)
    url = database_url or f"sqlite:///{folder / 'votes.sqlite'}"
    port = _free_port()
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "FACEDRIFT_STORE": str(folder / "store"),
        "FACEDRIFT_DEFINITIONS": str(folder / "definitions"),
        "FACEDRIFT_VOTE_DATABASE_URL": url,
        "FACEDRIFT_VOTE_BASE_URL": f"http://127.0.0.1:{port}",
    }
    return Site(folder, url, port, environment, open_database(url))


def _keep_run(store: LocalStore, matches: Sequence[Match]) -> None:
    run = a_plan(a_dataset(1), sessions_of([["Add a wool hat"]]))
    suite = run.suite.model_copy(update={"id": SUITE, "votes": VoteRules(gold_first=1, gold_share=0.0)})
    run = run.model_copy(update={"suite": suite})
    ledger.write_new(store, keys.run(run.id), run)
    store.put(keys.newest_run(SUITE), run.id.encode())
    data = match_tables.encode(matches)
    table = keys.matches_table(SUITE, keys.sha256(data))
    store.put_new(table, data)
    n_gold = sum(match.gold is not None for match in matches)
    made = MatchSet(
        suite=SUITE, run_id=run.id, table=table, n_matches=len(matches) - n_gold, n_gold=n_gold,
        strategy="least_judged", seed=0,
    )  # fmt: skip
    ledger.write_new(store, keys.match_set(SUITE, run.id), made)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
