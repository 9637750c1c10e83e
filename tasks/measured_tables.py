"""What was measured of finished steps, compacted: scoring reads it instead of three small records a step.

A row is kept once all of a step is measured, and never changes: it stands under the fingerprint of the
photos, the embedder, the judge and the tracker that made it.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator
from typing import Any

import polars as pl

from adapters.base import ObjectStore
from domain import keys
from domain.runs import RunPlan
from domain.taxonomy import Taxonomy
from metrics.frames import state_column

Row = dict[str, Any]
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
        self._schema = schema(taxonomy)
        self._store = store
        self._fingerprint = keys.fingerprint(
            {
                "dataset": run.dataset,
                "embedder": keys.fingerprint(run.embedder),
                "judge": keys.fingerprint(run.judge),
                "tracker": keys.fingerprint(run.tracker),
                "taxonomy": keys.fingerprint(taxonomy),
            }
        )

    def rows(self) -> Iterator[tuple[tuple[str, str], Row]]:
        """Each row by (outcome key, photo)."""
        for part in self._parts():
            data = self._store.get(part)
            if data is None:
                continue
            try:
                frame = pl.read_parquet(io.BytesIO(data))
            except pl.exceptions.PolarsError:
                self._store.delete(part)  # damaged: the records say the same, only slower
                continue
            if frame.schema == self._schema:
                for row in frame.iter_rows(named=True):
                    yield (row["key"], row["photo"]), row

    def add(self, fresh: Iterable[Row]) -> None:
        """Write further rows as one part; the list of parts last."""
        frame = pl.DataFrame(list(fresh), self._schema).unique(["key", "photo"]).sort("key", "photo")
        if frame.is_empty():
            return
        out = io.BytesIO()
        frame.write_parquet(out, compression="zstd")
        part = keys.measured_table(self._fingerprint, keys.sha256(out.getvalue()))
        self._store.put_new(part, out.getvalue())
        parts = sorted({*self._parts(), part})
        self._store.put(keys.measured_manifest(self._fingerprint), json.dumps({"parts": parts}).encode())

    def _parts(self) -> list[str]:
        data = self._store.get(keys.measured_manifest(self._fingerprint))
        try:
            return [str(part) for part in json.loads(data)["parts"]] if data else []
        except (ValueError, KeyError, TypeError):
            return []  # damaged: written anew from the records
