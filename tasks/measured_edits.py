"""What was measured of the edits of a run: from its compacted table, and what that lacks from the records."""

from __future__ import annotations

from typing import Any

import polars as pl

from adapters.base import ObjectStore
from domain.photos import Dataset
from domain.runs import RunPlan
from tasks.definitions import taxonomy_of
from tasks.measured_tables import ROW, MeasuredTable
from tasks.measuring import Measurements
from tasks.threads import on_threads


class MeasuredEdits:
    """Reads measurements, and adds what was measured in full to the table."""

    def __init__(self, run: RunPlan, photos: Dataset, store: ObjectStore) -> None:
        taxonomy = taxonomy_of(run.suite)
        self.records = Measurements(run, photos, taxonomy, store)
        self._table = MeasuredTable(run, taxonomy, store)
        asked = {"judgement": run.judge, "tracked": run.tracker}
        self._asked = [column for column, judge in asked.items() if judge is not None]

    def of_model(self, model: str, edits: pl.DataFrame) -> pl.DataFrame:
        """What was measured of a model's edits (`tasks.unmeasured.edits_of`)."""
        known = self._table.rows(model)
        lacking = edits.join(known, on=ROW, how="anti", maintain_order="left").unique(
            ROW, keep="first", maintain_order=True
        )
        shown = lacking.select("key", "photo", "input_sha256", "image_sha256", "prompt").rows()
        fresh = pl.DataFrame(on_threads(self._measure, shown), self._table.schema)
        is_whole = pl.col("face").is_not_null()
        for column in self._asked:
            is_whole = is_whole & (pl.col(column) != "missing")
        self._table.add(model, fresh.filter(is_whole))
        return pl.concat([known, fresh])

    def _measure(self, edit: tuple[str, str, str, str, str]) -> dict[str, Any]:
        key, photo, before, after, prompt = edit
        return {"key": key, "photo": photo} | self.records.edit(before, after, prompt, photo)
