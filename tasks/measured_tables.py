"""What was measured of finished steps, compacted: scoring reads it instead of three small records a step.

A row is kept once all of a step is measured, and never changes: it stands under the fingerprint of the
photos, the embedder, the judge and the tracker that made it. A part has rows of one model.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

import polars as pl

from adapters.base import ObjectStore
from domain import keys
from domain.runs import RunPlan
from domain.taxonomy import Taxonomy
from metrics.frames import state_column
from tasks import parts

ROW = ("key", "photo")
"""What names a row: the key of an outcome, and the photo that its face is compared with."""
OWN = ("key", "judge_version", "tracker_version")
"""Columns besides those of the steps."""


def schema(taxonomy: Taxonomy) -> pl.Schema:
    """One measured step a row; `key` is that of its outcome."""
    return pl.Schema(
        {
            "key": pl.String,
            "photo": pl.String,
            "face": pl.String,
            "n_faces": pl.Int64,
            "fss": pl.Float64,
            "judgement": pl.String,
            "success": pl.Float64,
            "overediting": pl.Float64,
            "tracked": pl.String,
            "judge_version": pl.String,
            "tracker_version": pl.String,
            **{state_column(sub_axis): pl.List(pl.String) for sub_axis in taxonomy.sub_axes},
        }
    )


class MeasuredTable:
    """The compacted measurements that a run can use."""

    def __init__(self, run: RunPlan, taxonomy: Taxonomy, store: ObjectStore) -> None:
        self.schema = schema(taxonomy)
        self._store = store
        self._fingerprint = keys.fingerprint(
            {
                "dataset": run.dataset,
                "embedder": keys.fingerprint(run.embedder),
                "judge": keys.fingerprint(run.judge) if run.judge else None,
                "tracker": keys.fingerprint(run.tracker) if run.tracker else None,
                "taxonomy": keys.fingerprint(taxonomy),
            }
        )

    def rows(self, model: str, columns: Sequence[str] = ()) -> pl.DataFrame:
        """Columns, or all, of each row of a model once; a damaged part has none: the records say the same."""
        listed = _parts(self._store.get(self._pointer)).get(model, [])
        found, _ = self._read(listed, columns or list(self.schema))
        return found

    def add(self, model: str, fresh: pl.DataFrame) -> None:
        """Write further rows of a model as one part; the list of parts last."""
        if fresh.is_empty():
            return
        part = self._write(fresh.select(self.schema.names()))
        self._list(model, added={part}, removed=set())
        listed = _parts(self._store.get(self._pointer)).get(model, [])
        if len(listed) > parts.MOST_PARTS:
            found, bad = self._read(listed, list(self.schema))
            merged = self._write(found)
            self._list(model, added={merged}, removed={*listed} - bad - {merged})

    def _read(self, listed: Sequence[str], columns: Sequence[str]) -> tuple[pl.DataFrame, set[str]]:
        found, bad = parts.read_all(self._store, listed, self.schema, columns)
        return (found.unique(ROW, keep="first") if len(listed) > 1 else found), bad

    def _write(self, rows: pl.DataFrame) -> str:
        data = parts.encode(rows.unique(ROW, keep="first").sort(ROW))
        part = keys.measured_table(self._fingerprint, keys.sha256(data))
        parts.write(self._store, part, data)
        return part

    def _list(self, model: str, *, added: set[str], removed: set[str]) -> None:
        def change(data: bytes | None) -> bytes | None:
            listed = _parts(data)
            held = set(listed.get(model, ()))
            if added <= held and not removed & held:
                return None
            return json.dumps(
                {"parts": listed | {model: sorted(held - removed | added)}}, sort_keys=True
            ).encode()

        parts.update(self._store, self._pointer, change)

    @property
    def _pointer(self) -> str:
        return keys.measured_manifest(self._fingerprint)


def _parts(data: bytes | None) -> dict[str, list[str]]:
    """Parts by model."""
    try:
        listed = json.loads(data)["parts"] if data else {}
        return {str(model): [str(part) for part in held] for model, held in listed.items()}
    except (ValueError, KeyError, TypeError, AttributeError):
        return {}  # damaged, or of an older version: written anew from the records
