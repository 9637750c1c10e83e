"""A whole installation: a server on Postgres, two pools with workers, a real S3 store, the stand-in."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest
from faults.rehearsing import ROOT, own_environment, write_suite
from servers.postgres import postgres
from servers.prefect_stack import Api, PrefectServer, Process, Worker, stack_environment
from servers.s3_endpoint import S3Server, free_ports
from servers.seaweedfs import seaweedfs

from domain import keys
from domain.runs import RunSummary
from tasks import ledger, wiring
from tasks.planning import newest_run
from tasks.rehearsing import rehearsal_environment

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
    bucket: S3Server
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


@contextmanager
def installation(home: Path) -> Iterator[Stack]:
    """Everything, started, with the deployments made."""
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
            **bucket.variables(f"at-{standin_port}-rehearsal"),
        )
        for name, value in bucket.variables(f"at-{standin_port}-rehearsal").items():
            patch.setenv(name, value)
        command = [sys.executable, "-m", "flows.cli", "standin", "--suite", "small", "--port"]
        command += [str(standin_port), "--state", str(home / "standin-state")]
        standin = Process(command, environment, home / "standin.log")
        stack = Stack(
            Api(server.api_url), server, Worker("edits", home, environment),
            Worker("gpu-embeddings", home, environment), bucket, standin, url,
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


def answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/standin/counts", timeout=5).is_success
    except httpx.TransportError:
        return False


def summary() -> RunSummary:
    store = wiring.store()
    run_id = newest_run("small", store)
    found = ledger.read(store, keys.run_summary(run_id), RunSummary)
    assert found is not None
    return found


def objects() -> dict[str, str]:
    store = wiring.store()
    return {key: keys.sha256(store.get(key) or b"") for top in _TOPS for key in store.list(top)}


_TOPS = ("runs", "tables", "reports", "datasets", "outcomes", "journal", "work", "judgements", "states")


def undisturbed(home: Path, photos: int = PHOTOS) -> str:
    """The snapshot of the same run in one process, over a folder, with nobody killed."""
    write_suite(home, {"seed": 7}, models=MODELS, shard_chains=3)
    command = [sys.executable, "-m", "flows.cli", "run", "small", "--images", str(photos)]
    done = subprocess.run(
        command, env=own_environment(home), cwd=home, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    [summary] = (home / "store-rehearsal/runs").glob("*/summary.json")
    return RunSummary.model_validate_json(summary.read_bytes()).snapshot.digest
