"""What was left out of a mean, counted: of all photos and of each group."""

from __future__ import annotations

import polars as pl

from domain.errors import MetricError
from metrics.frames import COVERAGE
from metrics.leaderboard import SessionTable, checked_sessions
from metrics.refusals import ALL
from metrics.row_checks import refuse_rows, refuse_twice

COVERAGE_BY_GROUP = pl.Schema(
    {
        **{name: pl.String for name in ("suite", "dataset", "model", "test_set", "axis", "group")},
        **{name: pl.String for name in ("what", "reason")},
        "n": pl.Int64,
    }
)
"""Everything that is left out of a mean, counted by group; `group` is null where it is unknown."""


def coverage(sessions: pl.DataFrame) -> pl.DataFrame:
    """Count everything that is left out of a mean.

    Args:
        sessions: Result of `score_sessions`.

    Returns:
        Frame `metrics.frames.COVERAGE`, sorted: `what` is `session` for those that stopped, with the
        outcome as `reason`, or a score that a complete session lacks, with its reason. `oer` stands for
        both overediting rates.

    Raises:
        MetricError: A column is absent, or a session is there twice.

    """
    return coverage_frame(checked_sessions(sessions))


def coverage_frame(table: SessionTable) -> pl.DataFrame:
    """The frame of `coverage`."""
    return _counted(_reasons(table), COVERAGE)


def coverage_by_group(sessions: pl.DataFrame, photos: pl.DataFrame) -> pl.DataFrame:
    """The same counts for all photos and for each group of them.

    Args:
        sessions: Result of `score_sessions`.
        photos: Columns `dataset`, `photo` and `groups` (names such as `gender=female`), one row a photo.

    Returns:
        Frame `COVERAGE_BY_GROUP`, sorted. Axis and group `all` hold what `coverage` does. A photo counts
        once on each axis of its dataset, with group null where its own is unknown.

    Raises:
        MetricError: As `coverage`; a session's photo is not among the photos, a group has no axis, or
            a photo has two groups of one axis.

    """
    table = checked_sessions(sessions)
    strange = table.frame.join(photos, on=["dataset", "photo"], how="anti")
    if strange.height:
        raise MetricError(f"photo {strange['photo'][0]!r} has sessions, but is not among the photos")
    return coverage_by_group_frame(table, photos)


def coverage_by_group_frame(table: SessionTable, photos: pl.DataFrame) -> pl.DataFrame:
    """The frame of `coverage_by_group`."""
    reasons = _reasons(table)
    return _counted(reasons.join(photo_groups(photos), on=["dataset", "photo"]), COVERAGE_BY_GROUP)


def photo_groups(photos: pl.DataFrame) -> pl.DataFrame:
    """The group of each photo on each axis of its dataset.

    Args:
        photos: Columns `dataset`, `photo` and `groups` (names such as `gender=female`), one row a photo.

    Returns:
        Columns `dataset`, `photo`, `axis` and `group`; `group` is null where unknown. The axis `all` has
        one group, `all`.

    Raises:
        MetricError: A group has no axis, or that of all photos, or a photo has two groups of one axis.

    """
    key = ["dataset", "photo"]
    refuse_twice(photos, key, "photos: a row is there twice")
    held = photos.select(*key, "groups").explode("groups").drop_nulls("groups")
    named = held.with_columns(
        pl.col("groups").str.splitn("=", 2).struct.rename_fields(["axis", "group"]).alias("split")
    ).unnest("split")
    refuse_rows(
        named,
        [
            ("a group without an axis", pl.col("group").is_null()),
            (f"a group on the axis {ALL!r}, which stands for all photos", pl.col("axis") == ALL),
        ],
        (*key, "groups"),
    )
    named = refuse_twice(named.select(*key, "axis", "group"), (*key, "axis"), "two groups of one axis")
    axes = named.select("dataset", "axis").unique()
    each = photos.select(key).join(axes, on="dataset").join(named, on=[*key, "axis"], how="left")
    everyone = photos.select(*key, pl.lit(ALL).alias("axis"), pl.lit(ALL).alias("group"))
    return pl.concat([everyone, each])


def _reasons(table: SessionTable) -> pl.DataFrame:
    """Everything that is left out, one row each: its session, what and why."""
    columns = {"session": "stopped"}
    columns |= {what: f"{what}_excluded" for what in table.metrics if f"{what}_excluded" in table.frame}
    key = ("suite", "dataset", "model", "test_set", "photo")
    return pl.concat(
        table.frame.select(*key, pl.lit(what).alias("what"), pl.col(column).alias("reason")).drop_nulls(
            "reason"
        )
        for what, column in columns.items()
    )


def _counted(reasons: pl.DataFrame, schema: pl.Schema) -> pl.DataFrame:
    names = [name for name in schema if name != "n"]
    counted = reasons.group_by(names).agg(pl.len().cast(pl.Int64).alias("n"))
    return counted.select(schema.names()).sort(schema.names())
