"""Which chains of a run came to their last step, and the images they ended with."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import polars as pl

from adapters.base import ObjectStore
from domain.photos import Dataset
from domain.runs import RunPlan
from tasks.surveys import survey

SCHEMA = pl.Schema(
    {
        "model": pl.String,
        "photo": pl.String,
        "session": pl.String,
        "image_sha256": pl.String,
        "image_extension": pl.String,
    }
)


@dataclass(frozen=True)
class Finished:
    """The finished chains of a run."""

    chains: pl.DataFrame
    """One row each, in the order of models, photos and sessions: see `SCHEMA`."""
    asked: tuple[tuple[str, str], ...]
    """Photo and session of every chain that each model was to take."""

    @cached_property
    def completion(self) -> dict[str, float]:
        """Of each model that finished any the share of its chains that it finished."""
        counts = self.chains.group_by("model", maintain_order=True).len()
        return {model: n / len(self.asked) for model, n in counts.iter_rows()}


def finished(run: RunPlan, photos: Dataset, store: ObjectStore) -> Finished:
    """Follow every chain of a run to its end; raises StoreError where the store cannot be read."""
    history = survey(run, photos, store).history
    last = history.steps.group_by("chain", maintain_order=True).last()
    edited = last.filter(
        pl.col("image_sha256").is_not_null() & ~pl.col("chain").is_in(list(history.open_numbers))
    ).sort("chain")
    named = edited.select("chain", "image_sha256", "image_extension")
    rows: list[tuple[str, ...]] = []
    for number, sha, extension in named.iter_rows():
        chain = history.chain(number)
        rows.append((chain.model, chain.photo, chain.session, sha, extension))
    return Finished(pl.DataFrame(rows, SCHEMA, orient="row"), asked(run))


def asked(run: RunPlan) -> tuple[tuple[str, str], ...]:
    """Photo and session of every chain that each model of a run is to take."""
    return tuple(
        (photo, session.id)
        for photo in run.photos
        for session in run.sessions
        if session.photo in (None, photo)
    )
