"""Dress rehearsals against the stand-in, which counts what is paid: with faults, and killed in between."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import httpx
import pytest
from faults.rehearsing import MODELS, own_environment, standin, write_suite

from domain.records import CallEnd, CallIntent
from domain.runs import RunSummary

pytestmark = pytest.mark.integration

CONCURRENCY, KILLS = 4, 3
QUEUES, AT_ONCE = ("fal", "replicate"), ("google", "openai")
STEPS = len(MODELS) * 2 * 2 * 4


def test_with_every_fault_the_summary_agrees_with_what_the_stand_in_counted(tmp_path: Path) -> None:
    faults = {
        "seed": 3, "rate_limited": 0.2, "retry_after_s": 0.2, "server_error": 0.05, "hang": 0.04,
        "truncated": 0.04, "refused": 0.03, "no_image": 0.02, "latency_s": [0.0, 0.05],
    }  # fmt: skip
    write_suite(tmp_path, faults)
    with standin(tmp_path) as url:
        run = _start(tmp_path, url)
        output, _ = run.communicate(timeout=280)
        assert run.returncode == 0, output.decode()
        counts = _counts(url)
    edits = _summary(tmp_path).edits
    assert edits.edited + edits.refused + edits.no_image == sum(c["accepted"] for c in counts.values()) - (
        edits.ambiguous
    )
    assert edits.refused == sum(c["refused"] for c in counts.values()) > 0
    assert edits.no_image == sum(c["no_image"] for c in counts.values())
    assert sum(c["rate_limited"] for c in counts.values()) > 10, "the faults did happen"
    assert sum(c["hangs"] + c["truncated"] for c in counts.values()) > 0
    for name in QUEUES:
        assert counts[name]["paid_twice"] == []
    resent = sum(job["times"] - 1 for name in AT_ONCE for job in counts[name]["paid_twice"])
    assert resent == edits.ambiguous
    assert "paid twice" in output.decode()


def test_killed_again_and_again_no_job_of_a_queue_is_paid_twice(tmp_path: Path) -> None:
    faults = {"seed": 5, "rate_limited": 0.1, "retry_after_s": 0.1, "refused": 0.03, "latency_s": [0.2, 0.6]}
    write_suite(tmp_path, faults)
    rng = random.Random(11)
    with standin(tmp_path) as url:
        for kill in range(KILLS):
            run = _start(tmp_path, url)
            _kill_once(run, url, accepted=STEPS * (kill + 1) // (KILLS + 2), rng=rng)
        run = _start(tmp_path, url)
        output, _ = run.communicate(timeout=280)
        assert run.returncode == 0, output.decode()
        counts = _counts(url)
    for name in QUEUES:
        assert counts[name]["accepted"] > 0
        assert counts[name]["paid_twice"] == []
    resent = sum(job["times"] - 1 for name in AT_ONCE for job in counts[name]["paid_twice"])
    ambiguous = _ambiguous(tmp_path)
    assert resent <= ambiguous <= KILLS * CONCURRENCY, "only what was in flight at a kill"
    assert sum(c["accepted"] for c in counts.values()) - resent == len(_outcomes(tmp_path))


def _start(home: Path, url: str) -> subprocess.Popen[bytes]:
    environment = own_environment(home, FACEDRIFT_STANDIN_URL=url)
    command = [sys.executable, "-m", "flows.cli", "run", "small", "--images", "2"]
    command += ["--concurrency", str(CONCURRENCY)]
    return subprocess.Popen(
        command, cwd=home, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        start_new_session=True,
    )  # fmt: skip


def _counts(url: str) -> dict[str, dict[str, Any]]:
    return httpx.get(f"{url}/standin/counts", timeout=30).raise_for_status().json()


def _kill_once(run: subprocess.Popen[bytes], url: str, accepted: int, rng: random.Random) -> None:
    """SIGKILL the run and all its children at a random moment after so many paid jobs."""
    deadline = time.monotonic() + 200
    while sum(c["accepted"] for c in _counts(url).values()) < accepted:
        assert run.poll() is None, run.communicate()[0].decode()
        assert time.monotonic() < deadline, "the run never came so far"
        time.sleep(0.05)
    time.sleep(rng.uniform(0, 0.5))
    os.killpg(run.pid, signal.SIGKILL)
    run.communicate()


def _store(home: Path) -> Path:
    return home / "store-rehearsal"


def _summary(home: Path) -> RunSummary:
    [path] = (_store(home) / "runs").glob("*/summary.json")
    return RunSummary.model_validate_json(path.read_bytes())


def _outcomes(home: Path) -> list[Path]:
    return list((_store(home) / "outcomes").rglob("*.json"))


def _ambiguous(home: Path) -> int:
    """Calls that the journal counts as perhaps paid; each belongs to an intent."""
    journal = _store(home) / "journal"
    ends = [CallEnd.model_validate_json(path.read_bytes()) for path in journal.rglob("*-end.json")]
    intents = [CallIntent.model_validate_json(path.read_bytes()) for path in journal.rglob("*-intent.json")]
    assert {intent.provider for intent in intents} == {*QUEUES, *AT_ONCE}
    return sum(end.maybe_paid for end in ends)
