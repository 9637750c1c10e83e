"""Every table of a run of prompt chains, before anybody has voted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from adapters.base import ObjectStore
from domain.chains import ChainSet
from domain.photos import Dataset
from domain.runs import RunPlan
from metrics import attempts
from metrics.face_drift import face_drift
from metrics.frames import COVERAGE
from metrics.refusals import refusals
from metrics.shapes import shapes
from tasks import failures, wiring
from tasks.drift_collecting import (
    COLUMNS,
    DriftCollected,
    DriftCollector,
    chain_rows,
    without_counterpart,
)
from tasks.finished_chains import min_completion
from tasks.served import served_table
from tasks.surveys import survey

DRIFT_TABLES = (
    "completion", "attempts", "progression", "steps", "chains", "photos", "failed_steps", "coverage",
    "left_out", "sources", "served", "refusals", "shapes",
)  # fmt: skip
"""The tables of a snapshot of prompt chains."""
LEFT_OUT = {name: pl.String for name in ("source", "reason", "detail")}
SOURCES = ("id", "subject", "role", "source", "licence", "derived_from", "image_sha256")
_KEY = ("suite", "dataset", "model")


def collect_drift(run: RunPlan, store: ObjectStore) -> DriftCollected:
    """Everything that is stored about a run's chains."""
    seen = survey(run, wiring.dataset(run.dataset), store, COLUMNS)
    return DriftCollector(seen, store).collect(failures.of_run(run, store))


def score_drift(run: RunPlan, collected: DriftCollected) -> dict[str, pl.DataFrame]:
    """Every table of `DRIFT_TABLES`."""
    steps, chains, most = collected.steps, collected.chains, run.suite.steps.attempts
    dataset = wiring.dataset(run.dataset)
    faces = comparable(steps, chains, collected.photos)
    detail = pl.coalesce(pl.col("faults").list.join(", ").replace("", None), "reason")
    tables = {
        "completion": attempts.completion(chains, steps, min_completion(run)),
        "attempts": attempts.attempts_by_step(steps, most),
        "progression": face_drift(
            faces,
            rng=np.random.default_rng(run.suite.rules.seed),
            resamples=run.suite.rules.resamples,
            no_face=run.suite.rules.no_face,
        ),
        "steps": steps,
        "chains": chain_rows(run, dataset.id, chains),
        "photos": collected.photos,
        "failed_steps": attempts.failed_steps(steps.with_columns(detail=detail), most),
        "coverage": _coverage(run, dataset, collected),
        "left_out": _left_out(run, dataset),
        "sources": pl.DataFrame(
            [photo.model_dump(include=set(SOURCES)) for photo in dataset.photos],
            schema={name: pl.String for name in SOURCES},
        ),
        "served": served_table(run, collected.served),
        "refusals": refusals(steps, collected.photos),
        "shapes": shapes(collected.sizes),
    }
    return {name: tables[name] for name in DRIFT_TABLES}


def drift_rules(run: RunPlan, chain_set: ChainSet) -> Mapping[str, Any]:
    """The choices that change the numbers of a run of prompt chains."""
    used = run.suite.rules.model_dump(include={"no_face", "resamples", "seed"})
    return {
        **used,
        **{f"steps_{name}": value for name, value in run.suite.steps.model_dump().items()},
        "min_completion": min_completion(run),
        "chain_set": f"{chain_set.id}@{chain_set.version}",
    }


def comparable(steps: pl.DataFrame, chains: pl.DataFrame, photos: pl.DataFrame) -> pl.DataFrame:
    """The made steps of complete chains, of photos that show a face to compare with."""
    key = [*_KEY, "photo", "session"]
    complete = chains.filter(pl.col("status") == "complete").select(key)
    with_face = photos.filter(pl.col("face") == "found").select("photo")
    made = steps.filter((pl.col("verdict") == "made") & pl.col("face").is_not_null())
    whole = made.join(complete, on=key, how="semi").join(with_face, on="photo", how="semi")
    lengths = whole.group_by(key).agg(n_read=pl.len())
    wanted = chains.join(lengths, on=key).filter(pl.col("n_read") == pl.col("n_steps")).select(key)
    return whole.join(wanted, on=key, how="semi")


def _coverage(run: RunPlan, dataset: Dataset, collected: DriftCollected) -> pl.DataFrame:
    """Whatever is in no mean or no chain, counted."""
    steps, chains = collected.steps, collected.chains
    key = [*_KEY, "photo", "session"]
    compared = comparable(steps, chains, collected.photos).select(key).unique()
    complete = chains.filter(pl.col("status") == "complete")
    rows = [
        _counted(chains.filter(pl.col("status") == "stopped"), "chain", pl.col("why")),
        _counted(chains.filter(pl.col("status") == "unfinished"), "unfinished", pl.col("why")),
        _counted(complete.join(compared, on=key, how="anti"), "progression", pl.lit("not_compared")),
    ]
    no_chain, no_photo = without_counterpart(run, dataset.base)
    named = {"suite": run.suite.id, "dataset": dataset.id, "model": None, "test_set": None}
    unmatched = [
        {**named, "what": what, "reason": reason, "n": len(names)}
        for what, reason, names in (("photo", "no_chain", no_chain), ("prompt_chain", "no_photo", no_photo))
        if names
    ]
    return pl.concat([pl.DataFrame(unmatched, COVERAGE), *rows]).sort(COVERAGE.names(), nulls_last=False)


def _counted(chains: pl.DataFrame, what: str, reason: pl.Expr) -> pl.DataFrame:
    return (
        chains.with_columns(what=pl.lit(what), reason=reason)
        .group_by(*_KEY, "test_set", "what", "reason")
        .agg(n=pl.len().cast(pl.Int64))
        .select(COVERAGE.names())
    )


def _left_out(run: RunPlan, dataset: Dataset) -> pl.DataFrame:
    """Files that became no photo, then photos without a chain and chains without a photo."""
    rows = [item.model_dump(include=set(LEFT_OUT)) for item in dataset.left_out]
    chain_set = run.chain_set
    if chain_set:
        name = f"{chain_set.id}, version {chain_set.version}"
        no_chain, no_photo = without_counterpart(run, dataset.base)
        rows += [_row(photo, "no_chain", f"{name} has no chain for this photo") for photo in no_chain]
        rows += [
            _row(photo, "no_photo", f"{name} has a chain for it, {dataset.id} no photo") for photo in no_photo
        ]
    return pl.DataFrame(rows, schema=LEFT_OUT)


def _row(source: str, reason: str, detail: str) -> dict[str, str]:
    return {"source": source, "reason": reason, "detail": detail}
