"""How much of Prefect's own pace `edit_chains` keeps, and how flat its memory stays.

Run with `make bench`. In one process and against one server, rounds of two kinds alternate: `edit_chains`
with `control-unchanged` (look, call, verify, store, record), and as many bare no-op tasks with persisted
results. Peak memory is that of a fresh process which runs one shard of so many steps.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from prefect import flow, task
from prefect.cache_policies import CacheKeyFnPolicy
from prefect.testing.utilities import prefect_test_harness

from domain.runs import RunRequest
from flows.cli import PREFECT_DEFAULTS
from flows.edit_chains import edit_chains
from tasks import wiring
from tasks.definitions import load_suite
from tasks.planning import plan_run
from tasks.preparing import prepare_suite

CONCURRENCY = 16
PHOTOS = 7
STEPS = 4


def write_suite(folder: Path, name: str, steps: int) -> int:
    """A suite of about so many steps, every prompt of it another; returns how many."""
    sessions = max(1, round(steps / PHOTOS / STEPS))
    for kind in ("suites", "sessions"):
        (folder / kind).mkdir(parents=True, exist_ok=True)
    lines = [f"id: {name}", "version: 1", "taxonomy: face-edit-attributes", "source: benchmark", "sessions:"]
    for number in range(sessions):
        lines += [f"  - id: s{number}", "    test_set: accessories", "    steps:"]
        for step in range(STEPS):
            lines.append(f"      - {{prompt: Add a knit hat {name} {number} {step}, attribute: knit hat}}")
    (folder / "sessions" / f"{name}.yaml").write_text("\n".join(lines))
    (folder / "suites" / f"{name}.yaml").write_text(
        f"{{id: {name}, title: {name}, dataset: {{id: packaged-faces, adapter: packaged_faces}}, "
        f"taxonomy: face-edit-attributes, session_set: {name}, models: [control-unchanged], "
        "embedder: {pack: mobile}, shard_chains: 2000}"
    )
    return sessions * PHOTOS * STEPS


@task(
    cache_policy=CacheKeyFnPolicy(cache_key_fn=lambda _, parameters: f"bare-{parameters['number']}"),
    persist_result=True,
    result_serializer="json",
    cache_result_in_memory=False,
)
async def bare(number: int) -> dict[str, int]:
    """Nothing, persisted."""
    return {"number": number}


@flow
async def bare_tasks(first: int, count: int) -> None:
    """As many bare tasks, as many at a time."""
    numbers = iter(range(first, first + count))

    async def work() -> None:
        for number in numbers:
            await bare(number)

    await asyncio.gather(*(work() for _ in range(CONCURRENCY)))


async def _planned(suite: str) -> str:
    dataset = prepare_suite(load_suite(suite))
    planned = await plan_run.fn(RunRequest(suite=suite, concurrency=CONCURRENCY), dataset)
    wiring.editor(wiring.run_plan(planned.run_id), "control-unchanged")
    return planned.run_id


def timed(call: object) -> tuple[float, float]:
    """Wall and CPU seconds of a coroutine."""
    wall, cpu = time.perf_counter(), time.process_time()
    asyncio.run(call)  # type: ignore[arg-type]
    return time.perf_counter() - wall, time.process_time() - cpu


def throughput(folder: Path, steps: int, rounds: int) -> dict[str, float]:
    """Task runs a second of both kinds, and the ratio of each round."""
    ours: list[tuple[float, float]] = []
    theirs: list[tuple[float, float]] = []
    for number in range(rounds + 1):  # the first warms up and is not counted
        count = write_suite(folder, f"bench{number}", steps)
        run_id = asyncio.run(_planned(f"bench{number}"))
        pair = (timed(edit_chains(run_id, 1)), timed(bare_tasks(number * 1_000_000, count)))
        if number:
            ours.append(pair[0])
            theirs.append(pair[1])
    wall = [b[0] / a[0] for a, b in zip(ours, theirs, strict=True)]
    cpu = [b[1] / a[1] for a, b in zip(ours, theirs, strict=True)]
    return {
        "steps": count,
        "edit_chains_per_s": round(count / statistics.median(a[0] for a in ours), 1),
        "bare_per_s": round(count / statistics.median(b[0] for b in theirs), 1),
        "ratio_wall": round(statistics.median(wall), 2),
        "ratio_cpu": round(statistics.median(cpu), 2),
        "edit_chains_cpu_ms": round(1000 * statistics.median(a[1] for a in ours) / count, 1),
        "bare_cpu_ms": round(1000 * statistics.median(b[1] for b in theirs) / count, 1),
    }


def peak(folder: Path, steps: int) -> dict[str, float]:
    """Peak memory of this process after one shard of so many steps."""
    count = write_suite(folder, f"peak{steps}", steps)
    run_id = asyncio.run(_planned(f"peak{steps}"))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    asyncio.run(edit_chains(run_id, 1))  # type: ignore[arg-type]
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"steps": count, "before_mb": round(before), "peak_mb": round(after)}


def _measure(options: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["FACEDRIFT_STORE"] = str(folder / "store")
        os.environ["FACEDRIFT_DEFINITIONS"] = str(folder)
        with prefect_test_harness(server_startup_timeout=300):
            found = (
                peak(folder, options.peak)
                if options.peak
                else throughput(folder, options.steps, options.rounds)
            )
    print(json.dumps(found))  # noqa: T201


def main() -> None:
    """Print every figure as JSON, one line each; each in a fresh process with the settings of a run."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--peak", type=int, default=0)
    parser.add_argument("--steps", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    if options.peak or options.steps:
        _measure(options)
        return
    for arguments in (["--steps", "560"], ["--peak", "500"], ["--peak", "5000"]):
        command = [sys.executable, "-m", "tests.benchmarks.orchestration", *arguments]
        environment = os.environ | PREFECT_DEFAULTS
        found = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        print(found.stdout.strip() or found.stderr)  # noqa: T201


if __name__ == "__main__":
    main()
