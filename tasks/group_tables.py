"""The tables that compare groups of people, and those that show how far a choice moves a number."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import polars as pl

from domain.suites import AxisDefinition, Rules
from domain.taxonomy import Taxonomy
from metrics.attribute_bias import attribute_bias, shared_attributes
from metrics.comparison_rules import ComparisonRules
from metrics.disparities import disparities, group_means
from metrics.fss_sanity import fss0_distances, fss0_means, occlusion_distances, occlusion_means
from metrics.group_axes import Axis, photo_counts, session_counts
from metrics.planned_sessions import planned_sessions
from metrics.sensitivity import sensitivity_frame
from metrics.session_scores import ScoringRules
from metrics.step_scores import step_scores
from metrics.stereotypes import stereotype_distances, stereotype_means

GROUP_TABLES = (
    "photo_counts", "session_counts", "group_means", "disparities", "attribute_bias", "shared_attributes",
    "fss0_means", "fss0_distances", "occlusion_means", "occlusion_distances", "stereotype_means",
    "stereotype_distances", "sensitivity",
)  # fmt: skip


def axes_of(definitions: Sequence[AxisDefinition]) -> tuple[Axis, ...]:
    """The axes of a suite, as the metrics take them."""
    return tuple(Axis(axis.name, axis.values) for axis in definitions)


def scoring_rules(rules: Rules) -> ScoringRules:
    """The rules of a suite for scores and means."""
    return ScoringRules(
        no_face=rules.no_face,
        rule=rules.change,
        occlusion=rules.occlusion,
        interval=rules.interval,
        resamples=rules.resamples,
        seed=rules.seed,
    )


def comparison_rules(rules: Rules) -> ComparisonRules:
    """The rules of a suite for distances between groups."""
    return ComparisonRules(
        unit=rules.unit,
        permutations=rules.permutations,
        seed=rules.permutation_seed,
        interval=rules.interval,
        resamples=rules.resamples,
    )


def group_tables(
    steps: pl.DataFrame,
    photos: pl.DataFrame,
    sessions: pl.DataFrame,
    taxonomy: Taxonomy,
    definitions: Sequence[AxisDefinition],
    rules: Rules,
    controls: Collection[str] = (),
) -> dict[str, pl.DataFrame]:
    """Every table of `GROUP_TABLES`.

    Args:
        steps: Planned steps, in either form.
        photos: Base photos.
        sessions: Their scores.
        taxonomy: The sub-axes and their categories.
        definitions: The axes; without any, the tables of groups have no row.
        rules: The rules in force.
        controls: Models that measure the measuring: they are no models in counts of models, and their tests
            are a family of their own.

    Raises:
        MetricError: A table is malformed.
    """
    axes, compared, scored = axes_of(definitions), comparison_rules(rules), scoring_rules(rules)
    means = ComparisonRules(
        unit=rules.unit, permutations=1, seed=rules.seed, interval=rules.interval, resamples=rules.resamples
    )
    planned = planned_sessions(steps, photos, taxonomy)
    each_step = step_scores(planned, scored)
    is_control = pl.col("model").is_in(list(controls))

    def apart(table: Callable[[pl.DataFrame], pl.DataFrame], frame: pl.DataFrame) -> pl.DataFrame:
        parts = [part for part in (frame.filter(~is_control), frame.filter(is_control)) if part.height]
        return pl.concat([table(part) for part in parts]) if parts else table(frame)

    bias = apart(lambda part: attribute_bias(part, photos, axes, compared), each_step)
    return {
        "photo_counts": photo_counts(photos, axes),
        "session_counts": session_counts(sessions, photos, axes),
        "group_means": group_means(sessions, photos, axes, means),
        "disparities": apart(lambda part: disparities(part, photos, axes, compared), sessions),
        "attribute_bias": bias,
        "shared_attributes": shared_attributes(bias.filter(~is_control)),
        "fss0_means": fss0_means(photos, axes, means),
        "fss0_distances": fss0_distances(photos, axes, compared),
        "occlusion_means": occlusion_means(photos, means),
        "occlusion_distances": occlusion_distances(photos, compared),
        "stereotype_means": stereotype_means(each_step, photos, axes, means),
        "stereotype_distances": apart(
            lambda part: stereotype_distances(part, photos, axes, compared), each_step
        ),
        "sensitivity": sensitivity_frame(planned, scored),
    }
