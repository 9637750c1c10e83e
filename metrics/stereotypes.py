"""Whether models carry out instructions about facial hair better for men (Table 30, Appendix M).

The paper chose 17 instructions by hand. Here they are those whose asked-for sub-axis is mustache or beard,
one value an edited image.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from metrics.comparison_rules import ComparisonRules, distances_schema, means_schema, values_schema
from metrics.disparities import labels_of_planned
from metrics.group_averages import means_by_group
from metrics.group_axes import PAPER_AXES, Axis
from metrics.group_comparisons import distances_between_groups
from metrics.overediting import FACIAL_HAIR
from metrics.step_scores import need_step_scores

_BY = ("suite", "dataset", "model")

STEREOTYPE_MEANS = means_schema(_BY)
"""Mean SC of a group on instructions about facial hair, x 100."""

STEREOTYPE_DISTANCES = distances_schema(_BY)
"""Distance in that SC between two groups, x 100."""


def stereotype_means(
    scores: pl.DataFrame,
    photos: pl.DataFrame,
    axes: Sequence[Axis] = PAPER_AXES,
    rules: ComparisonRules | None = None,
) -> pl.DataFrame:
    """Mean SC of every group on the instructions about facial hair, per model.

    Args:
        scores: Frame `metrics.step_scores.STEP_SCORES`.
        photos: Columns `dataset`, `photo`, `subject`, `groups` of `metrics.frames.PHOTOS`.
        axes: The axes.
        rules: The interval and its seed; the defaults where None.

    Returns:
        Frame `STEREOTYPE_MEANS`, as `metrics.group_averages.means_by_group`; metric `sc`, 0 to 100, high
        is good; `n` counts edited images.

    Raises:
        MetricError: A table is malformed, or a score is not finite.

    References:
        arXiv 2608.28802, Table 30.

    """
    values, labels = _values(scores, photos, axes)
    return means_by_group(values, labels, axes, _BY, rules or ComparisonRules())


def stereotype_distances(
    scores: pl.DataFrame,
    photos: pl.DataFrame,
    axes: Sequence[Axis] = PAPER_AXES,
    rules: ComparisonRules | None = None,
) -> pl.DataFrame:
    """Distance in that SC between groups, per model.

    Args:
        scores: Frame `metrics.step_scores.STEP_SCORES`.
        photos: Columns `dataset`, `photo`, `subject`, `groups` of `metrics.frames.PHOTOS`.
        axes: The axes; an intersection adds no row.
        rules: What is relabelled, how often, and the seed; the defaults where None.

    Returns:
        Frame `STEREOTYPE_DISTANCES`, as `metrics.group_comparisons.distances_between_groups`; metric `sc`.

    Raises:
        MetricError: As for `stereotype_means`.

    References:
        arXiv 2608.28802, Table 30.

    """
    values, labels = _values(scores, photos, axes)
    return distances_between_groups(values, labels, axes, _BY, rules or ComparisonRules())


def _values(
    scores: pl.DataFrame, photos: pl.DataFrame, axes: Sequence[Axis]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    asked = need_step_scores(scores).filter(pl.col("sub_axis").is_in(FACIAL_HAIR))
    values = asked.select(
        *_BY,
        pl.lit("sc").alias("metric"),
        "photo",
        (pl.col("sc") * 100.0).alias("value"),
        pl.lit(1, pl.Int64).alias("units"),
    )
    return values.select(values_schema(_BY).names()), labels_of_planned(scores, photos, axes)
