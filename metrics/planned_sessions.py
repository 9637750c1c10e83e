"""The sessions in a table of planned steps as arrays, each beside its base photo."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from domain.errors import MetricError
from domain.taxonomy import Taxonomy
from metrics.checked_tables import StepRows, checked_photos
from metrics.coded_steps import coded_rows, photo_masks
from metrics.frames import ALLOWED, SESSION_KEY
from metrics.masks import LAST_BIT, Masks, mask_column

Codes = NDArray[np.uint8]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

Number = TypeVar("Number", bound=np.generic)

NO_STEP = 255
"""The code of a value that is null, or of a step that a shorter session does not have."""

EDITED = ALLOWED["outcome"].index("edited")
FOUND, NO_FACE, UNREADABLE = range(3)
SCORED, UNPARSABLE = range(2)
TRACKED = 0


@dataclass(frozen=True)
class PlannedSessions:
    """Every planned session of a run, sorted by its key; S sessions of at most K steps, A sub-axes.

    Inside, a number that is not there is NaN; no NaN leaves for a mean or a frame.
    """

    taxonomy: Taxonomy
    keys: pl.DataFrame
    """`SESSION_KEY`, `test_set` and `subject` of each session, as strings."""
    places: Mapping[str, NDArray[np.int64]]
    """The same as numbers, in alphabetical order; -1 for null."""
    n_steps: NDArray[np.int64]
    """Shape `(S,)`."""
    outcome: Codes
    """Places in `ALLOWED`, shape `(S, K)`; so `face`, `judgement` and `tracked`."""
    face: Codes
    judgement: Codes
    tracked: Codes
    fss: Floats
    """Raw cosines, shape `(S, K)`; NaN where no face was found."""
    success: Floats
    overediting: Floats
    asked: Codes
    """The asked category, a place in `taxonomy.sub_axis_of`, shape `(S, K)`."""
    keep: Flags
    states: Masks
    """Base photo and edited images, shape `(S, K + 1, A)`; unknown where nothing was tracked."""
    fss0: Floats
    """FSS of the base photo, shape `(S,)`."""
    stopped_at: NDArray[np.int64]
    """The first step without an image, from 0; -1 for a complete session; shape `(S,)`."""
    stopped_reason: pl.Series
    """Strings, shape `(S,)`."""

    @cached_property
    def complete(self) -> Flags:
        """Whether every planned step gave an image, shape `(S,)`."""
        return self.stopped_at < 0

    @cached_property
    def planned(self) -> Flags:
        """Which steps a session has, shape `(S, K)`."""
        return _planned(self.n_steps, self.outcome.shape[1])


def planned_sessions(steps: pl.DataFrame, photos: pl.DataFrame, taxonomy: Taxonomy) -> PlannedSessions:
    """Every planned session, sorted by its key, whatever the order of the rows.

    Args:
        steps: Frame `metrics.frames.steps_schema(taxonomy)`, or its compact form
            `metrics.coded_steps.coded_steps_schema(taxonomy)`.
        photos: Frame `metrics.frames.photos_schema(taxonomy)`.
        taxonomy: The sub-axes and their categories.

    Raises:
        MetricError: A table is malformed, or a step's base photo is not in `photos`.

    """
    rows = coded_rows(steps, taxonomy)
    layout = _Layout(rows)
    names = [*SESSION_KEY, "test_set", "subject"]
    keys = rows.frame.select(names)[rows.starts].select(pl.col(name).cast(pl.String) for name in names)
    base = checked_photos(photos, taxonomy)
    at = _base_rows(keys, base)
    outcome = layout.codes("outcome")
    stopped = (outcome != EDITED) & _planned(layout.n_steps, outcome.shape[1])
    stopped_at = np.where(stopped.any(axis=1), stopped.argmax(axis=1), -1) if stopped.size else layout.n_steps
    stop_rows = pl.Series(np.where(stopped_at >= 0, rows.starts + stopped_at, -1))
    return PlannedSessions(
        taxonomy=taxonomy,
        keys=keys,
        places=rows.places,
        n_steps=layout.n_steps,
        outcome=outcome,
        face=layout.codes("face"),
        judgement=layout.codes("judgement"),
        tracked=layout.codes("tracked"),
        fss=layout.numbers("fss"),
        success=layout.numbers("success"),
        overediting=layout.numbers("overediting"),
        asked=layout.spread(rows.frame["asked_category"].to_physical().to_numpy(), 0),
        keep=layout.spread(rows.frame["keep"].to_numpy(), fill=0),
        states=_states(layout, photo_masks(base, taxonomy)[at], taxonomy),
        fss0=base["fss0"].fill_null(np.nan).to_numpy()[at],
        stopped_at=stopped_at,
        stopped_reason=rows.frame["reason"].gather(stop_rows.set(stop_rows < 0, None)).cast(pl.String),
    )


def _planned(n_steps: NDArray[np.int64], longest: int) -> Flags:
    return np.less(np.arange(longest, dtype=np.int64), n_steps[:, np.newaxis])


class _Layout:
    """Where the rows of a table of steps go in arrays of shape `(S, K)`."""

    def __init__(self, rows: StepRows) -> None:
        self._frame = rows.frame
        self.n_steps = np.diff(rows.starts, append=rows.frame.height).astype(np.int64)
        self.shape = (len(rows.starts), int(self.n_steps.max(initial=0)))
        self._full = rows.frame.height == self.shape[0] * self.shape[1]
        session = np.arange(self.shape[0]).repeat(self.n_steps)
        self._at = session * self.shape[1] + rows.place

    def spread(self, values: NDArray[Number], fill: float) -> NDArray[Number]:
        """Values of rows as an array of sessions; `fill` where a session has no such step."""
        if not self._full:
            whole = np.full(self.shape[0] * self.shape[1], fill, dtype=values.dtype)
            whole[self._at] = values
            values = whole
        # Step by step in memory: what is done with the steps of a session runs along the sessions.
        return np.asfortranarray(values.reshape(self.shape))

    def codes(self, name: str) -> Codes:
        """A column of an enum as codes."""
        return self.spread(self._frame[name].to_physical().fill_null(NO_STEP).to_numpy(), NO_STEP)

    def numbers(self, name: str) -> Floats:
        """A column of numbers, NaN for null."""
        return self.spread(self._frame[name].fill_null(np.nan).to_numpy(), np.nan)

    def masks(self, name: str) -> Masks:
        """A column of masks."""
        return self.spread(self._frame[name].to_numpy(), int(LAST_BIT))


def _base_rows(keys: pl.DataFrame, base: pl.DataFrame) -> NDArray[np.int64]:
    """The row of each session's base photo."""
    rows = base.select("dataset", "photo").with_row_index("row")
    found = keys.join(rows, on=["dataset", "photo"], how="left", maintain_order="left")
    strange = found.filter(pl.col("row").is_null())
    if strange.height:
        dataset, photo = strange["dataset"][0], strange["photo"][0]
        raise MetricError(f"photo {photo!r} of dataset {dataset!r} has steps, but is not among the photos")
    return found["row"].cast(pl.Int64).to_numpy()


def _states(layout: _Layout, base: Masks, taxonomy: Taxonomy) -> Masks:
    n_sessions, n_axes = base.shape
    states = np.empty((layout.shape[1] + 1, n_axes, n_sessions), dtype=np.uint16)
    states[0] = base.T
    for number, sub_axis in enumerate(taxonomy.sub_axes):
        states[1:, number] = layout.masks(mask_column(sub_axis)).T
    return states.transpose(2, 0, 1)
