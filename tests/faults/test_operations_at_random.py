"""Whatever part of an installation is killed, and whenever: nothing is lost and nothing is paid twice."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest
from faults.operating import REQUEST, STEPS, Stack, installation, kill_process_of, summary, undisturbed

pytestmark = [pytest.mark.integration, pytest.mark.slow, pytest.mark.timeout(3600)]

PHOTOS, KILLS = 7, 12
PAID = STEPS * PHOTOS // 3
ENDED = ("COMPLETED", "FAILED", "CRASHED")


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_run_that_is_killed_again_and_again_ends_as_if_nothing_had_happened(
    tmp_path: Path, seed: int
) -> None:
    rng = random.Random(seed)
    (tmp_path / "installed").mkdir()
    with installation(tmp_path / "installed") as stack:
        run = stack.api.start("run-suite/adhoc", {"request": REQUEST | {"images": PHOTOS}})
        for _ in range(KILLS):
            time.sleep(rng.uniform(4, 20))
            rng.choice([_edits, _gpu, _server, _store, _one_process])(stack, run)
            _as_an_operator_would(stack, run)
        while stack.api.wait(run, 900)["type"] != "COMPLETED":
            _as_an_operator_would(stack, run)
        counts = stack.counts().values()
        assert sum(count["accepted"] for count in counts) == PAID
        assert all(count["paid_twice"] == [] for count in counts)
        assert summary().snapshot.digest == undisturbed(tmp_path, PHOTOS)


def _edits(stack: Stack, run: str) -> None:
    stack.edits.kill()
    stack.edits.start()
    stack.mark_as_crashed(" shard ")
    if run in stack.mark_as_crashed("run small"):
        stack.mark_as_crashed("prepare ")


def _gpu(stack: Stack, _: str) -> None:
    stack.gpu.kill()
    stack.gpu.start()
    stack.mark_as_crashed("embed ")


def _server(stack: Stack, _: str) -> None:
    stack.server.kill()
    stack.server.start()
    stack.server.ready()


def _store(stack: Stack, _: str) -> None:
    stack.bucket.kill()
    stack.bucket.start()


def _one_process(stack: Stack, _: str) -> None:
    for run in stack.running(" shard ")[:1]:
        kill_process_of(run)


def _as_an_operator_would(stack: Stack, run: str) -> None:
    """Retry a run that has ended without being whole."""
    if stack.api.state(run)["type"] in ("FAILED", "CRASHED"):
        stack.api.set_state(run, "SCHEDULED", "AwaitingRetry")
