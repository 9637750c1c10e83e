"""How differently the models treat groups of people: means of groups and distances between them.

Tables 5-10 and 22-27 and Figures 5-17 of arXiv 2608.28802: for gender x skin the four means are rows of
the axis `gender_skin` of the means, and WD_g and WD_s the rows of `gender` and `skin` of the distances.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from domain.errors import MetricError
from metrics.comparison_rules import ComparisonRules, distances_schema, means_schema, values_schema
from metrics.frames import SESSION_KEY, SESSIONS
from metrics.group_averages import means_by_group
from metrics.group_axes import PAPER_AXES, Axis, group_labels
from metrics.group_comparisons import distances_between_groups
from metrics.leaderboard import POOLED

BY = ("suite", "dataset", "model", "test_set")
"""What names a cell."""

METRICS = ("drop_fss", "sc", "oer")
"""The scores that are compared by default; `oer_no_facial_hair` may be."""

PERCENT = {"sc": 100.0, "oer": 100.0, "oer_no_facial_hair": 100.0}
"""Factor that brings a score to points of 100."""

GROUP_MEANS = means_schema(BY)
"""Mean of every group a row; values in points of 100."""

DISPARITIES = distances_schema(BY)
"""Distance between two groups a row; values in points of 100."""


def group_means(
    sessions: pl.DataFrame,
    photos: pl.DataFrame,
    axes: Sequence[Axis] = PAPER_AXES,
    rules: ComparisonRules | None = None,
    *,
    metrics: Sequence[str] = METRICS,
) -> pl.DataFrame:
    """Mean scores of every group, per model and test set and pooled over the test sets (`all`).

    Args:
        sessions: Frame `metrics.frames.SESSIONS`; only complete sessions are averaged.
        photos: Columns `dataset`, `photo`, `subject`, `groups` of `metrics.frames.PHOTOS`.
        axes: The axes.
        rules: The interval and its seed; the defaults where None.
        metrics: The scores: `drop_fss` in percent, low is good; `sc` x 100, high is good; `oer` x 100, low
            is good.

    Returns:
        Frame `GROUP_MEANS`, as `metrics.group_averages.means_by_group`; `n` counts sessions.

    Raises:
        MetricError: A table is malformed, a score is not finite, or a session's photo is unknown.

    References:
        arXiv 2608.28802, Tables 5-10 and 22-27.

    """
    values, labels = _values(sessions, photos, axes, metrics)
    return means_by_group(values, labels, axes, BY, rules or ComparisonRules())


def disparities(
    sessions: pl.DataFrame,
    photos: pl.DataFrame,
    axes: Sequence[Axis] = PAPER_AXES,
    rules: ComparisonRules | None = None,
    *,
    metrics: Sequence[str] = METRICS,
) -> pl.DataFrame:
    """Wasserstein-1 distance between groups, per model and test set and pooled over the test sets (`all`).

    Args:
        sessions: Frame `metrics.frames.SESSIONS`; only complete sessions enter.
        photos: Columns `dataset`, `photo`, `subject`, `groups` of `metrics.frames.PHOTOS`.
        axes: The axes; an intersection adds no row.
        rules: What is relabelled, how often, and the seed; the defaults where None.
        metrics: The scores, as for `group_means`.

    Returns:
        Frame `DISPARITIES`, as `metrics.group_comparisons.distances_between_groups`; `n` counts sessions.

    Raises:
        MetricError: As for `group_means`.

    References:
        arXiv 2608.28802, Tables 5-10 and 22-27, Figure 5.

    """
    values, labels = _values(sessions, photos, axes, metrics)
    return distances_between_groups(values, labels, axes, BY, rules or ComparisonRules())


def labels_of_planned(sessions: pl.DataFrame, photos: pl.DataFrame, axes: Sequence[Axis]) -> pl.DataFrame:
    """Labels of the photos that have sessions planned, frame `metrics.group_axes.LABELS`.

    Whether one was finished is no matter, so that all tests of a dataset exchange the same labels.

    Raises:
        MetricError: As for `metrics.group_axes.group_labels`; a session's photo is not among the photos.

    """
    pair = ["dataset", "photo"]
    strangers = sessions.join(photos, on=pair, how="anti").sort(pair)
    if strangers.height:
        raise MetricError(f"photo {strangers['photo'][0]!r} has sessions, but is not among the photos")
    return group_labels(photos.join(sessions, on=pair, how="semi"), axes)


def _values(
    sessions: pl.DataFrame, photos: pl.DataFrame, axes: Sequence[Axis], metrics: Sequence[str]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    missing = sorted({*SESSIONS, *metrics} - set(sessions.columns))
    if missing:
        raise MetricError(f"sessions have no column {missing[0]!r}")
    if sessions.select(pl.struct(SESSION_KEY).is_duplicated().any()).item():
        raise MetricError("a session is there twice")
    if (sessions["test_set"] == POOLED).any():
        raise MetricError(f"a test set is named {POOLED!r}")
    scores = [
        sessions.select(
            *BY,
            pl.lit(metric).alias("metric"),
            "photo",
            pl.when("complete").then(pl.col(metric) * PERCENT.get(metric, 1.0)).alias("value"),
            (pl.col("n_steps") if metric.startswith("drop_fss") else pl.lit(1, pl.Int64)).alias("units"),
        )
        for metric in metrics
    ]
    held = pl.concat(scores).select(values_schema(BY).names())
    pooled = held.with_columns(pl.lit(POOLED).alias("test_set"))
    return pl.concat([held, pooled]), labels_of_planned(sessions, photos, axes)
