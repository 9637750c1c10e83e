"""What it costs to find out what a run lacks, and to collect its tables, with 100,000 finished steps.

Run with `python -m tests.benchmarks.planning`. A store is made with the project's own writers: every step of
25,000 chains in the compacted tables, and 250 chains more that are not over. Each figure is that of a fresh
process. "Before" is the loop that planning and collecting once were: every chain walked in Python, one JSON
record parsed and one key hashed a step.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

sys.path.insert(0, str(Path(__file__).parents[1]))  # as pytest does

from chains import an_end, store_photos
from oracles.collecting import RowByRow

from domain import keys, plan
from domain.plan import StepPlan, Walk
from domain.records import OutcomeRecord
from domain.runs import RunPlan, RunRequest, RunSummary
from domain.summaries import ShardSummary
from domain.taxonomy import Taxonomy
from metrics.frames import state_column
from tasks import ledger, step_tables, wiring
from tasks.definitions import load
from tasks.measured_tables import MeasuredTable
from tasks.missing_work import missing, shards
from tasks.planning import _plan_run, resolve_run
from tasks.pointers import point_to
from tasks.refreshing import files_of, unchanged
from tasks.scoring import collect, publish_tables, score
from tasks.step_tables import Manifest
from tasks.surveys import survey

MODELS, PHOTOS, STEPS = 5, 50, 4
DONE, NEARLY = "done", "nearly"
"""A suite that is finished, and one with a session more."""


def write_definitions(folder: Path, sessions: int) -> None:
    """Two suites over five models, of which three take a seed."""
    for kind in ("suites", "sessions", "models"):
        (folder / kind).mkdir(parents=True, exist_ok=True)
    lines = ["id: many", "version: 1", "taxonomy: face-edit-attributes", "source: benchmark", "sessions:"]
    for number in range(sessions + 1):
        lines += [f"  - id: s{number}", "    test_set: accessories", "    steps:"]
        for step in range(STEPS):
            lines.append(f"      - {{prompt: Add a knit hat {number} {step}, attribute: knit hat}}")
    (folder / "sessions" / "many.yaml").write_text("\n".join(lines))
    names = [f"m{number}" for number in range(MODELS)]
    for number, name in enumerate(names):
        (folder / "models" / f"{name}.yaml").write_text(
            f"{{id: {name}, name: {name}, lab: facedrift, provider: control-unchanged, "
            "endpoint: control-unchanged/1, price_usd: 0, typical_latency_s: 0, "
            f"seed_support: {str(number < 3).lower()}, "
            "shape_policy: same, released: 2026-11-30, checked_on: 2026-11-30, source: benchmark}"
        )
    for suite, held in ((DONE, sessions), (NEARLY, sessions + 1)):
        (folder / "suites" / f"{suite}.yaml").write_text(
            f"{{id: {suite}, title: {suite}, dataset: {{id: made-up, adapter: packaged_faces}}, "
            "taxonomy: face-edit-attributes, session_set: many, embedder: {pack: mobile}, "
            f"sessions: [{', '.join(f's{n}' for n in range(held))}], models: [{', '.join(names)}]}}"
        )


def build(folder: Path, steps: int) -> None:
    """A store with so many finished steps, all measured."""
    write_definitions(folder, steps // (MODELS * PHOTOS * STEPS))
    store = wiring.store()
    dataset_key = store_photos(PHOTOS, store)
    photos = wiring.dataset(dataset_key)
    run = resolve_run(RunRequest(suite=NEARLY), dataset_key, photos)
    listed: dict[str, tuple[str, ...]] = {}
    before = folder / "before"
    before.mkdir()
    for card in run.cards:
        outcomes = list(_outcomes(run, card.id))
        rows = step_tables.rows(outcomes)
        for suite in (DONE, NEARLY):
            listed[suite] = (
                *listed.get(suite, ()),
                *step_tables.write(suite, photos.id, rows, store).values(),
            )
        old = {"key": [o.key for o in outcomes], "outcome": [o.model_dump_json() for o in outcomes]}
        pl.DataFrame(old).write_parquet(before / f"{card.id}.parquet", compression="zstd")
        _measure(run, card.id, rows)
    for suite, held in listed.items():
        by_model = {keys.model_of(key): (key,) for key in held}
        manifest = Manifest(known=run.suite.models, parts=by_model)
        step_tables.update(suite, photos.id, store, lambda _, manifest=manifest: manifest)
    _finish_run(dataset_key)
    (folder / "dataset").write_text(dataset_key)


def _outcomes(run: RunPlan, model: str) -> list[OutcomeRecord]:
    """All steps of every session but the last, of which a fifth of the chains has two."""
    photos = wiring.dataset(run.dataset)
    found: list[OutcomeRecord] = []
    base = [photos.by_id[name] for name in run.photos]
    for number, chain in enumerate(plan.chains([model], base, run.sessions)):
        is_open = chain.session == run.sessions[-1].id
        step: StepPlan | None = run.walk(chain, photos.by_id[chain.photo], lambda _: None).next_step
        while step and not (is_open and (number % 5 or step.number > 2)):
            found.append(an_end(step))
            step = run.step_after(step, found[-1])
    return found


def _measure(run: RunPlan, model: str, rows: pl.DataFrame) -> None:
    photos, taxonomy = wiring.dataset(run.dataset), load(Taxonomy, run.suite.taxonomy)
    rng = np.random.default_rng(0)
    of = {o: p.id for p in photos.base for o in (p.image_sha256,)}
    by_image = dict(rows.select("image_sha256", "input_sha256").iter_rows())

    @cache
    def photo(sha: str) -> str:
        while sha not in of:
            sha = by_image[sha]
        return of[sha]

    height = rows.height
    columns: dict[str, Any] = {
        "key": rows["key"],
        "photo": [photo(sha) for sha in rows["input_sha256"]],
        "face": ["found"] * height,
        "n_faces": [1] * height,
        "fss": rng.random(height),
        "judgement": ["scored"] * height,
        "success": rng.random(height) * 10,
        "overediting": rng.random(height) * 10,
        "tracked": ["tracked"] * height,
        "judge_version": ["local"] * height,
        "tracker_version": ["local"] * height,
    }
    for sub_axis, categories in taxonomy.categories.items():
        states = [[categories[n % len(categories)]] for n in rng.integers(0, 9, height)]
        columns[state_column(sub_axis)] = states
    table = MeasuredTable(run, taxonomy, wiring.store())
    table.add(model, pl.DataFrame(columns, table.schema))


def _finish_run(dataset_key: str) -> None:
    """A run of the finished suite that has come to its end."""
    store, request = wiring.store(), RunRequest(suite=DONE)
    planned = _plan_run(request, dataset_key, ())
    run = wiring.run_plan(planned.run_id)
    snapshot = publish_tables(run, score(run, collect(run, store)), store)
    for name in files_of(run):
        store.put_new(keys.report(run.suite.id, snapshot.digest, name), b"made up")
    summary = RunSummary(
        run_id=run.id,
        planned=planned.missing,
        edits=ShardSummary(),
        faces_read=0,
        states_tracked=0,
        edits_judged=0,
        snapshot=snapshot,
    )
    store.put(keys.run_summary(run.id), summary.model_dump_json().encode())
    point_to(snapshot, run, store)


class Before:
    """The loop as it was."""

    def __init__(self, folder: Path, suite: str) -> None:
        self.store = wiring.store()
        key = (folder / "dataset").read_text()
        self.photos = wiring.dataset(key)
        self.run = resolve_run(RunRequest(suite=suite), key, self.photos)
        self._folder = folder / "before"

    def walks(self) -> list[Walk]:
        """Every chain, walked."""
        index: dict[str, str] = {}
        for part in sorted(self._folder.iterdir()):
            frame = pl.read_parquet(part)
            index.update(zip(frame["key"].to_list(), frame["outcome"].to_list(), strict=True))

        def find(key: str) -> OutcomeRecord | None:
            found = index.get(key)
            return OutcomeRecord.model_validate_json(found) if found else ledger.outcome(self.store, key)

        run, base = self.run, [self.photos.by_id[name] for name in self.run.photos]
        every = plan.chains([card.id for card in run.cards], base, run.sessions)
        return [run.walk(chain, self.photos.by_id[chain.photo], find) for chain in every]


def plan_before(folder: Path) -> int:
    """Walk, and list what is next."""
    walks = Before(folder, NEARLY).walks()
    return len([walk.next_step for walk in walks if walk.next_step])


def plan_now(folder: Path) -> int:
    """Resolve, survey, sum up and make the shards: all of `plan_run` but its few writes."""
    key = (folder / "dataset").read_text()
    photos, store = wiring.dataset(key), wiring.store()
    run = resolve_run(RunRequest(suite=NEARLY), key, photos)
    history = survey(run, photos, store).history
    found = shards(history)
    assert missing(history, store).unfinished == sum(len(part.steps) for part in found)
    return sum(len(part.steps) for part in found)


def plan_without_a_table(folder: Path) -> int:
    """As after the tables were deleted, with no outcome there: one look for each chain."""
    key = (folder / "dataset").read_text()
    photos, store = wiring.dataset(key), wiring.store()
    run = resolve_run(RunRequest(suite=DONE), key, photos)
    run = run.model_copy(update={"suite": run.suite.model_copy(update={"seed": 7})})
    step_tables.update(run.suite.id, photos.id, store, lambda _: Manifest())
    return survey(run, photos, store).history.open.height


def refresh_now(folder: Path) -> int:
    """What the nightly run asks first."""
    found = unchanged(RunRequest(suite=DONE), (folder / "dataset").read_text())
    assert found is not None
    return found.planned.complete


def collect_before(folder: Path) -> int:
    """Row by row."""
    before = Before(folder, DONE)
    return RowByRow(before.run, before.photos, before.store).collect(before.walks(), [])["steps"].height


def collect_now(folder: Path) -> int:
    """From frames."""
    store = wiring.store()
    run = wiring.run_plan((store.get(keys.newest_run(DONE)) or b"").decode())
    return collect(run, store).steps.height


WHAT: dict[str, Callable[[Path], int]] = {
    "planning, before": plan_before,
    "planning": plan_now,
    "refresh with nothing new": refresh_now,
    "collecting, before": collect_before,
    "collecting": collect_now,
}


def _measured(folder: Path, what: str, steps: int) -> dict[str, Any]:
    os.environ["FACEDRIFT_STORE"] = str(folder / "store")
    os.environ["FACEDRIFT_DEFINITIONS"] = str(folder)
    reads = _count_reads()
    at_rest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    wall, cpu = time.perf_counter(), time.process_time()
    found = 0
    if what == "build":
        build(folder, steps)
    else:
        found = (WHAT | {"planning without a table": plan_without_a_table})[what](folder)
    return {
        "count": found,
        "reads": next(reads),
        "wall_s": time.perf_counter() - wall,
        "cpu_s": time.process_time() - cpu,
        "at_rest_mb": at_rest,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def _count_reads() -> Iterator[int]:
    """Counts each look at the store from now on; on S3 it costs 5 ms."""
    store, reads = wiring.store(), count()

    def counted(read: Callable[[str], Any]) -> Callable[[str], Any]:
        def look(key: str) -> Any:
            next(reads)
            return read(key)

        return look

    vars(store).update(get=counted(store.get), head=counted(store.head))
    return reads


def _fresh(folder: Path, what: str, steps: int = 0) -> dict[str, Any]:
    arguments = ["--folder", str(folder), "--measure", what, "--steps", str(steps)]
    command = [sys.executable, "-m", "tests.benchmarks.planning", *arguments]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def report(folder: Path, steps: int, rounds: int, *, only_now: bool) -> str:
    """The table in Markdown."""
    _fresh(folder, "build", steps)
    names = (f"{steps:,} finished steps", "wall s", "CPU s", "peak MB", "store reads")
    lines = [f"| {' | '.join(names)} | before / now, wall | CPU |", "|---|---|---|---|---|---|---|"]
    chosen = [what for what in WHAT if not (only_now and what.endswith("before"))]
    held: dict[str, list[dict[str, Any]]] = {what: [] for what in chosen}
    for _ in range(rounds):
        for what in chosen:
            held[what].append(_fresh(folder, what))
    held["planning without a table"] = [_fresh(folder, "planning without a table")]
    for what, found in held.items():
        wall, cpu, peak = (
            statistics.median(r[name] for r in found) for name in ("wall_s", "cpu_s", "peak_mb")
        )
        before = held.get(f"{what}, before")
        ratios = [_ratio(before, found, name) for name in ("wall_s", "cpu_s")] if before else ["", ""]
        figures = (f"{wall:.2f}", f"{cpu:.2f}", f"{peak:.0f}", f"{found[0]['reads']:,}", *ratios)
        lines.append(f"| {what} | {' | '.join(figures)} |")
    rest = statistics.median(run["at_rest_mb"] for found in held.values() for run in found)
    return "\n".join([*lines, "", f"A process that has only imported all of it takes {rest:.0f} MB."])


def _ratio(before: list[dict[str, Any]], now: list[dict[str, Any]], name: str) -> str:
    return f"{statistics.median(a[name] / b[name] for a, b in zip(before, now, strict=True)):.0f} ×"


def main() -> None:
    """Print the table in Markdown."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only-now", action="store_true")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--measure")
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(_measured(options.folder, options.measure, options.steps)))  # noqa: T201
        return
    with tempfile.TemporaryDirectory() as name:
        print(report(Path(name), options.steps, options.rounds, only_now=options.only_now))  # noqa: T201


if __name__ == "__main__":
    main()
