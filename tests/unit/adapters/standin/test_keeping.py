"""Counts and jobs outlive a restart, also a sudden one; a stand-in comes and goes cleanly."""

from __future__ import annotations

import asyncio
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import httpx
import pytest
from unit.adapters.standin.place import PNG, Inverter, Judging, Place, Start, data_url, inverted

from adapters.standin.app import build_app
from adapters.standin.faults import PROVIDERS, Faults
from adapters.standin.jobs import Blobs
from adapters.standin.lines import HangUp
from adapters.standin.serving import running
from adapters.standin.work import StandinWork

TESTS = Path(__file__).parents[3]


def test_everything_outlives_a_restart(start: Start, tmp_path: Path):
    with start(tmp_path) as standin:
        standin.script("rate_limited")
        assert standin.gemini().status_code == 429
        for provider in PROVIDERS:
            assert standin.ask(provider).is_success
        job = standin.fal(seed=1).json()["request_id"]
        prediction = standin.replicate(seed=1).json()
        standin.wait(lambda: standin.counts("fal")["answered"] == 2)
        before = {provider: standin.counts(provider) for provider in PROVIDERS}
    with start(tmp_path) as standin:
        assert {provider: standin.counts(provider) for provider in PROVIDERS} == before
        result = standin.get(f"/fal/queue/fal-ai/flux-pro/requests/{job}").json()
        assert standin.get(result["images"][0]["url"]).content == inverted(PNG)
        found = standin.get(f"/replicate/v1/predictions/{prediction['id']}").json()
        assert standin.get(found["output"]).content == inverted(PNG)
        assert found["input"] == prediction["input"]
        assert standin.gemini().is_success
        assert standin.counts("google")["paid_twice"][0]["times"] == 2
        assert standin.editor.requests[0].image == PNG


def test_draws_go_on_where_they_were(start: Start, tmp_path: Path):
    faults = {"seed": 8, "rate_limited": 0.5}
    with start(**faults) as standin:
        whole = [standin.gemini().status_code for _ in range(20)]
    with start(tmp_path, **faults) as standin:
        first = [standin.gemini().status_code for _ in range(9)]
    with start(tmp_path, **faults) as standin:
        second = [standin.gemini().status_code for _ in range(11)]
    assert first + second == whole
    assert set(whole) == {200, 429}


def test_jobs_that_were_queued_are_made_after_a_restart(start: Start, tmp_path: Path):
    with start(tmp_path, slow_s=0.4) as standin:
        jobs = [standin.fal(f"number {n}").json()["request_id"] for n in range(5)]
    with start(tmp_path) as standin:
        for job in jobs:
            path = f"/fal/queue/fal-ai/flux-pro/requests/{job}"
            standin.wait(lambda path=path: standin.get(path).status_code == 200)
        counts = standin.counts("fal")
        assert (counts["accepted"], counts["answered"], counts["images"]) == (5, 5, 5)
        assert len(standin.editor.requests) >= 3


SERVER = """
import sys
from pathlib import Path
from unit.adapters.standin.place import Inverter, Judging
from adapters.standin.app import build_app
from adapters.standin.faults import Faults
from adapters.standin.lines import HangUp
from adapters.standin.serving import serve
from adapters.standin.work import StandinWork
judge = Judging()
app = build_app(StandinWork(Inverter(), judge, judge), Faults(), Path(sys.argv[1]))
serve(app, "127.0.0.1", 0, lambda url: print(url, flush=True))
"""


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM])
def test_a_process_of_its_own_can_be_ended_at_any_time(start: Start, tmp_path: Path, end: signal.Signals):
    command = [sys.executable, "-c", SERVER, str(tmp_path)]
    path = {"PYTHONPATH": f"{TESTS}:{TESTS.parent}"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=path) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        with httpx.Client(base_url=url, timeout=20) as client:
            standin = Place(client, Inverter(), Judging())
            assert standin.url == url
            job = standin.fal().json()
            assert standin.gemini().is_success
            standin.wait(lambda: standin.get(job["status_url"]).status_code == 200)
        process.send_signal(end)
        process.wait(20)
    with start(tmp_path) as standin:
        assert standin.counts("google")["accepted"] == 1
        assert standin.counts("fal")["images"] == 1
        assert standin.get(f"/fal/queue/fal-ai/flux-pro/requests/{job['request_id']}").is_success


