"""Axes along which groups are compared, and which photo is in which group.

An axis is data: one demographic (`gender`) or an intersection (`gender x skin`). A photo whose value is
unknown, or not among those of the axis, is in no group of it; it is counted, with group null.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from domain.errors import MetricError
from metrics.frames import SESSION_KEY, SESSIONS
from metrics.leaderboard import POOLED

LABELS = pl.Schema({name: pl.String for name in ("dataset", "photo", "subject", "axis", "group")})
"""One row per photo and axis; `group` is null where unknown, `subject` where the person is."""

PHOTO_COUNTS = pl.Schema(
    {
        **{name: pl.String for name in ("dataset", "axis", "group")},
        "n_photos": pl.Int64,
        "n_people": pl.Int64,
    }
)
"""Base photos of each group; `group` is null for those in none."""

SESSION_COUNTS = pl.Schema(
    {
        **{name: pl.String for name in ("suite", "dataset", "model", "test_set", "axis", "group")},
        "n_planned": pl.Int64,
        "n_sessions": pl.Int64,
        "n_photos": pl.Int64,
        "n_people": pl.Int64,
    }
)
"""Sessions of each group; `n_sessions` are the complete ones, of so many photos and people."""


@dataclass(frozen=True)
class Axis:
    """One way to sort photos into groups."""

    name: str
    values: Mapping[str, tuple[str, ...]]
    """Demographic to its values, in the order of the tables; several demographics are an intersection."""

    def __post_init__(self) -> None:
        """Raise MetricError for an axis without two groups, or with two of one name."""
        if not self.values or any(len(set(held)) < 2 for held in self.values.values()):
            raise MetricError(f"axis {self.name!r} has no demographic with two values: {dict(self.values)}")
        if len(set(self.groups)) < len(self.groups):
            raise MetricError(f"axis {self.name!r} names a group twice: {', '.join(self.groups)}")

    @property
    def groups(self) -> tuple[str, ...]:
        """Every group in order: a value, or the values of an intersection joined by a hyphen."""
        names = [""]
        for held in self.values.values():
            names = [f"{name}-{value}" if name else value for name in names for value in held]
        return tuple(names)

    @property
    def is_intersection(self) -> bool:
        """Whether it crosses demographics: then it has means, and the tests are those of its parts."""
        return len(self.values) > 1

    def group(self, demographics: Mapping[str, str]) -> str | None:
        """The group of someone with these demographics; None where one is unknown or of another value."""
        held = [demographics.get(name) for name in self.values]
        known = all(value in allowed for value, allowed in zip(held, self.values.values(), strict=True))
        return "-".join(str(value) for value in held) if known else None


GENDER = Axis("gender", {"gender": ("male", "female")})
SKIN = Axis("skin", {"skin": ("light", "dark")})
AGE = Axis("age", {"age": ("young", "old")})
GENDER_SKIN = Axis("gender_skin", {"gender": ("male", "female"), "skin": ("light", "dark")})

PAPER_AXES = (GENDER, SKIN, AGE, GENDER_SKIN)
"""The axes of arXiv 2608.28802."""


def group_labels(photos: pl.DataFrame, axes: Sequence[Axis]) -> pl.DataFrame:
    """Sort base photos into the groups of every axis.

    Args:
        photos: Columns `dataset`, `photo`, `subject`, `groups` ("name=value") of `metrics.frames.PHOTOS`.
        axes: The axes, names unique.

    Returns:
        Frame `LABELS`, sorted by axis (as given), dataset and photo; one row per photo and axis.

    Raises:
        MetricError: A column is absent, a photo is there twice or has two values of one demographic, a
            group is not "name=value", or two axes share a name.

    """
    _need(photos, ("dataset", "photo", "subject", "groups"), "photos")
    if len({axis.name for axis in axes}) < len(axes):
        raise MetricError("two axes share a name")
    table = photos.select("dataset", "photo", "subject", "groups").sort("dataset", "photo")
    if table.select(pl.struct("dataset", "photo").is_duplicated().any()).item():
        raise MetricError("photos: a row is there twice")
    rows = list(table.iter_rows())
    known = [(*row[:3], demographics(row[3] or (), photo=row[1])) for row in rows]
    labelled = [
        (dataset, photo, subject, axis.name, axis.group(held))
        for axis in axes
        for dataset, photo, subject, held in known
    ]
    return pl.DataFrame(labelled, schema=LABELS, orient="row")


def demographics(groups: Sequence[str], *, photo: str = "") -> dict[str, str]:
    """Demographics from their stored form, "name=value" each.

    Raises:
        MetricError: One is not of that form, or a name has two values.

    """
    found: dict[str, str] = {}
    for text in groups:
        name, equals, value = text.partition("=")
        if not (name and equals and value):
            raise MetricError(f"photo {photo!r}: group {text!r} is not 'name=value'")
        if found.setdefault(name, value) != value:
            raise MetricError(f"photo {photo!r} has two values of {name!r}")
    return found


def photo_counts(photos: pl.DataFrame, axes: Sequence[Axis]) -> pl.DataFrame:
    """Count base photos and people of every group.

    Args:
        photos: Columns `dataset`, `photo`, `subject`, `groups` of `metrics.frames.PHOTOS`.
        axes: The axes.

    Returns:
        Frame `PHOTO_COUNTS` by dataset and axis, groups in the order of the axis, those without a photo
        with n = 0, last the unknown (null) where there are any. A photo whose person is unknown counts as
        one person; a person whose photos differ counts in each group.

    Raises:
        MetricError: As for `group_labels`.

    References:
        arXiv 2608.28802, section 2.2.

    """
    labels = with_person(group_labels(photos, axes))
    counted = labels.group_by("dataset", "axis", "group").agg(
        pl.len().cast(pl.Int64).alias("n_photos"),
        pl.col("person").n_unique().cast(pl.Int64).alias("n_people"),
    )
    frame = _in_order(photos.select("dataset").unique(), counted, axes, ["dataset"])
    return frame.select(PHOTO_COUNTS.names())


def session_counts(sessions: pl.DataFrame, photos: pl.DataFrame, axes: Sequence[Axis]) -> pl.DataFrame:
    """Count the sessions of every group, per model and test set and pooled over the test sets.

    Args:
        sessions: Frame `metrics.frames.SESSIONS`.
        photos: Columns `dataset`, `photo`, `subject`, `groups` of `metrics.frames.PHOTOS`.
        axes: The axes.

    Returns:
        Frame `SESSION_COUNTS` by suite, dataset, model, test set (`all` = pooled) and axis, groups in the
        order of the axis, those without a session with n = 0, last the unknown (null) where there are any.

    Raises:
        MetricError: As for `group_labels`; a session of a photo that is not among the photos.

    References:
        arXiv 2608.28802, Tables 18-21.

    """
    key = ["suite", "dataset", "model", "test_set"]
    table = labelled_sessions(sessions, group_labels(photos, axes))
    complete = pl.col("complete")
    counted = table.group_by(*key, "axis", "group").agg(
        pl.len().cast(pl.Int64).alias("n_planned"),
        complete.sum().cast(pl.Int64).alias("n_sessions"),
        pl.col("photo").filter(complete).n_unique().cast(pl.Int64).alias("n_photos"),
        pl.col("person").filter(complete).n_unique().cast(pl.Int64).alias("n_people"),
    )
    frame = _in_order(table.select(key).unique(), counted, axes, key)
    return frame.select(SESSION_COUNTS.names())


def labelled_sessions(sessions: pl.DataFrame, labels: pl.DataFrame) -> pl.DataFrame:
    """Every session once per axis, with `axis`, `group` and `person`, then again under test set `all`.

    Raises:
        MetricError: A column of `metrics.frames.SESSIONS` is absent, a session is there twice, a test set
            is named `all`, or a photo has no label.

    """
    _need(sessions, SESSIONS.names(), "sessions")
    if sessions.select(pl.struct(SESSION_KEY).is_duplicated().any()).item():
        raise MetricError("a session is there twice")
    if sessions.select((pl.col("test_set") == POOLED).any()).item():
        raise MetricError(f"a test set is named {POOLED!r}")
    strangers = sessions.join(labels, on=["dataset", "photo"], how="anti")
    if strangers.height and labels.height:
        raise MetricError(f"photo {strangers['photo'][0]!r} has sessions, but is not among the photos")
    pooled = pl.concat([sessions, sessions.with_columns(pl.lit(POOLED).alias("test_set"))])
    named = with_person(labels).drop("subject")
    return pooled.join(named, on=["dataset", "photo"])


def with_person(labels: pl.DataFrame) -> pl.DataFrame:
    """Add `person`: the unit of resampling, the person where known, else the photo; unique over datasets."""
    known = pl.concat_str("dataset", pl.lit("/person/"), "subject")
    alone = pl.concat_str("dataset", pl.lit("/photo/"), "photo")
    return labels.with_columns(pl.coalesce(known, alone).alias("person"))


def _in_order(
    cells: pl.DataFrame, counted: pl.DataFrame, axes: Sequence[Axis], key: list[str]
) -> pl.DataFrame:
    """The counts with a row of zeros for each absent group, in order."""
    named = [(axis.name, group) for axis in axes for group in (*axis.groups, None)]
    order = pl.DataFrame(named, schema={"axis": pl.String, "group": pl.String}, orient="row")
    full = cells.join(order.with_row_index("_place"), how="cross").join(
        counted, on=[*key, "axis", "group"], how="left", nulls_equal=True
    )
    kept = full.filter(pl.col("group").is_not_null() | pl.col(counted.columns[-1]).is_not_null())
    return kept.sort(*key, "_place").drop("_place").fill_null(0)


def _need(frame: pl.DataFrame, names: Sequence[str], table: str) -> None:
    for name in names:
        if name not in frame.columns:
            raise MetricError(f"{table} has no column {name!r}")
