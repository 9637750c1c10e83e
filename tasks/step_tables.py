"""The compacted table of finished steps: an index that spares planning a read of every outcome."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable

import polars as pl

from adapters.base import ObjectStore
from domain import keys
from domain.plan import Walk
from domain.records import OutcomeRecord

SCHEMA = pl.Schema(
    {
        "key": pl.String,
        "model": pl.String,
        "photo": pl.String,
        "session": pl.String,
        "step": pl.Int64,
        "kind": pl.String,
        "reason": pl.String,
        "input_sha256": pl.String,
        "image_sha256": pl.String,
        "cost_usd": pl.Float64,
        "outcome": pl.String,
    }
)
"""One finished step a row; `outcome` is the whole record as JSON."""


class StepIndex:
    """Finished steps by their key."""

    def __init__(self, rows: dict[str, str]) -> None:
        self._rows = rows

    def get(self, key: str) -> OutcomeRecord | None:
        """The outcome of a step, if the table has it."""
        found = self._rows.get(key)
        return OutcomeRecord.model_validate_json(found) if found else None


def index(suite: str, dataset_id: str, store: ObjectStore) -> StepIndex:
    """The index of a suite's finished steps; empty when nothing was compacted yet."""
    frames = [_frame(store, name, ["key", "outcome"]) for name in _parts(suite, dataset_id, store).values()]
    rows: dict[str, str] = {}
    for frame in frames:
        rows.update(zip(frame["key"].to_list(), frame["outcome"].to_list(), strict=True))
    return StepIndex(rows)


def compact(suite: str, dataset_id: str, found: Iterable[Walk], store: ObjectStore) -> None:
    """Write the finished steps of some chains, with those already in the table; the list of files last."""
    parts = _parts(suite, dataset_id, store)
    fresh = pl.DataFrame(
        [_row(walk, number) for walk in found for number in range(1, len(walk.outcomes) + 1)], SCHEMA
    )
    for (model,), rows in fresh.group_by(["model"], maintain_order=True):
        name = str(model)
        known = _frame(store, parts[name], list(SCHEMA)) if name in parts else rows.clear()
        step = ["photo", "session", "step", "key"]
        out = io.BytesIO()
        pl.concat([rows, known]).unique(step, keep="first").sort(step).write_parquet(out, compression="zstd")
        key = keys.steps_table(suite, dataset_id, name, keys.sha256(out.getvalue()))
        store.put_new(key, out.getvalue())
        parts[name] = key
    manifest = json.dumps({"parts": parts}, sort_keys=True).encode()
    if store.get(keys.steps_manifest(suite, dataset_id)) != manifest:
        store.put(keys.steps_manifest(suite, dataset_id), manifest)


def _parts(suite: str, dataset_id: str, store: ObjectStore) -> dict[str, str]:
    data = store.get(keys.steps_manifest(suite, dataset_id))
    try:
        return json.loads(data)["parts"] if data else {}
    except (ValueError, KeyError, TypeError):
        return {}  # damaged: the outcomes say the same, only slower, and the next run writes it anew


def _frame(store: ObjectStore, key: str, columns: list[str]) -> pl.DataFrame:
    data = store.get(key)
    if data is None:
        return pl.DataFrame(schema={name: SCHEMA[name] for name in columns})
    try:
        return pl.read_parquet(io.BytesIO(data), columns=columns)
    except pl.exceptions.PolarsError:
        store.delete(key)  # damaged, and its name would keep a whole one from being written
        return pl.DataFrame(schema={name: SCHEMA[name] for name in columns})


def _row(walk: Walk, number: int) -> dict[str, str | int | float | None]:
    outcome = walk.outcomes[number - 1]
    return {
        "key": outcome.key,
        "model": walk.chain.model,
        "photo": walk.chain.photo,
        "session": walk.chain.session,
        "step": number,
        "kind": outcome.kind,
        "reason": outcome.reason,
        "input_sha256": outcome.identity.input_sha256,
        "image_sha256": outcome.image.sha256 if outcome.image else None,
        "cost_usd": outcome.cost_usd,
        "outcome": outcome.model_dump_json(),
    }
