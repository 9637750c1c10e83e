"""A real Prefect server and real process workers, that can be killed and started again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import psutil

STARTS_WITHIN_S = 240.0
PYTHON_PREFECT = [sys.executable, "-m", "prefect"]


@dataclass
class Process:
    """One process of the stack, with what it has started."""

    command: list[str]
    environment: Mapping[str, str]
    log: Path
    _process: subprocess.Popen[bytes] | None = field(default=None, init=False)

    def start(self) -> None:
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                self.command, env=dict(self.environment), stdout=log, stderr=log, cwd=self.log.parent,
                start_new_session=True,
            )  # fmt: skip

    def kill(self) -> None:
        """SIGKILL, to it and to all that it has started."""
        if self._process is None or self._process.poll() is not None:
            return
        tree = [
            *psutil.Process(self._process.pid).children(recursive=True),
            psutil.Process(self._process.pid),
        ]
        for process in tree:
            try:
                process.send_signal(signal.SIGKILL)
            except psutil.NoSuchProcess:
                continue
        self._process.wait()
        psutil.wait_procs(tree, timeout=20)

    def children(self) -> int:
        """How many processes it has started that are still there."""
        assert self._process is not None
        return len(psutil.Process(self._process.pid).children(recursive=True))


class PrefectServer(Process):
    """`prefect server start` on a port of this machine."""

    def __init__(self, port: int, database: str, home: Path, environment: Mapping[str, str]) -> None:
        self.api_url = f"http://127.0.0.1:{port}/api"
        own = {
            "PREFECT_SERVER_DATABASE_CONNECTION_URL": database,
            "PREFECT_HOME": str(home / "server"),
            "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
            "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_BATCH_SIZE": "50",
            "PREFECT_SERVER_SERVICES_EVENT_PERSISTER_BATCH_SIZE": "200",
            "PREFECT_UI_ENABLED": "false",
            # In memory, a restart forgets who holds a deployment's slot, and ends its run.
            "PREFECT_SERVER_CONCURRENCY_LEASE_STORAGE": "prefect.server.concurrency.lease_storage.filesystem",
        }
        command = [*PYTHON_PREFECT, "server", "start", "--host", "127.0.0.1", "--port", str(port)]
        super().__init__(command, {**environment, **own}, home / "server.log")

    def ready(self) -> None:
        """Return once it answers."""
        deadline = time.monotonic() + STARTS_WITHIN_S
        while time.monotonic() < deadline:
            try:
                if httpx.get(f"{self.api_url}/health", timeout=5).is_success:
                    return
            except httpx.TransportError:
                time.sleep(0.3)
        raise AssertionError(f"the Prefect server did not come up:\n{self.log.read_text()[-2000:]}")


class Worker(Process):
    """A process worker on one pool."""

    def __init__(self, pool: str, home: Path, environment: Mapping[str, str]) -> None:
        command = [*PYTHON_PREFECT, "worker", "start", "--pool", pool, "--type", "process", "--name", pool]
        own = {"PREFECT_HOME": str(home / f"worker-{pool}"), "PREFECT_WORKER_QUERY_SECONDS": "2"}
        super().__init__(command, {**environment, **own}, home / f"worker-{pool}.log")


@dataclass(frozen=True)
class Api:
    """What an operator does in Prefect's UI, through its API."""

    url: str

    def start(self, deployment: str, parameters: dict[str, Any]) -> str:
        """Id of a new run of a deployment such as `run-suite/adhoc`."""
        found = self._get(f"deployments/name/{deployment}")
        body = {"parameters": parameters, "state": {"type": "SCHEDULED"}}
        answer = httpx.post(f"{self.url}/deployments/{found['id']}/create_flow_run", json=body, timeout=60)
        assert answer.is_success, answer.text
        return str(answer.json()["id"])

    def state(self, run: str) -> dict[str, Any]:
        """The state of a flow run."""
        return self._get(f"flow_runs/{run}")["state"]

    def runs(self, **filters: Any) -> list[dict[str, Any]]:
        """Flow runs, the newest first."""
        body = {"sort": "START_TIME_DESC", **filters}
        return httpx.post(f"{self.url}/flow_runs/filter", json=body, timeout=60).json()

    def set_state(self, run: str, kind: str, name: str | None = None) -> None:
        """Force a state, as Retry (`SCHEDULED`, `AwaitingRetry`) and Mark as crashed do."""
        state = {"type": kind, "name": name or kind.capitalize()}
        body = {"state": state, "force": True}
        answer = httpx.post(f"{self.url}/flow_runs/{run}/set_state", json=body, timeout=60)
        assert answer.is_success, answer.text

    def wait(self, run: str, within_s: float = 400) -> dict[str, Any]:
        """The final state of a flow run."""
        deadline = time.monotonic() + within_s
        while time.monotonic() < deadline:
            try:
                state = self.state(run)
            except httpx.TransportError:  # the server is being started again
                state = {"type": "UNKNOWN"}
            if state["type"] in ("COMPLETED", "FAILED", "CRASHED", "CANCELLED"):
                return state
            time.sleep(1)
        raise AssertionError(f"the run {run} did not end: {state}")

    def _get(self, path: str) -> dict[str, Any]:
        answer = httpx.get(f"{self.url}/{path}", timeout=60)
        assert answer.is_success, answer.text
        return answer.json()


def stack_environment(api_url: str, **more: str) -> dict[str, str]:
    """The variables of everything that talks to a server of the tests."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")}
    own = {
        "PREFECT_API_URL": api_url,
        "PREFECT_LOGGING_TO_API_ENABLED": "false",
        "PREFECT_CLIENT_MAX_RETRIES": "10",
        "FACEDRIFT_POOL_POLL_S": "1",
    }
    return inherited | own | more
