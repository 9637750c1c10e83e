"""What the pages of a snapshot are made of: its tables, its run, and the pictures of its chains."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import polars as pl

from adapters.base import ObjectStore
from domain import keys
from domain.photos import Dataset
from domain.runs import RunPlan, Snapshot
from tasks import wiring
from tasks.scoring import read_table
from tasks.surveys import survey
from tasks.unmeasured import edits_of

PICTURES = pl.Schema(
    {
        **{name: pl.String for name in ("model", "photo", "session")},
        "step": pl.Int64,
        **{
            name: pl.String for name in ("input_sha256", "input_extension", "image_sha256", "image_extension")
        },
    }
)
"""Every edit of a run: what went in and what came out."""


def pictures_of(run: RunPlan, photos: Dataset, store: ObjectStore) -> pl.DataFrame:
    """The frame `PICTURES` of a run, from the compacted table of its steps."""
    history = survey(run, photos, store).history
    sessions = pl.Series([session.id for session in run.sessions], dtype=pl.String)
    frames: list[pl.DataFrame] = []
    for at, card in enumerate(run.cards):
        edits = edits_of(history, at)
        own = sessions.gather(edits["chain"] % max(1, len(run.sessions)))
        frames.append(edits.with_columns(model=pl.lit(card.id), session=own).select(PICTURES.names()))
    return pl.concat(frames) if frames else pl.DataFrame(schema=PICTURES)


@dataclass(frozen=True)
class SiteSource:
    """A snapshot as it lies in the store."""

    snapshot: Snapshot
    run: RunPlan
    store: ObjectStore
    find_pictures: Callable[[RunPlan, Dataset, ObjectStore], pl.DataFrame] = pictures_of
    _tables: dict[str, pl.DataFrame] = field(default_factory=dict[str, pl.DataFrame])

    @cached_property
    def photos(self) -> Dataset:
        """The photos of the run."""
        return wiring.dataset(self.run.dataset)

    @cached_property
    def pictures(self) -> pl.DataFrame:
        """The frame `PICTURES`."""
        return self.find_pictures(self.run, self.photos, self.store)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Every file of the snapshot's tables, from its own place."""
        prefix = keys.report(self.snapshot.suite, self.snapshot.digest, "rules.json").removesuffix(
            "rules.json"
        )
        return tuple(key.removeprefix(prefix) for key in self.store.list(prefix))

    def has(self, name: str) -> bool:
        """Whether the snapshot has a table, with at least one row."""
        return f"{name}.parquet" in self.names and not self.table(name).is_empty()

    def table(self, name: str) -> pl.DataFrame:
        """One table; raises StoreError when it is not there."""
        if name not in self._tables:
            self._tables[name] = read_table(self.store, self.snapshot, name)
        return self._tables[name]

    def maybe(self, name: str) -> pl.DataFrame | None:
        """One table, or None where it is not there or has no row."""
        return self.table(name) if self.has(name) else None
