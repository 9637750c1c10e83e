"""The overediting matrix and the missed edits of every model, as tidy counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import polars as pl

from domain.taxonomy import Taxonomy
from metrics.frames import MISSED_EDITS, OVEREDITS
from metrics.overediting import StepOveredits, none_column
from metrics.planned_sessions import planned_sessions
from metrics.session_scores import ScoringRules, overedits_of

ModelKey = tuple[str, str, str]
"""Suite, dataset and model."""


@dataclass
class _Matrix:
    """Counts of one model."""

    prompts: Counter[str] = field(default_factory=Counter[str])
    found: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    barred: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    """Prompts whose before-state rules the column out."""

    def add(self, step: StepOveredits, taxonomy: Taxonomy, *, strict: bool) -> None:
        intended = step.intent.category
        self.prompts[intended] += 1
        self.found.update((intended, increment.found) for increment in step.increments)
        for sub_axis, before in step.before.items():
            if before is None:
                barred = [*taxonomy.categories[sub_axis], none_column(sub_axis)]
            elif not before:
                barred = [none_column(sub_axis)]
            else:
                # Strictly, a tie that resolves can still count in the column of what remains.
                barred = [] if strict and len(before) > 1 else list(before)
            self.barred.update((intended, column) for column in barred)


def overediting_matrix(
    steps: pl.DataFrame, photos: pl.DataFrame, taxonomy: Taxonomy, rules: ScoringRules | None = None
) -> pl.DataFrame:
    """Which category changed when another was asked for, over the sessions that have an OER.

    Args:
        steps: Frame `metrics.frames.steps_schema(taxonomy)`.
        photos: Frame `metrics.frames.photos_schema(taxonomy)`.
        taxonomy: The sub-axes and their categories.
        rules: The rules in force; the defaults where None.

    Returns:
        Frame `metrics.frames.OVEREDITS` in the taxonomy's order, one row for every cell that is defined:
        prompted categories x columns outside the asked sub-axis, `None[<sub-axis>]` included, zeros
        too. `rate` = count / prompts of the row (the paper's; a pattern is >= 0.15). `eligible` are the
        prompts whose before-state lacks the column, `rate_eligible` = count / eligible (null where none:
        a straight-haired person cannot become straight-haired). Low is good.

    Raises:
        MetricError: A table is malformed; the row is named.

    References:
        arXiv 2608.28802, overediting matrix and Table 3.

    """
    rules = rules or ScoringRules()
    matrices: dict[ModelKey, _Matrix] = {}
    for model, step in _counted_steps(steps, photos, taxonomy, rules):
        matrices.setdefault(model, _Matrix()).add(step, taxonomy, strict=rules.rule == "strict")
    rows = [
        (*model, *cell)
        for model, matrix in sorted(matrices.items())
        for cell in _matrix_cells(matrix, taxonomy)
    ]
    return pl.DataFrame(rows, schema=OVEREDITS, orient="row")


def missed_edits(
    steps: pl.DataFrame, photos: pl.DataFrame, taxonomy: Taxonomy, rules: ScoringRules | None = None
) -> pl.DataFrame:
    """What the asked sub-axis shows where it lacks the asked category, over the sessions that have an OER.

    Args:
        steps: Frame `metrics.frames.steps_schema(taxonomy)`.
        photos: Frame `metrics.frames.photos_schema(taxonomy)`.
        taxonomy: The sub-axes and their categories.
        rules: The rules in force; the defaults where None.

    Returns:
        Frame `metrics.frames.MISSED_EDITS` in the taxonomy's order, one row per prompted category and
        column of its own sub-axis but itself, zeros too. `prompts` are those that ask for a change
        ("keep" is not one); `rate` = count / prompts; low is good.

    Raises:
        MetricError: A table is malformed; the row is named.

    References:
        Not in arXiv 2608.28802, which counts changes outside the asked sub-axis only.

    """
    rules = rules or ScoringRules()
    prompts: dict[ModelKey, Counter[str]] = {}
    found: Counter[tuple[ModelKey, str, str]] = Counter()
    for model, step in _counted_steps(steps, photos, taxonomy, rules):
        if not step.intent.keep:
            prompts.setdefault(model, Counter())[step.intent.category] += 1
            found.update((model, step.intent.category, column) for column in step.miss_in_axis)
    rows = [
        (*model, intended, column, found[model, intended, column], n, found[model, intended, column] / n)
        for model, asked in sorted(prompts.items())
        for intended, sub_axis in taxonomy.sub_axis_of.items()
        if (n := asked[intended])
        for column in _columns(taxonomy, sub_axis)
        if column != intended
    ]
    return pl.DataFrame(rows, schema=MISSED_EDITS, orient="row")


def _counted_steps(
    steps: pl.DataFrame, photos: pl.DataFrame, taxonomy: Taxonomy, rules: ScoringRules
) -> Iterator[tuple[ModelKey, StepOveredits]]:
    for session in planned_sessions(steps, photos, taxonomy):
        if session.stop:
            continue
        found, excluded = overedits_of(session, taxonomy, rules.overediting)
        if excluded is None:
            first = session.steps[0]
            for step in found.steps:
                yield (first["suite"], first["dataset"], first["model"]), step


def _columns(taxonomy: Taxonomy, sub_axis: str) -> tuple[str, ...]:
    return (*taxonomy.categories[sub_axis], none_column(sub_axis))


def _matrix_cells(
    matrix: _Matrix, taxonomy: Taxonomy
) -> Iterator[tuple[str, str, int, int, float, int, float | None]]:
    for intended, asked in taxonomy.sub_axis_of.items():
        prompts = matrix.prompts[intended]
        if not prompts:
            continue
        for sub_axis in taxonomy.sub_axes:
            for column in _columns(taxonomy, sub_axis) if sub_axis != asked else ():
                count = matrix.found[intended, column]
                eligible = prompts - matrix.barred[intended, column]
                rate = count / eligible if eligible else None
                yield intended, column, count, prompts, count / prompts, eligible, rate
