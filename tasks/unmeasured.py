"""The images and edits of a run that lack a measurement, named by what it is stored under."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import polars as pl

from adapters.base import ObjectStore
from domain import keys
from domain.runs import RunPlan
from tasks.definitions import taxonomy_of
from tasks.embedding import ImageKey
from tasks.histories import IS_MADE, History
from tasks.judging import EditKey
from tasks.measured_tables import ROW, MeasuredTable
from tasks.threads import on_threads

Unit = TypeVar("Unit", ImageKey, EditKey)


@dataclass(frozen=True)
class Unmeasured:
    """What the store lacks of a run's measurements, as far as its chains have come.

    A step in the compacted table of measurements is measured in full; only the others are looked up.
    """

    history: History
    store: ObjectStore

    @property
    def run(self) -> RunPlan:
        """The run."""
        return self.history.run

    @property
    def is_empty(self) -> bool:
        """Whether nothing lacks."""
        return not (self.faces or self.states or self.edits)

    @property
    def faces(self) -> list[ImageKey]:
        """Images without a face record."""
        fingerprint = keys.fingerprint(self.run.embedder)
        return self._lacking(self._images, lambda image: keys.faces(fingerprint, image.sha256))

    @property
    def states(self) -> list[ImageKey]:
        """Images without a state record, base photos included; none where nobody tracks states."""
        if self.run.tracker is None:
            return []
        fingerprint = keys.fingerprint(self.run.tracker)
        return self._lacking(self._images, lambda image: keys.state(fingerprint, image.sha256))

    @property
    def edits(self) -> list[EditKey]:
        """Edits without a judgement; none where nobody judges."""
        if self.run.judge is None:
            return []
        fingerprint = keys.fingerprint(self.run.judge)
        return self._lacking(self._edits, lambda edit: keys.judgement(fingerprint, edit.key))

    def _lacking(self, units: list[Unit], key: Callable[[Unit], str]) -> list[Unit]:
        sizes = on_threads(lambda unit: self.store.head(key(unit)), units)
        return [unit for unit, size in zip(units, sizes, strict=True) if size is None]

    @cached_property
    def _edits(self) -> list[EditKey]:
        """Edits that the table of measurements does not have, each once, in the order of the chains."""
        table = MeasuredTable(self.run, taxonomy_of(self.run.suite), self.store)
        lacking = pl.concat(
            edits_of(self.history, at).join(
                table.rows(card.id, ROW), on=ROW, how="anti", maintain_order="left"
            )
            for at, card in enumerate(self.run.cards)
        )
        shown = ["input_sha256", "input_extension", "image_sha256", "image_extension", "prompt"]
        return [
            EditKey(
                before=ImageKey(sha256=before, extension=before_extension),
                after=ImageKey(sha256=after, extension=after_extension),
                prompt=prompt,
            )
            for before, before_extension, after, after_extension, prompt in lacking.select(shown)
            .unique(["input_sha256", "image_sha256", "prompt"], keep="first", maintain_order=True)
            .iter_rows()
        ]

    @cached_property
    def _images(self) -> list[ImageKey]:
        """The base photos, and what came of the edits."""
        base = (self.history.photos.by_id[name] for name in self.run.photos)
        found = [ImageKey(sha256=photo.image_sha256, extension=photo.extension) for photo in base]
        return list(dict.fromkeys([*found, *(edit.after for edit in self._edits)]))


def edits_of(history: History, model: int) -> pl.DataFrame:
    """The steps that one model, by its place in the run, has made, with their `photo` and what went in."""
    run, steps = history.run, history.of_model(model).filter(IS_MADE)
    at = steps["chain"] % max(1, history.stride) // max(1, len(run.sessions))
    base = [history.photos.by_id[name] for name in run.photos]

    def given(values: list[str] | list[int], after: str) -> pl.Expr:
        first = pl.Series(values).gather(at) if values else pl.Series([])
        return pl.when(pl.col("step") == 1).then(first).otherwise(pl.col(after).shift(1))

    return steps.with_columns(
        photo=pl.Series([photo.id for photo in base], dtype=pl.String).gather(at),
        input_sha256=given([photo.image_sha256 for photo in base], "image_sha256"),
        input_extension=given([photo.extension for photo in base], "image_extension"),
    )
