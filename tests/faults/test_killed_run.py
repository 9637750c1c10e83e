"""A run killed in its middle and started again ends as if nothing had happened, and does nothing twice."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from fakes import editors

from domain import keys
from domain.records import OutcomeRecord

pytestmark = pytest.mark.integration

ROOT = Path(__file__).parents[2]
CONCURRENCY = 4
SESSIONS = ["hair_001", "hair_002", "hair_003", "accessories_001"]
EDITS = 3 * len(SESSIONS) * 4


def test_kill_and_resume_give_the_same_tables_and_repeat_nothing_stored(tmp_path: Path) -> None:
    calm, killed = tmp_path / "calm", tmp_path / "killed"
    calm_log, _ = editors.write_definitions(calm, sessions=SESSIONS)
    assert _start(calm).wait(timeout=280) == 0
    assert len(editors.calls(calm_log)) == EDITS

    log, _ = editors.write_definitions(killed, sessions=SESSIONS, delay_s=0.25)
    _kill_during_edits(killed, log, random.Random(7))
    stored = _outcomes(killed)
    assert 0 < len(stored) < EDITS, "the kill must come in the middle"
    calls_before = editors.calls(log)

    assert _start(killed).wait(timeout=280) == 0
    calls = Counter(editors.calls(log))
    again = Counter(editors.calls(log)[len(calls_before) :])
    assert not {key: n for key, n in again.items() if key in stored}, (
        "an outcome that was stored was made again"
    )
    assert sum(calls.values()) <= EDITS + CONCURRENCY  # only what was in flight at the kill
    assert len(calls) == EDITS
    assert _tables(killed) == _tables(calm)


def _start(home: Path) -> subprocess.Popen[bytes]:
    environment = os.environ | {
        "FACEDRIFT_STORE": str(home / "store"),
        "FACEDRIFT_DEFINITIONS": str(home),
        "PREFECT_HOME": str(home / "prefect"),
        "PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}",
    }
    command = [sys.executable, "-m", "fakes.editors", "run", "tiny", "--images", "3"]
    command += ["--concurrency", str(CONCURRENCY)]
    return subprocess.Popen(command, cwd=home, env=environment, start_new_session=True)


def _kill_during_edits(home: Path, log: Path, rng: random.Random) -> None:
    run = _start(home)
    wanted = rng.randrange(EDITS // 4, EDITS // 2)
    deadline = time.monotonic() + 200
    while len(editors.calls(log)) < wanted:
        assert run.poll() is None, "the run ended before it could be killed"
        assert time.monotonic() < deadline, "the run never began to edit"
        time.sleep(0.02)
    os.killpg(run.pid, signal.SIGKILL)
    run.wait()


def _outcomes(home: Path) -> set[str]:
    """What was stored, spelled as the call log spells a call."""
    records = [
        OutcomeRecord.model_validate_json(path.read_bytes())
        for path in (home / "store/outcomes").rglob("*.json")
    ]
    return {
        keys.canonical_json(
            {"input": r.identity.input_sha256, "prompt": r.identity.prompt, "seed": r.identity.seed}
        ).decode()
        for r in records
    }


def _tables(home: Path) -> dict[str, bytes]:
    [folder] = {path.parent for path in (home / "store/reports/tiny").rglob("leaderboard.csv")}
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix in (".csv", ".parquet")}
