"""Keys: a wrong one is one sentence and no call, and a right one is in nothing that is kept or said."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from faults.rehearsing import ROOT, own_environment, standin, write_suite

pytestmark = pytest.mark.integration

SECRET = "sk-tOpSeCrEt-0123456789abcdef"
VARIABLES = ("GEMINI_API_KEY", "FAL_KEY", "REPLICATE_API_TOKEN", "OPENAI_API_KEY")
FAULTS = {"seed": 2, "rate_limited": 0.1, "server_error": 0.1, "refused": 0.1, "retry_after_s": 0.1}


def _run(home: Path, url: str, *options: str, **keys: str) -> subprocess.CompletedProcess[str]:
    """A run in earnest, as far as it knows: with keys, and providers that happen to be on this machine."""
    addresses = {
        "FACEDRIFT_GOOGLE_BASE_URL": f"{url}/google",
        "FACEDRIFT_OPENAI_BASE_URL": f"{url}/openai/v1",
        "FACEDRIFT_REPLICATE_BASE_URL": f"{url}/replicate",
        "FACEDRIFT_FAL_QUEUE_URL": f"{url}/fal/queue",
        "FACEDRIFT_FAL_PLATFORM_URL": f"{url}/fal/platform",
        "FACEDRIFT_FAL_POLL_S": "0.1",
        "FACEDRIFT_REPLICATE_POLL_S": "0.1",
        "FACEDRIFT_RETRY_WAITS_S": "[0.1]",
        "FACEDRIFT_PER_MINUTE": '{"google": 60000, "openai": 60000, "replicate": 60000}',
    }
    return subprocess.run(
        [sys.executable, "-m", "flows.cli", "run", "small", "--images", "1", "--yes", *options],
        cwd=home,
        env=own_environment(home, **addresses, **keys),
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )


def test_a_wrong_key_is_one_sentence_and_no_call(tmp_path: Path) -> None:
    write_suite(tmp_path, FAULTS, always=False, judges="gemini-3.8-flash")
    with standin(tmp_path, "--only-key", SECRET) as url:
        right = dict.fromkeys(VARIABLES, SECRET)
        for variable, provider in (("FAL_KEY", "fal"), ("GEMINI_API_KEY", "google")):
            done = _run(tmp_path, url, **right | {variable: "wrong-key-0123456789"})
            assert done.returncode == 1
            [line] = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
            assert provider in line
            assert variable in line
            assert "wrong-key" not in done.stdout + done.stderr
        counts = httpx.get(f"{url}/standin/counts").json()
    assert sum(row["posts"] for row in counts.values()) == 0
    assert not (tmp_path / "store" / "outcomes").exists()


def test_a_key_is_in_no_file_and_no_line(tmp_path: Path) -> None:
    write_suite(tmp_path, FAULTS, always=False, judges="gemini-3.8-flash")
    with standin(tmp_path, "--only-key", SECRET) as url:
        done = _run(tmp_path, url, "--debug", **dict.fromkeys(VARIABLES, SECRET))
        assert done.returncode == 0, done.stderr
        counts = httpx.get(f"{url}/standin/counts").json()
    assert all(row["posts"] for row in counts.values())
    assert "INFO" in done.stderr, "Prefect's own log is among what is searched"
    assert SECRET not in done.stdout + done.stderr
    searched = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {path.relative_to(tmp_path).parts[0] for path in searched} >= {"store", "prefect", "standin"}
    assert [path for path in searched if SECRET.encode() in path.read_bytes()] == []
    assert os.environ.get("FAL_KEY") != SECRET
    assert ROOT.is_dir()
