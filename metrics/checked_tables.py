"""The two input tables of the metrics, checked and in order: what is wrong is refused, and its row named."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from domain.taxonomy import Taxonomy
from metrics.frames import ALLOWED, SESSION_KEY, photos_schema, steps_schema
from metrics.name_codes import category_numbers, joined, order_of, ranked, ranked_rows
from metrics.row_checks import Check, columns_of, refuse_rows, refuse_twice, row_error, whole_rows


def checked_photos(photos: pl.DataFrame, taxonomy: Taxonomy) -> pl.DataFrame:
    """The columns of `photos_schema`, sorted; further columns are dropped.

    Raises:
        MetricError: A column is absent or of another type, a photo is there twice or unnamed, or a number
            is not finite; the row is named.

    """
    key, schema = ("dataset", "photo"), photos_schema(taxonomy)
    frame = columns_of(photos, schema, "photos")
    outside = ("photos: FSS₀ is a cosine, and outside -1 to 1", pl.col("fss0").abs() > 1 + _ROUNDING)
    refuse_rows(frame, [*whole_rows(key, frame, "photos"), outside], key)
    return refuse_twice(frame, key, "photos: a row is there twice")


_ROUNDING = 1e-6


@dataclass(frozen=True)
class StepRows:
    """A checked table of steps."""

    frame: pl.DataFrame
    """Sorted by session and step."""
    starts: NDArray[np.int64]
    """The first row of each session, shape `(sessions,)`."""
    place: NDArray[np.int64]
    """The step of each row, from 0."""
    places: Mapping[str, NDArray[np.int64]]
    """Key, test set and subject of each session as numbers in alphabetical order; -1 for null."""


def checked_steps(steps: pl.DataFrame, taxonomy: Taxonomy) -> pl.DataFrame:
    """The columns of `steps_schema`, sorted by session and step; further columns are dropped.

    Raises:
        MetricError: A column is absent or of another type; a step is there twice, or a session has a gap,
            two test sets or two subjects; a value is outside its range or contradicts its status; the row
            is named.

    """
    return checked_step_rows(columns_of(steps, steps_schema(taxonomy), "steps")).frame


def checked_step_rows(frame: pl.DataFrame) -> StepRows:
    """Steps of the right columns, their states in whatever form, sorted by session and step.

    Raises:
        MetricError: As `checked_steps`, but for the columns.

    """
    key = (*SESSION_KEY, "step")
    needed = (*key, "test_set", "asked_category", "keep", "outcome")
    refuse_rows(frame, [*whole_rows(needed, frame, "steps"), *_step_checks(frame.schema)], key)
    rows = _runs(frame)
    sessions = joined([rows.places[name] for name in SESSION_KEY])
    if (np.diff(sessions) <= 0).any() or (rows.frame["step"].to_numpy() != rows.place + 1).any():
        order = order_of(ranked_rows(frame, key))
        rows = _runs(frame if order is None else frame[order])
    step, first = rows.frame["step"].to_numpy(), rows.starts.repeat(np.diff(rows.starts, append=frame.height))
    wrong = {
        "steps: a row is there twice": (np.diff(step, append=0) == 0) & (np.roll(first, -1) == first),
        "steps of a session do not count 1, 2, 3, ...": step != rows.place + 1,
    }
    for name in ("test_set", "subject"):
        numbers = category_numbers(rows.frame[name])
        wrong[f"a session with two {name}s"] = numbers != numbers[first]
    for message, where in wrong.items():
        if where.any():
            raise row_error(message, rows.frame, int(np.argmax(where)), key)
    return rows


def _runs(frame: pl.DataFrame) -> StepRows:
    """Neighbouring rows of one session together."""
    change = np.ones(frame.height, dtype=np.bool_)
    change[1:] = False
    for name in SESSION_KEY:
        numbers = category_numbers(frame[name])
        change[1:] |= numbers[1:] != numbers[:-1]
    starts = np.flatnonzero(change)
    first = starts.repeat(np.diff(starts, append=frame.height))
    names = frame.select(*SESSION_KEY, "test_set", "subject")[starts]
    places = {name: ranked(names[name]) for name in names.columns}
    return StepRows(frame=frame, starts=starts, place=np.arange(frame.height) - first, places=places)


def _step_checks(schema: pl.Schema) -> Iterator[Check]:
    for name, values in ALLOWED.items():
        if schema[name] == pl.String:
            yield f"{name} is not one of {', '.join(values)}", ~pl.col(name).is_in(values)
    scores = [pl.col(name) for name in ("success", "overediting")]
    yield "a score outside 0 to 10", pl.any_horizontal(*((s < 0) | (s > 10) for s in scores))
    unscored = pl.any_horizontal(*(score.is_null() for score in scores))
    yield "judged, but without both scores", (pl.col("judgement") == "scored") & unscored
    yield "FSS is a cosine, and outside -1 to 1", pl.col("fss").abs() > 1 + _ROUNDING
    yield "a face, but no FSS", (pl.col("face") == "found") & pl.col("fss").is_null()
