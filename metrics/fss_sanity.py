"""Whether the similarity score itself favours a group or minds hats and glasses, on base photos.

Tables 29(a)-(d) and Appendix L of arXiv 2608.28802.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from domain.errors import MetricError
from metrics.comparison_rules import ComparisonRules, distances_schema, means_schema, values_schema
from metrics.frames import state_column
from metrics.group_averages import means_by_group
from metrics.group_axes import LABELS, PAPER_AXES, Axis, group_labels
from metrics.group_comparisons import distances_between_groups

_BY = ("dataset",)

FSS0_MEANS = means_schema(_BY)
"""Mean FSS of the base photos of a group, x 100."""

FSS0_DISTANCES = distances_schema(_BY)
"""Distance in FSS of base photos between two groups, x 100."""

ACCESSORIES = ("hats", "glasses")
"""Sub-axes of what covers a face."""

OCCLUSION = Axis("accessory", {"accessory": ("with", "without")})
"""Photos with a hat, glasses or both against those with neither."""


def fss0_means(
    photos: pl.DataFrame, axes: Sequence[Axis] = PAPER_AXES, rules: ComparisonRules | None = None
) -> pl.DataFrame:
    """Mean FSS of the base photos of every group.

    Args:
        photos: Columns `dataset`, `photo`, `subject`, `groups`, `fss0` of `metrics.frames.PHOTOS`.
        axes: The axes.
        rules: The interval and its seed; the defaults where None.

    Returns:
        Frame `FSS0_MEANS`, as `metrics.group_averages.means_by_group`; FSS x 100, high = same person;
        `n` counts photos.

    Raises:
        MetricError: A table is malformed, or an FSS is not finite.

    References:
        arXiv 2608.28802, Table 29.

    """
    return means_by_group(_values(photos), group_labels(photos, axes), axes, _BY, rules or ComparisonRules())


def fss0_distances(
    photos: pl.DataFrame, axes: Sequence[Axis] = PAPER_AXES, rules: ComparisonRules | None = None
) -> pl.DataFrame:
    """Distance in FSS of the base photos between groups; near 0 is good.

    Args:
        photos: Columns `dataset`, `photo`, `subject`, `groups`, `fss0` of `metrics.frames.PHOTOS`.
        axes: The axes; an intersection adds no row.
        rules: What is relabelled, how often, and the seed; the defaults where None.

    Returns:
        Frame `FSS0_DISTANCES`, as `metrics.group_comparisons.distances_between_groups`; FSS x 100; `n`
        counts photos.

    Raises:
        MetricError: A table is malformed, or an FSS is not finite.

    References:
        arXiv 2608.28802, Table 29.

    """
    labels = group_labels(photos, axes)
    return distances_between_groups(_values(photos), labels, axes, _BY, rules or ComparisonRules())


def occlusion_labels(photos: pl.DataFrame) -> pl.DataFrame:
    """Which base photos show a hat or glasses, by their tracked states.

    Args:
        photos: Columns `dataset`, `photo`, `subject` and the state columns of hats and glasses.

    Returns:
        Frame `metrics.group_axes.LABELS` for the axis `OCCLUSION`, sorted; "with" where either is seen,
        "without" where both are seen to be absent, null where that is unknown.

    Raises:
        MetricError: A column is absent.

    """
    columns = [state_column(sub_axis) for sub_axis in ACCESSORIES]
    _need(photos, ("dataset", "photo", "subject", *columns))
    seen = [pl.col(column).list.len() > 0 for column in columns]
    group = pl.when(pl.any_horizontal(seen)).then(pl.lit("with")).when(~pl.any_horizontal(seen))
    labels = photos.with_columns(
        pl.lit(OCCLUSION.name).alias("axis"), group.then(pl.lit("without")).alias("group")
    )
    return labels.select(LABELS.names()).sort("dataset", "photo")


def occlusion_means(photos: pl.DataFrame, rules: ComparisonRules | None = None) -> pl.DataFrame:
    """Mean FSS of base photos with and without hat or glasses; frame `FSS0_MEANS`, axis `accessory`.

    Args:
        photos: Columns as of `occlusion_labels`, and `fss0`.
        rules: The interval and its seed; the defaults where None.

    Raises:
        MetricError: A column is absent, or an FSS is not finite.

    References:
        arXiv 2608.28802, Appendix L.

    """
    labels = occlusion_labels(photos)
    return means_by_group(_values(photos), labels, [OCCLUSION], _BY, rules or ComparisonRules())


def occlusion_distances(photos: pl.DataFrame, rules: ComparisonRules | None = None) -> pl.DataFrame:
    """Distance in FSS of base photos with and without hat or glasses; frame `FSS0_DISTANCES`.

    Args:
        photos: Columns as of `occlusion_labels`, and `fss0`.
        rules: What is relabelled, how often, and the seed; the defaults where None.

    Raises:
        MetricError: A column is absent, or an FSS is not finite.

    References:
        arXiv 2608.28802, Appendix L.

    """
    labels = occlusion_labels(photos)
    return distances_between_groups(_values(photos), labels, [OCCLUSION], _BY, rules or ComparisonRules())


def _values(photos: pl.DataFrame) -> pl.DataFrame:
    _need(photos, ("dataset", "photo", "fss0"))
    held = photos.with_columns(
        pl.lit("fss0").alias("metric"),
        (pl.col("fss0") * 100.0).alias("value"),
        pl.lit(1, pl.Int64).alias("units"),
    )
    return held.select(values_schema(_BY).names())


def _need(photos: pl.DataFrame, names: Sequence[str]) -> None:
    for name in names:
        if name not in photos.columns:
            raise MetricError(f"photos have no column {name!r}")
