"""How often a model declines or answers without an image, by model and group."""

from __future__ import annotations

import polars as pl

from domain.errors import MetricError

ANSWERS = ("edited", "refused", "no_image")
ALL = "all"
REFUSALS = pl.Schema(
    {
        "suite": pl.String,
        "dataset": pl.String,
        "model": pl.String,
        "group": pl.String,
        "n_answers": pl.Int64,
        "refused": pl.Int64,
        "no_image": pl.Int64,
    }
)
"""Counts of steps; a step that failed or was not run got no answer."""


def refusals(steps: pl.DataFrame, photos: pl.DataFrame) -> pl.DataFrame:
    """Count answers, refusals and answers without an image, for all photos and for each group.

    Args:
        steps: Columns `suite`, `dataset`, `model`, `photo`, `outcome`, one row a step.
        photos: Columns `dataset`, `photo`, `groups` (names such as `gender=female`), one row a photo.

    Returns:
        Frame `REFUSALS`, sorted; a photo counts in `all` and in each of its groups.

    Raises:
        MetricError: A group is named `all`, or a step's photo is not among the photos.
    """
    key = ["dataset", "photo"]
    groups = photos.select(*key, pl.concat_list(pl.lit(ALL), pl.col("groups").fill_null([])).alias("group"))
    if photos["groups"].explode().drop_nulls().eq(ALL).any():
        raise MetricError(f"a group is named {ALL!r}, which stands for all photos")
    answered = steps.filter(pl.col("outcome").is_in(ANSWERS))
    unknown = answered.join(photos, on=key, how="anti")
    if unknown.height:
        raise MetricError(f"photo {unknown['photo'][0]!r} has steps, but is not among the photos")
    return (
        answered.join(groups.explode("group"), on=key)
        .group_by("suite", "dataset", "model", "group")
        .agg(
            pl.len().cast(pl.Int64).alias("n_answers"),
            *((pl.col("outcome") == kind).sum().cast(pl.Int64).alias(kind) for kind in ANSWERS[1:]),
        )
        .select(REFUSALS.names())
        .sort(REFUSALS.names())
    )
