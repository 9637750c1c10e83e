"""Which asked-for categories bring out differences between groups in overediting (Table 28).

The paper does not say what OER of one category is. Here it is that of the steps that ask for the category:
overedits of a step x 100, of every session that has an OER.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import polars as pl

from domain.errors import MetricError
from metrics.comparison_rules import ComparisonRules, distances_schema
from metrics.disparities import labels_of_planned
from metrics.group_axes import PAPER_AXES, Axis
from metrics.group_comparisons import distances_between_groups
from metrics.step_scores import need_step_scores

TOP = 10
"""How many categories per model and axis are its most biased (Appendix J)."""

_BY = ("suite", "dataset", "model", "category")

ATTRIBUTE_BIAS = pl.Schema({**distances_schema(_BY), "place": pl.Int64})
"""One row per model, category and axis; `place` 1 = largest distance of the model and axis."""

SHARED_ATTRIBUTES = pl.Schema(
    {
        **{name: pl.String for name in ("suite", "dataset", "axis", "group_a", "group_b", "category")},
        "n_models": pl.Int64,
        "n_compared": pl.Int64,
        "directions": pl.String,
        "models": pl.List(pl.String),
        "worst": pl.List(pl.String),
    }
)
"""One row per category among the most biased of any model."""


def attribute_bias(
    scores: pl.DataFrame,
    photos: pl.DataFrame,
    axes: Sequence[Axis] = PAPER_AXES,
    rules: ComparisonRules | None = None,
) -> pl.DataFrame:
    """Distance between groups in the overedits of every asked-for category.

    Args:
        scores: Frame `metrics.step_scores.STEP_SCORES`.
        photos: Columns `dataset`, `photo`, `subject`, `groups` of `metrics.frames.PHOTOS`.
        axes: The axes; an intersection adds no row.
        rules: What is relabelled, how often, and the seed; the defaults where None.

    Returns:
        Frame `ATTRIBUTE_BIAS`, sorted by suite, dataset, model, category and axis; metric `oer`, overedits
        of a step x 100; `worst` is the group with more. `place` orders the categories of one model and
        axis by `wd`, then name; null where `wd` is undefined or 0. `n` counts steps. `p_adjusted` is over
        all models and categories of a dataset and axis.

    Raises:
        MetricError: A table is malformed, or a step's photo is unknown.

    References:
        arXiv 2608.28802, Appendix J.

    """
    values = need_step_scores(scores).select(
        *_BY,
        pl.lit("oer").alias("metric"),
        "photo",
        (pl.col("overedits") * 100.0).alias("value"),
        pl.lit(1, pl.Int64).alias("units"),
    )
    labels = labels_of_planned(scores, photos, axes)
    found = distances_between_groups(values, labels, axes, _BY, rules or ComparisonRules())
    contest = ("suite", "dataset", "model", "axis", "group_a", "group_b")
    ranked = found.filter(pl.col("wd") > 0).sort(*contest, -pl.col("wd"), "category")
    places = ranked.select(*contest, "category", pl.int_range(1, pl.len() + 1).over(contest).alias("place"))
    return found.join(places, on=[*contest, "category"], how="left", maintain_order="left").cast(
        {"place": pl.Int64}
    )


def shared_attributes(bias: pl.DataFrame, *, top: int = TOP) -> pl.DataFrame:
    """How many models have a category among their most biased, and against whom.

    Args:
        bias: Frame `ATTRIBUTE_BIAS`.
        top: How many categories of each model and axis are its most biased, >= 1.

    Returns:
        Frame `SHARED_ATTRIBUTES`, sorted by suite, dataset, axis and pair, then most models first, then
        category. `worst` names, for each of `models`, the group with more overedits (null where equal);
        `directions` sums it up, such as "4 male, 1 female"; `n_compared` models have the axis at all. The
        paper prints the first ten rows of each.

    Raises:
        MetricError: A column is absent or `top` < 1.

    References:
        arXiv 2608.28802, Table 28.

    """
    missing = sorted(set(ATTRIBUTE_BIAS) - set(bias.columns))
    if missing or top < 1:
        raise MetricError(f"bias has no column {missing[0]!r}" if missing else f"top is {top}, below 1")
    key = ["suite", "dataset", "axis", "group_a", "group_b"]
    compared = bias.drop_nulls("wd").group_by(key).agg(pl.col("model").n_unique().alias("n_compared"))
    held = bias.filter(pl.col("place") <= top).sort(*key, "category", "model").group_by(*key, "category")
    shared = held.agg(pl.len().alias("n_models"), pl.col("model").alias("models"), "worst")
    rows = [
        row | {"directions": _directions(row["worst"])}
        for row in shared.join(compared, on=key).iter_rows(named=True)
    ]
    frame = pl.DataFrame(rows, schema=SHARED_ATTRIBUTES)
    return frame.sort(*key, -pl.col("n_models"), "category")


def _directions(worst: Sequence[str | None]) -> str:
    counts = Counter(group for group in worst if group is not None)
    return ", ".join(f"{n} {group}" for group, n in sorted(counts.items(), key=lambda pair: (-pair[1], pair)))
