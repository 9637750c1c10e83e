"""Every number of a run, out of the store and back into it: a snapshot that never changes."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from dataclasses import asdict

import polars as pl
from prefect import task

from adapters.base import ObjectStore
from domain import keys
from domain.errors import MetricError
from domain.runs import RunPlan, Snapshot, StepFailure
from domain.taxonomy import Taxonomy
from metrics import scoring
from metrics.agreement import tracker_accuracy
from metrics.frames import state_column
from metrics.refusals import refusals
from metrics.session_scores import ScoringRules
from metrics.shapes import shapes
from metrics.truth import StepTruth, missed, recognition_cells, true_oer
from tasks import failures, policies, wiring
from tasks.collecting import Collected, Collector
from tasks.definitions import load
from tasks.planning import finder, newest_run, walks
from tasks.served import notices_of, served_table
from tasks.threads import in_thread

TABLES = (
    "leaderboard", "progression", "coverage", "overediting", "missed_edits", "sessions", "steps", "photos",
    "left_out", "sources", "served", "refusals", "shapes", "truth", "tracker_accuracy",
)  # fmt: skip
"""The tables of a snapshot; each as CSV and Parquet."""


def rules_of(run: RunPlan) -> ScoringRules:
    """The scoring rules of a run's suite."""
    rules = run.suite.rules
    return ScoringRules(
        no_face=rules.no_face,
        rule=rules.change,
        occlusion=rules.occlusion,
        interval=rules.interval,
        resamples=rules.resamples,
        seed=rules.seed,
    )


def collect(run: RunPlan, store: ObjectStore) -> Collected:
    """Everything that is stored about a run's chains."""
    photos = wiring.dataset(run.dataset)
    found = list(walks(run, photos, finder(run, photos, store)))
    failed: list[StepFailure] = failures.of_run(run, store)
    return Collector(run, photos, store).collect(found, failed)


def score(run: RunPlan, collected: Collected) -> dict[str, pl.DataFrame]:
    """Every table of a run."""
    taxonomy, rules = load(Taxonomy, run.suite.taxonomy), rules_of(run)
    steps, photos = collected.steps, collected.photos
    sessions = scoring.score_sessions(steps, photos, taxonomy, rules)
    dataset = wiring.dataset(run.dataset)
    left_out = [item.model_dump() for item in dataset.left_out]
    fields = ("id", "subject", "role", "source", "licence", "derived_from", "image_sha256")
    sources = [photo.model_dump(include=set(fields)) for photo in dataset.photos]
    return {
        "leaderboard": scoring.leaderboard(sessions, rules),
        "progression": scoring.progression(steps, photos, taxonomy, rules),
        "coverage": scoring.coverage(sessions),
        "overediting": scoring.overediting_matrix(steps, photos, taxonomy, rules),
        "missed_edits": scoring.missed_edits(steps, photos, taxonomy, rules),
        "sessions": sessions,
        "steps": steps,
        "photos": photos,
        "left_out": pl.DataFrame(
            left_out, schema={name: pl.String for name in ("source", "reason", "detail")}
        ),
        "sources": pl.DataFrame(sources, schema={name: pl.String for name in fields}),
        "served": served_table(run, collected.served),
        "refusals": refusals(steps, photos),
        "shapes": shapes(collected.sizes),
        **_truth_tables(collected, sessions, taxonomy),
    }


