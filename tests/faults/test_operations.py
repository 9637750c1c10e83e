"""A suite over a real server on Postgres, two pools with workers and a real S3 store, each of them killed.

The providers are played by the stand-in, whose counts say what was paid. What an operator does in Prefect's
UI is done through its API.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest
from faults.rehearsing import ROOT, own_environment, write_suite
from servers.postgres import postgres
from servers.prefect_stack import Api, PrefectServer, Process, Worker, stack_environment
from servers.s3_endpoint import free_ports
from servers.seaweedfs import seaweedfs

from domain import keys
from domain.runs import RunSummary
from tasks import ledger, wiring
from tasks.planning import newest_run
from tasks.rehearsing import rehearsal_environment

pytestmark = pytest.mark.integration

MODELS = ["flux-1-kontext-pro", "p-image-edit"]
SESSIONS = ["hair_001", "accessories_001"]
PHOTOS = 3
STEPS = len(MODELS) * len(SESSIONS) * PHOTOS * 4
REQUEST: dict[str, Any] = {
    "suite": "small", "images": PHOTOS, "rehearse": True, "approve_above_usd": None, "shards_at_once": 2,
    "concurrency": 2,
}  # fmt: skip


@dataclass
class Stack:
    """Everything that an installation has."""

    api: Api
    server: PrefectServer
    edits: Worker
    gpu: Worker
    standin: Process
    standin_url: str

    def accepted(self) -> int:
        """How many jobs were paid so far."""
        return sum(count["accepted"] for count in self.counts().values())

    def counts(self) -> dict[str, Any]:
        return httpx.get(f"{self.standin_url}/standin/counts", timeout=30).json()

    def until(self, what: str, holds: Callable[[], bool], within_s: float = 240) -> None:
        deadline = time.monotonic() + within_s
        while not holds():
            assert time.monotonic() < deadline, f"never: {what}"
            time.sleep(0.2)

    def running(self, name: str) -> list[str]:
        """Ids of runs in work whose name holds this."""
        state = {"type": {"any_": ["RUNNING"]}}
        runs = self.api.runs(flow_runs={"state": state, "name": {"like_": name}})
        return [run["id"] for run in runs]

    def named(self, name: str) -> list[str]:
        """Ids of all runs of this very name."""
        return [run["id"] for run in self.api.runs(flow_runs={"name": {"any_": [name]}})]

    def mark_as_crashed(self, name: str) -> list[str]:
        """What the automation for runs without a heartbeat does after 90 seconds, at once."""
        lost = self.running(name)
        for run in lost:
            self.api.set_state(run, "CRASHED")
        return lost


def kill_process_of(run: str) -> None:
    """SIGKILL to the process in which a flow run is."""
    for process in psutil.process_iter(["environ"]):
        if (process.info["environ"] or {}).get("PREFECT__FLOW_RUN_ID") == run:
            process.kill()


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    home = tmp_path_factory.mktemp("operations")
    write_suite(home, {"seed": 7, "latency_s": [1.0, 2.0]}, models=MODELS, shard_chains=3)
    with ExitStack() as held:
        database = held.enter_context(postgres())
        bucket = held.enter_context(seaweedfs(home / "s3"))
        server_port, standin_port = free_ports(2)
        url = f"http://127.0.0.1:{standin_port}"
        server = PrefectServer(server_port, database, home, stack_environment(""))
        from tasks.definitions import load_suite

        patch = held.enter_context(pytest.MonkeyPatch.context())
        patch.setenv("FACEDRIFT_DEFINITIONS", str(home))
        environment = stack_environment(
            server.api_url,
            PYTHONPATH=str(ROOT),
            FACEDRIFT_DEFINITIONS=str(home),
            **rehearsal_environment(load_suite("small"), url),
            **bucket.variables("operations-rehearsal"),
        )
        for name, value in bucket.variables("operations-rehearsal").items():
            patch.setenv(name, value)
        command = [sys.executable, "-m", "flows.cli", "standin", "--suite", "small", "--port"]
        command += [str(standin_port), "--state", str(home / "standin-state")]
        standin = Process(command, environment, home / "standin.log")
        stack = Stack(
            Api(server.api_url), server, Worker("edits", home, environment),
            Worker("gpu-embeddings", home, environment), standin, url,
        )  # fmt: skip
        for process in (server, standin, stack.edits, stack.gpu):
            held.callback(process.kill)
        standin.start()
        server.start()
        server.ready()
        _deploy(environment)
        stack.edits.start()
        stack.gpu.start()
        yield stack


def _deploy(environment: dict[str, str]) -> None:
    command = [sys.executable, "-m", "flows.cli", "deploy", "--folder", str(ROOT / "deployments")]
    for _ in range(2):  # again changes nothing
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    assert "deployment run-suite/adhoc" in done.stdout


def test_killed_everywhere_a_run_ends_with_the_records_of_an_undisturbed_one(
    stack: Stack, tmp_path: Path
) -> None:
    run = stack.api.start("run-suite/adhoc", {"request": REQUEST})

    stack.until("a shard is at work", lambda: stack.accepted() >= STEPS // 6)
    shard = stack.api.runs(flow_runs={"id": {"any_": [stack.running(" shard ")[0]]}})[0]
    kill_process_of(shard["id"])  # the worker sees it, and the run starts the shard again
    stack.until("the shard was started again", lambda: len(stack.named(shard["name"])) == 2)

    stack.until("half is done", lambda: stack.accepted() >= STEPS // 2)
    stack.server.kill()
    time.sleep(2)
    stack.server.start()
    stack.server.ready()

    stack.until("most is done", lambda: stack.accepted() >= STEPS * 2 // 3)
    stack.edits.kill()  # the run, its shards and their worker
    stack.edits.start()
    assert stack.mark_as_crashed(" shard ")
    assert stack.mark_as_crashed("run small") == [run]
    stack.api.set_state(run, "SCHEDULED", "AwaitingRetry")

    stack.until("faces are being read", lambda: bool(stack.running("embed ")))
    stack.gpu.kill()
    stack.gpu.start()
    stack.until("the lost reading is seen", lambda: bool(stack.mark_as_crashed("embed ")))

    assert stack.api.wait(run)["type"] == "COMPLETED"
    counts = stack.counts()
    assert sum(count["accepted"] for count in counts.values()) == STEPS
    assert [count["paid_twice"] for count in counts.values() if count["posts"]] == [[], []]
    assert _summary().snapshot.digest == _undisturbed(tmp_path)


def test_an_outage_costs_its_steps_and_retry_repeats_those_alone(stack: Stack) -> None:
    request = REQUEST | {"images": PHOTOS + 1}
    before, added = stack.accepted(), STEPS // PHOTOS
    run = stack.api.start("run-suite/adhoc", {"request": request})
    stack.until("the new photo is edited", lambda: stack.accepted() >= before + added // 3)
    stack.standin.kill()
    assert stack.api.wait(run)["type"] == "FAILED"
    stack.standin.start()
    stack.until("the stand-in is back", lambda: _answers(stack.standin_url))
    summary = _summary()
    assert summary.edits.failed > 0
    done = stack.accepted() - before
    assert 0 < done < added

    again = stack.api.start("retry-failed/adhoc", {"request": {"suite": "small", "approve_above_usd": None}})
    assert stack.api.wait(again)["type"] == "COMPLETED"
    assert stack.accepted() - before == added, "each missing step once, and no other"

    stack.api.set_state(run, "SCHEDULED", "AwaitingRetry")  # Retry, in the UI
    assert stack.api.wait(run)["type"] == "COMPLETED"
    assert stack.accepted() - before == added, "nothing was left to do"


def test_a_night_with_nothing_new_calls_nobody_and_changes_no_object(stack: Stack) -> None:
    request = {"suites": ["small"], "max_cost_usd": 5}
    first = stack.api.start("refresh-leaderboard/nightly", {"request": request})
    assert stack.api.wait(first)["type"] == "COMPLETED"  # all seven photos
    before, paid = _objects(), stack.accepted()
    assert len(before) > STEPS
    night = stack.api.start("refresh-leaderboard/nightly", {"request": request})
    assert stack.api.wait(night)["type"] == "COMPLETED"
    assert stack.accepted() == paid
    assert _objects() == before


def test_the_server_refuses_what_no_suite_is_and_says_what_is(stack: Stack) -> None:
    with pytest.raises(AssertionError, match="quickstart"):
        stack.api.start("run-suite/adhoc", {"request": {"suite": "no-such-suite"}})
    both = REQUEST | {"sessions": ["hair_001"], "test_sets": ["hair"]}
    run = stack.api.start("run-suite/adhoc", {"request": both})
    state = stack.api.wait(run)
    assert (state["type"], "not both" in state["message"]) == ("FAILED", True)


def _answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/standin/counts", timeout=5).is_success
    except httpx.TransportError:
        return False


def _summary() -> RunSummary:
    store = wiring.store()
    run_id = newest_run("small", store)
    found = ledger.read(store, keys.run_summary(run_id), RunSummary)
    assert found is not None
    return found


def _objects() -> dict[str, str]:
    store = wiring.store()
    return {key: keys.sha256(store.get(key) or b"") for top in _TOPS for key in store.list(top)}


_TOPS = ("runs", "tables", "reports", "datasets", "outcomes", "journal", "work", "judgements", "states")


def _undisturbed(home: Path) -> str:
    """The snapshot of the same run in one process, over a folder, with nobody killed."""
    write_suite(home, {"seed": 7}, models=MODELS, shard_chains=3)
    command = [sys.executable, "-m", "flows.cli", "run", "small", "--images", str(PHOTOS)]
    done = subprocess.run(
        command, env=own_environment(home), cwd=home, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    [summary] = (home / "store-rehearsal/runs").glob("*/summary.json")
    return RunSummary.model_validate_json(summary.read_bytes()).snapshot.digest
