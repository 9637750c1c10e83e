"""What tests of rehearsals share: a small suite, and the stand-in as a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
MODELS = ["gemini-2.5-flash-image", "flux-1-kontext-pro", "p-image-edit", "gpt-image-2"]


def write_suite(
    home: Path,
    faults: dict[str, Any],
    *,
    always: bool = True,
    judges: str = "local",
    models: list[str] = MODELS,
    shard_chains: int = 400,
) -> None:
    """A suite `small` of one model a provider."""
    (home / "suites").mkdir()
    (home / "suites" / "small.yaml").write_text(
        json.dumps(
            {
                "id": "small",
                "title": "a small rehearsal",
                "dataset": {"id": "packaged-faces", "adapter": "packaged_faces"},
                "taxonomy": "face-edit-attributes",
                "session_set": "face-edit-sessions",
                "sessions": ["hair_001", "accessories_001"],
                "models": models,
                "shard_chains": shard_chains,
                "embedder": {"pack": "mobile"},
                "judges": {"consistency": judges, "tracker": judges},
                "calls": {"max_resends": 5, "history_wait_s": 5},
                "rehearsal": {
                    "always": always, "editor": "control-recompress", "timeout_s": 2, "poll_s": 0.1,
                    "faults": faults,
                },
            }
        )
    )  # fmt: skip


def own_environment(home: Path, **more: str) -> dict[str, str]:
    """The variables of a process that keeps everything in one folder."""
    own = {
        "FACEDRIFT_STORE": str(home / "store"),
        "FACEDRIFT_DEFINITIONS": str(home),
        "PREFECT_HOME": str(home / "prefect"),
        "PYTHONPATH": str(ROOT),
        "COLUMNS": "400",
    }
    # What an earlier test's command line has set for its own process is not this one's.
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_LOGGING")}
    return inherited | own | more


@contextmanager
def standin(home: Path, *options: str) -> Iterator[str]:
    """The stand-in as a process of its own, which outlives the runs."""
    command = [sys.executable, "-m", "flows.cli", "standin", "--suite", "small", "--port", "0"]
    command += ["--state", str(home / "standin"), *options]
    environment = own_environment(home, PYTHONUNBUFFERED="1")
    with subprocess.Popen(command, cwd=home, env=environment, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            yield line.rpartition("=")[2].strip()
        finally:
            process.terminate()
