"""Memory of the run process from 500 to 5,000 rehearsed edits, over the real SDKs against the stand-in.

    python -m tests.benchmarks.rehearsal_memory

Prints the figures that docs/benchmarks.md records: resident memory when 500 edits were paid, and when 5,000
were, of one run.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import httpx
import psutil

ROOT = Path(__file__).parents[2]
MARKS = (500, 1_000, 2_000, 3_000, 4_000, 5_000)
MODELS = [
    "gemini-2.5-flash-image",
    "gpt-image-2",
    "p-image-edit",
    "flux-1-kontext-pro",
    "bagel-edit",
    "qwen-image-edit",
]


def main() -> None:
    """Run until the last mark is passed, then stop."""
    with tempfile.TemporaryDirectory() as folder:
        found = _measure(Path(folder))
    first = found[MARKS[0]]
    say("\n| edits | resident memory | ratio |\n|---|---|---|")
    for mark, size in found.items():
        say(f"| {mark:,} | {size / 1e6:.0f} MB | {size / first:.2f} |")


def say(line: str) -> None:
    """Write a line at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def _measure(home: Path) -> dict[int, int]:
    _write_suite(home)
    environment = os.environ | {
        "FACEDRIFT_STORE": str(home / "store"),
        "FACEDRIFT_DEFINITIONS": str(home),
        "PREFECT_HOME": str(home / "prefect"),
        "PYTHONPATH": str(ROOT),
        "PYTHONUNBUFFERED": "1",
    }
    cli = [sys.executable, "-m", "flows.cli"]
    standin = subprocess.Popen(
        [*cli, "standin", "--suite", "long", "--port", "0", "--state", str(home / "standin")],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert standin.stdout is not None
    url = standin.stdout.readline().rpartition("=")[2].strip()
    run = subprocess.Popen(
        [*cli, "run", "long", "--concurrency", "16"],
        env=environment | {"FACEDRIFT_STANDIN_URL": url},
        stderr=subprocess.DEVNULL,
    )
    try:
        return _watch(psutil.Process(run.pid), url)
    finally:
        run.kill()
        standin.terminate()
        run.wait()
        standin.wait()


def _watch(process: psutil.Process, url: str) -> dict[int, int]:
    found: dict[int, int] = {}
    while len(found) < len(MARKS):
        counts = httpx.get(f"{url}/standin/counts", timeout=60).json()
        paid = sum(row["accepted"] for row in counts.values())
        for mark in MARKS:
            if paid >= mark and mark not in found:
                found[mark] = process.memory_info().rss
                say(f"{mark:,} edits: {found[mark] / 1e6:.0f} MB")
        time.sleep(0.5)
    return found


def _write_suite(home: Path) -> None:
    (home / "suites").mkdir()
    suite = {
        "id": "long",
        "title": "a long rehearsal",
        "dataset": {"id": "packaged-faces", "adapter": "packaged_faces"},
        "taxonomy": "face-edit-attributes",
        "session_set": "face-edit-sessions",
        "models": MODELS,
        "embedder": {"pack": "mobile"},
        "calls": {"max_resends": 5, "history_wait_s": 5},
        "rehearsal": {
            "always": True,
            "editor": "control-recompress",
            "poll_s": 0.1,
            "faults": {"rate_limited": 0.1, "retry_after_s": 0.1, "refused": 0.001},
        },
    }
    (home / "suites" / "long.yaml").write_text(json.dumps(suite))


if __name__ == "__main__":
    main()
