"""The server of a run without one: it answers, it ends with the run, and it outlives no killed run."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest
from prefect.settings import PREFECT_API_URL, get_current_settings, temporary_settings

from flows.local_server import LocalServer, prefect_server

pytestmark = pytest.mark.integration

ROOT = Path(__file__).parents[2]


def listens(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


def port_of(server: LocalServer) -> int:
    return int(server.api_url.split(":")[2].split("/")[0])


def test_it_answers_while_it_is_needed_and_no_longer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PREFECT_HOME", str(tmp_path))
    with temporary_settings(restore_defaults={PREFECT_API_URL}), prefect_server() as server:
        assert server is not None
        server.wait()
        assert get_current_settings().api.url == server.api_url
        assert httpx.get(f"{server.api_url}/health").json() is True
    assert not listens(port_of(server))


SLOW_EVENTS = """
import asyncio
from flows import cli

cli.set_up("", debug=False)
from prefect.events import emit_event
from prefect.events.clients import PrefectEventsClient
from flows.local_server import prefect_server

sent = []
emit = PrefectEventsClient.emit

async def slowly(self, event):
    await asyncio.sleep(0.2)
    await emit(self, event)
    sent.append(event)

PrefectEventsClient.emit = slowly
with prefect_server() as server:
    server.ready()
    for number in range(8):
        emit_event(f"test.{number}", resource={"prefect.resource.id": "test"})
print(len(sent))
"""


def test_the_last_events_are_sent_before_it_ends_and_nothing_is_said(tmp_path: Path) -> None:
    told = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")}
    run = subprocess.run(
        [sys.executable, "-c", SLOW_EVENTS],
        cwd=ROOT,
        env=told | {"PREFECT_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout == "8\n"
    assert run.stderr == ""


def test_a_configured_server_is_used() -> None:
    with temporary_settings({PREFECT_API_URL: "http://127.0.0.1:9/api"}), prefect_server() as server:
        assert server is None


def test_it_ends_when_its_run_is_killed(tmp_path: Path) -> None:
    code = (
        "from flows.local_server import LocalServer\n"
        "server = LocalServer()\nserver.wait()\nprint(server.api_url, flush=True)\ninput()"
    )
    run = subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=os.environ | {"PREFECT_HOME": str(tmp_path)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert run.stdout is not None
    assert run.stdin is not None
    port = int(run.stdout.readline().split(":")[2].split("/")[0])
    assert listens(port)
    os.kill(run.pid, signal.SIGKILL)
    run.wait()
    run.stdout.close()
    run.stdin.close()
    deadline = time.monotonic() + 30
    while listens(port) and time.monotonic() < deadline:
        time.sleep(0.2)
    assert not listens(port)
