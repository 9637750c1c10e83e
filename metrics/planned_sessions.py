"""The sessions in a table of planned steps, each beside its base photo."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import polars as pl

from domain.errors import MetricError
from domain.judging import Scores, State
from domain.taxonomy import Taxonomy
from metrics.frames import SESSION_KEY, checked_photos, checked_steps, state_column
from metrics.overediting import Intent

Row = dict[str, Any]


@dataclass(frozen=True)
class PlannedSession:
    """One session of one photo with one model, finished or not."""

    steps: tuple[Row, ...]
    """Rows of `metrics.frames.STEPS` in order."""
    base: Row
    """The base photo's row of `metrics.frames.PHOTOS`."""

    @property
    def key(self) -> dict[str, str]:
        """Suite, dataset, model, photo and session."""
        return {name: self.steps[0][name] for name in SESSION_KEY}

    @property
    def cluster(self) -> str:
        """The person, or the photo where the person is unknown: the unit that is resampled."""
        return cluster_name(self.steps[0]["dataset"], self.steps[0]["subject"], self.steps[0]["photo"])

    @property
    def stop(self) -> Row | None:
        """The first step without an image; None for a complete session."""
        return next((step for step in self.steps if step["outcome"] != "edited"), None)

    @property
    def intents(self) -> list[Intent]:
        """What each step asks for."""
        return [Intent(s["asked_sub_axis"], s["asked_category"], s["keep"]) for s in self.steps]

    @property
    def scores(self) -> list[Scores | None]:
        """The judge's numbers of each step; None without a valid judgement."""
        return [
            Scores(success=step["success"], overediting=step["overediting"])
            if step["judgement"] == "scored"
            else None
            for step in self.steps
        ]

    def states(self, taxonomy: Taxonomy) -> list[State]:
        """States of the base photo and of every edited image; unknown where the tracker gave none."""
        edited = [_state(step, taxonomy, known=step["tracked"] == "tracked") for step in self.steps]
        return [_state(self.base, taxonomy, known=True), *edited]


def cluster_name(dataset: str, subject: str | None, photo: str) -> str:
    """A name for the unit that is resampled: the person where known, else the photo."""
    return repr((dataset, "photo", photo) if subject is None else (dataset, "subject", subject))


def planned_sessions(
    steps: pl.DataFrame, photos: pl.DataFrame, taxonomy: Taxonomy
) -> Iterator[PlannedSession]:
    """Every planned session, sorted by its key, whatever the order of the rows.

    Args:
        steps: Frame `metrics.frames.steps_schema(taxonomy)`.
        photos: Frame `metrics.frames.photos_schema(taxonomy)`.
        taxonomy: The sub-axes and their categories.

    Raises:
        MetricError: A table is malformed, or a step's base photo is not in `photos`.

    """
    bases = {(row["dataset"], row["photo"]): row for row in checked_photos(photos, taxonomy).to_dicts()}
    rows = checked_steps(steps, taxonomy).iter_rows(named=True)
    for key, held in groupby(rows, key=lambda row: tuple(row[name] for name in SESSION_KEY)):
        _, dataset, _, photo, _ = key
        if (dataset, photo) not in bases:
            raise MetricError(
                f"photo {photo!r} of dataset {dataset!r} has steps, but is not among the photos"
            )
        yield PlannedSession(steps=tuple(held), base=bases[dataset, photo])


def _state(row: Row, taxonomy: Taxonomy, *, known: bool) -> State:
    found = {sub_axis: row[state_column(sub_axis)] if known else None for sub_axis in taxonomy.sub_axes}
    return {sub_axis: None if names is None else tuple(names) for sub_axis, names in found.items()}
