"""Every number of a run, out of the store and back into it: a snapshot that never changes."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

import polars as pl

from adapters.base import ObjectStore
from domain import keys
from domain.errors import MetricError, StoreError
from domain.groups import group_notices, label_counts
from domain.runs import RunPlan, Snapshot
from domain.taxonomy import Taxonomy
from metrics import scoring
from metrics.agreement import tracker_accuracy, tracker_confusion
from metrics.frames import state_column
from metrics.overedit_patterns import frequent_patterns
from metrics.refusals import refusals
from metrics.shapes import shapes
from metrics.truth import StepTruth, missed, recognition_cells, true_oer
from tasks import failures, wiring
from tasks.collecting import COLUMNS, Collected, Collector
from tasks.definitions import taxonomy_of
from tasks.drift_scoring import DRIFT_TABLES, collect_drift, drift_rules, score_drift
from tasks.group_tables import GROUP_TABLES, group_tables, scoring_rules
from tasks.pointers import part_notice
from tasks.scanning import scan_object
from tasks.served import notices_of, served_table, unreadable
from tasks.surveys import survey
from tasks.threads import in_thread
from tasks.vote_notices import vote_notices

TABLES = (
    "leaderboard", "progression", "coverage", "coverage_by_group", "overediting", "missed_edits", "patterns",
    "sessions", "steps", "photos", "left_out", "sources", "fss_floor", "served", "refusals",
    "shapes", "truth", "tracker_accuracy", "tracker_confusion", *GROUP_TABLES,
)  # fmt: skip
"""The tables of a snapshot; each as CSV and Parquet."""

PHOTO_FIELDS = ("id", "subject", "role", "source", "licence", "derived_from", "image_sha256")


FLOOR = {"value": pl.Float64, "n_photos": pl.Int64, "n_pairs": pl.Int64}
MOST_UNREADABLE = 0.1
"""Share of a judge's answers above which its scores are no result."""


def tables_of(run: RunPlan) -> tuple[str, ...]:
    """Names of the tables that a run's score has."""
    return TABLES if run.chain_set is None else DRIFT_TABLES


def collect(run: RunPlan, store: ObjectStore) -> Collected:
    """Everything that is stored about a run's chains."""
    seen = survey(run, wiring.dataset(run.dataset), store, COLUMNS)
    return Collector(seen.history, store).collect(failures.of_run(run, store))


def score(run: RunPlan, collected: Collected) -> dict[str, pl.DataFrame]:
    """Every table of a run."""
    taxonomy, floor = taxonomy_of(run.suite), collected.floor
    rules = replace(scoring_rules(run.suite.rules), floor=floor.value if floor else None)
    steps, photos = collected.steps, collected.photos
    coded = scoring.code_steps(steps, taxonomy)
    scored = scoring.score(coded, photos, taxonomy, rules)
    controls = [card.id for card in run.cards if card.is_control]
    groups = group_tables(coded, photos, scored.sessions, taxonomy, run.suite.axes, run.suite.rules, controls)
    dataset = wiring.dataset(run.dataset)
    left_out = [item.model_dump() for item in dataset.left_out]
    sources = [photo.model_dump(include=set(PHOTO_FIELDS)) for photo in dataset.photos]
    return {
        "leaderboard": scored.leaderboard,
        "progression": scored.progression,
        "coverage": pl.concat([scored.coverage, unknown_groups(groups["session_counts"])]),
        "coverage_by_group": scored.coverage_by_group,
        "overediting": scored.overediting,
        "missed_edits": scored.missed_edits,
        "patterns": frequent_patterns(scored.overediting.filter(~pl.col("model").is_in(controls))),
        "sessions": scored.sessions,
        "steps": steps,
        "photos": photos,
        "left_out": pl.DataFrame(
            left_out, schema={name: pl.String for name in ("source", "reason", "detail")}
        ),
        "sources": pl.DataFrame(sources, schema={name: pl.String for name in PHOTO_FIELDS}),
        "fss_floor": pl.DataFrame([asdict(floor)] if floor else [], schema=FLOOR),
        "served": served_table(run, collected.served),
        "refusals": refusals(steps, photos),
        "shapes": shapes(collected.sizes),
        **_truth_tables(collected, scored.sessions, taxonomy),
        **groups,
    }


def unknown_groups(counts: pl.DataFrame) -> pl.DataFrame:
    """Complete sessions that are in no group of an axis, as rows of `coverage`."""
    return counts.filter(pl.col("group").is_null() & (pl.col("n_sessions") > 0)).select(
        "suite",
        "dataset",
        "model",
        "test_set",
        pl.concat_str(pl.lit("axis "), "axis").alias("what"),
        pl.lit("unknown_group").alias("reason"),
        pl.col("n_sessions").alias("n"),
    )