def _truth_tables(
    collected: Collected, sessions: pl.DataFrame, taxonomy: Taxonomy
) -> dict[str, pl.DataFrame]:
    """What a model that tells the truth did, beside what was measured of it, over the same sessions."""
    told: dict[tuple[str, str, str], list[StepTruth]] = {}
    cells = []
    seen = {
        (row["model"], row["photo"], row["session"], row["step"]): row
        for row in collected.steps.iter_rows(named=True)
    }
    for model, photo, session, number, truth in collected.truth:
        step = StepTruth(
            asked_sub_axis=truth["asked_sub_axis"] or "",
            keep=truth["keep"],
            made=truth["made"],
            changed=truth["changed"],
        )
        told.setdefault((model, photo, session), []).append(step)
        row = seen[model, photo, session, number]
        cells += recognition_cells(step, {name: row[state_column(name)] for name in taxonomy.sub_axes})
    rows = []
    for row in sessions.filter(pl.col("oer").is_not_null()).iter_rows(named=True):
        key = (row["model"], row["photo"], row["session"])
        if key in told:
            not_made, asked = missed(told[key])
            rows.append(
                {
                    **dict(zip(("model", "photo", "session"), key, strict=True)),
                    "oer_true": true_oer(told[key]),
                    "oer_measured": row["oer"],
                    "missed_true": not_made,
                    "missed_measured": row["missed_edits"],
                    "asked": asked,
                }
            )
    schema = {name: pl.String for name in ("model", "photo", "session")} | {
        "oer_true": pl.Float64, "oer_measured": pl.Float64,
        "missed_true": pl.Int64, "missed_measured": pl.Int64, "asked": pl.Int64,
    }  # fmt: skip
    return {"truth": pl.DataFrame(rows, schema=schema), "tracker_accuracy": tracker_accuracy(cells)}


def files_of(tables: Mapping[str, pl.DataFrame], rules: ScoringRules) -> dict[str, bytes]:
    """The tables as the bytes of files, the same for the same numbers."""
    files = {"rules.json": json.dumps(asdict(rules), sort_keys=True, indent=1).encode()}
    for name, table in tables.items():
        _refuse_nan(name, table)
        out = io.BytesIO()
        table.write_parquet(out, compression="zstd")
        files[f"{name}.parquet"] = out.getvalue()
        files[f"{name}.csv"] = _flat(table).write_csv().encode()
    return files


def _refuse_nan(name: str, table: pl.DataFrame) -> None:
    for column in table.select(pl.col(pl.Float64)).iter_columns():
        if not column.drop_nulls().is_finite().all():
            raise MetricError(f"{name}.{column.name} holds a value that is not finite; nothing was published")


def _flat(table: pl.DataFrame) -> pl.DataFrame:
    lists = [name for name, kind in table.schema.items() if kind == pl.List(pl.String)]
    return table.with_columns(
        pl.when(pl.col(name).is_null()).then(pl.lit("?")).otherwise(pl.col(name).list.join("|")).alias(name)
        for name in lists
    )


def read_table(store: ObjectStore, snapshot: Snapshot, name: str) -> pl.DataFrame:
    """One table of a snapshot."""
    data = store.get(keys.report(snapshot.suite, snapshot.digest, f"{name}.parquet"))
    return pl.read_parquet(io.BytesIO(data or b""))


def publish_tables(run: RunPlan, tables: Mapping[str, pl.DataFrame], store: ObjectStore) -> Snapshot:
    """Write a snapshot's files; when all of them are there, they are the same and nothing is written."""
    files = files_of(tables, rules_of(run))
    digest = keys.fingerprint({name: keys.sha256(data) for name, data in files.items()})
    new = [store.put_new(keys.report(run.suite.id, digest, name), data) for name, data in files.items()]
    return Snapshot(suite=run.suite.id, digest=digest, run_id=run.id, is_new=any(new))


@task(task_run_name="score {run_id}", **policies.ONCE)
async def score_run(run_id: str) -> Snapshot:
    """Compute and store every table of a run."""
    return await in_thread(_score_run, run_id)


def _score_run(run_id: str) -> Snapshot:
    run, store = wiring.run_plan(run_id), wiring.store()
    return publish_tables(run, score(run, collect(run, store)), store)


async def notices(snapshot: Snapshot) -> tuple[str, ...]:
    """What a reader of a snapshot must know, one sentence each."""
    return await in_thread(read_notices, snapshot, wiring.store())


def read_notices(snapshot: Snapshot, store: ObjectStore) -> tuple[str, ...]:
    """What a reader of a snapshot must know, one sentence each."""
    return notices_of(read_table(store, snapshot, "served"))


def rescore(suite: str) -> Snapshot:
    """Score the newest run of a suite again; raises StoreError when it was never run."""
    return _score_run(newest_run(suite, wiring.store()))