def test_without_a_folder_nothing_stays(start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with start() as standin:
        standin.fal_result(standin.fal())
        assert list(tmp_path.rglob("*.sqlite"))
    assert list(tmp_path.iterdir()) == []


def test_a_stand_in_stops_at_once_although_calls_hang(start: Start):
    def ask(url: str) -> None:
        with pytest.raises(httpx.RemoteProtocolError):
            httpx.post(f"{url}/fal/queue/a/b", json={"prompt": "x", "image_url": data_url()}, timeout=60)

    with start(hang_s=60, hang=1) as standin:
        caller = threading.Thread(target=ask, args=(standin.url,))
        caller.start()
        standin.wait(lambda: standin.counts("fal")["hangs"] == 1)
        began = time.monotonic()
    assert time.monotonic() - began < 5
    caller.join()


def test_the_port_is_free_again(start: Start):
    with start() as standin:
        port = httpx.URL(standin.url).port
        assert port
    judge = Judging()
    work = StandinWork(Inverter(), judge, judge)
    with running(build_app(work, Faults()), port) as url:
        assert httpx.URL(url).port == port
        assert httpx.get(f"{url}/standin/counts").json()["fal"]["posts"] == 0
    with socket.socket() as client, pytest.raises(ConnectionRefusedError):
        client.connect(("127.0.0.1", port))


def test_a_folder_that_cannot_be_used_is_said_so(tmp_path: Path):
    taken = tmp_path / "a file"
    taken.write_bytes(b"")
    judge = Judging()
    app = build_app(StandinWork(Inverter(), judge, judge), Faults(), taken)
    with pytest.raises(RuntimeError, match="did not start"), running(app):
        pass


def test_connections_are_closed_only_under_our_own_server():
    async def never(*_: Any) -> Any:
        raise AssertionError("nothing is sent or received")

    with pytest.raises(RuntimeError, match=r"only under adapters\.standin\.serving"):
        asyncio.run(HangUp(asyncio.Event())({"type": "http"}, never, never))


def test_what_is_the_same_is_kept_once(tmp_path: Path):
    blobs = Blobs(tmp_path)
    first = blobs.fold({"image": data_url(), "images": [data_url(), "x"], "prompt": "p", "seed": 1})
    second = blobs.fold({"image": data_url(), "seed": 2})
    assert len([path for path in tmp_path.rglob("*") if path.is_file()]) == 1
    assert len(first) < 400
    assert blobs.unfold(first) == {"image": data_url(), "images": [data_url(), "x"], "prompt": "p", "seed": 1}
    assert blobs.unfold(second) == {"image": data_url(), "seed": 2}


def test_identities(standin: Place):
    standin.fal(seed=1)
    standin.fal(seed=2)
    standin.fal(seed=1, guidance_scale=2)
    standin.fal("frown", seed=1)
    standin.fal(seed=1, endpoint="fal-ai/other")
    standin.fal(seed=1, image_url=data_url(inverted(PNG)))
    standin.fal(seed=1)
    counts = standin.counts("fal")
    assert (counts["accepted"], counts["distinct"]) == (7, 6)
    [twice] = counts["paid_twice"]
    assert (twice["times"], twice["model"], twice["prompt"]) == (2, "fal-ai/flux-pro/kontext", "smile")


def test_what_was_sent_is_listed_without_keys(standin: Place):
    headers = {"x-fal-no-retry": "1", "authorization": "Key secret"}
    body = {"prompt": "smile", "image_url": data_url(), "seed": 3, "strength": 0.5}
    standin.client.post("/fal/queue/acme/paint", json=body, headers=headers)
    standin.gemini()
    [call] = standin.get("/standin/calls", params={"provider": "fal"}).json()["calls"]
    assert (call["path"], call["prompt"], call["seed"]) == ("/fal/queue/acme/paint", "smile", 3)
    assert call["settings"] == {"strength": 0.5}
    assert call["headers"]["x-fal-no-retry"] == "1"
    assert "secret" not in str(call)
    assert call["pictures"][0]["content_type"] == "image/png"
    assert [each["provider"] for each in standin.get("/standin/calls").json()["calls"]] == ["fal", "google"]