def _truth_tables(
    collected: Collected, sessions: pl.DataFrame, taxonomy: Taxonomy
) -> dict[str, pl.DataFrame]:
    """What a model that tells the truth did, beside what was measured of it, over the same sessions."""
    told: dict[tuple[str, str, str], list[StepTruth]] = {}
    cells = []
    key = ("model", "photo", "session", "step")
    asked = pl.DataFrame(
        [row[:4] for row in collected.truth], {k: collected.steps.schema[k] for k in key}, orient="row"
    )
    those = collected.steps.join(asked, on=key, how="semi")
    seen = {tuple(row[name] for name in key): row for row in those.iter_rows(named=True)}
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
    return {
        "truth": pl.DataFrame(rows, schema=schema),
        "tracker_accuracy": tracker_accuracy(cells),
        "tracker_confusion": tracker_confusion(cells),
    }


def files_of(tables: Mapping[str, pl.DataFrame], rules: Mapping[str, Any]) -> dict[str, bytes]:
    """The tables as the bytes of files, the same for the same numbers."""
    files = {"rules.json": json.dumps(rules, sort_keys=True, indent=1).encode()}
    for name, table in tables.items():
        _refuse_nan(name, table)
        out = io.BytesIO()
        table.write_parquet(out, compression="zstd")
        files[f"{name}.parquet"] = out.getvalue()
        files[f"{name}.csv"] = _flat(table).write_csv().encode()
    return files


def _refuse_nan(name: str, table: pl.DataFrame) -> None:
    floats = [column for column, kind in table.schema.items() if kind in (pl.Float64, pl.List(pl.Float64))]
    for column in table.select(floats).iter_columns():
        held = column.explode() if column.dtype != pl.Float64 else column
        if not held.drop_nulls().is_finite().all():
            raise MetricError(f"{name}.{column.name} holds a value that is not finite; nothing was published")


def _flat(table: pl.DataFrame) -> pl.DataFrame:
    lists = [name for name, kind in table.schema.items() if isinstance(kind, pl.List)]
    text = {
        name: pl.col(name).cast(pl.List(pl.String)).list.eval(pl.element().fill_null("?")) for name in lists
    }
    return table.with_columns(
        pl.when(pl.col(name).is_null()).then(pl.lit("?")).otherwise(held.list.join("|")).alias(name)
        for name, held in text.items()
    )


def read_table(store: ObjectStore, snapshot: Snapshot, name: str) -> pl.DataFrame:
    """One table of a snapshot; raises StoreError when it is not there."""
    key = keys.report(snapshot.suite, snapshot.digest, f"{name}.parquet")
    data = store.get(key)
    if data is None:
        raise _no_table(name, key)
    return pl.read_parquet(io.BytesIO(data))


def scan_table(store: ObjectStore, suite: str, digest: str, name: str) -> pl.LazyFrame:
    """One table of a snapshot, of which only what is asked for is read; raises StoreError."""
    key = keys.report(suite, digest, f"{name}.parquet")
    if store.head(key) is None:
        raise _no_table(name, key)
    return scan_object(store, key)


def _no_table(name: str, key: str) -> StoreError:
    return StoreError(f"the snapshot has no table {name!r}; score it again", key=key)


def publish_tables(run: RunPlan, tables: Mapping[str, pl.DataFrame], store: ObjectStore) -> Snapshot:
    """Write a snapshot's files; when all of them are there, they are the same and nothing is written."""
    files = files_of(tables, rules_of(run))
    digest = keys.fingerprint({name: keys.sha256(data) for name, data in files.items()})
    new = [store.put_new(keys.report(run.suite.id, digest, name), data) for name, data in files.items()]
    return Snapshot(suite=run.suite.id, digest=digest, run_id=run.id, is_new=any(new))


def rules_of(run: RunPlan) -> Mapping[str, Any]:
    """The choices that change a run's numbers."""
    return run.suite.rules.model_dump() if run.chain_set is None else drift_rules(run, run.chain_set)


def score_tables(run: RunPlan, store: ObjectStore) -> dict[str, pl.DataFrame]:
    """Every table of a run, from what is stored."""
    if run.chain_set is None:
        return score(run, collect(run, store))
    return score_drift(run, collect_drift(run, store))


async def notices(snapshot: Snapshot) -> tuple[tuple[str, ...], list[str]]:
    """What a reader of a snapshot must know, one sentence each, and what of it makes the run incomplete."""
    return await in_thread(_notices, snapshot, wiring.store())


def _notices(snapshot: Snapshot, store: ObjectStore) -> tuple[tuple[str, ...], list[str]]:
    steps = read_table(store, snapshot, "steps")
    problems = [
        f"{role}: {bad} of {asked} answers could not be read; look at raw_texts of the stored answers, and "
        "at its prompt and card"
        for role, (bad, asked) in unreadable(steps).items()
        if bad > MOST_UNREADABLE * asked
    ]
    run = wiring.run_plan(snapshot.run_id)
    told = notices_of(read_table(store, snapshot, "served"), steps)
    return (*part_notice(run), *vote_notices(snapshot, store), *told, *notices_of_groups(run)), problems


def notices_of_groups(run: RunPlan) -> tuple[str, ...]:
    """What of a suite's groups meets no photo of its run, one sentence each."""
    photos = wiring.dataset(run.dataset).by_id
    seen = label_counts(photos[name].groups for name in run.photos)
    return group_notices(seen, run.suite.demographics, run.suite.listed)
