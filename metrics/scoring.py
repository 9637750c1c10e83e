"""From the two input tables to every table of the first report."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from domain.taxonomy import Taxonomy
from metrics.coded_steps import code_steps
from metrics.coverage import coverage, coverage_by_group, coverage_by_group_frame, coverage_frame
from metrics.leaderboard import POOLED, board_frame, leaderboard, session_table
from metrics.overedit_tables import matrix_frame, missed_edits, missed_frame, overediting_matrix
from metrics.planned_sessions import planned_sessions
from metrics.progression import progression, progression_frame
from metrics.session_scores import (
    IntervalRule,
    ScoringRules,
    score_sessions,
    session_overedits,
    sessions_frame,
)

__all__ = [
    "POOLED",
    "IntervalRule",
    "Scored",
    "ScoringRules",
    "code_steps",
    "coverage",
    "coverage_by_group",
    "leaderboard",
    "missed_edits",
    "overediting_matrix",
    "progression",
    "score",
    "score_sessions",
]


@dataclass(frozen=True)
class Scored:
    """Every table of one scoring, as the functions of their names give them."""

    sessions: pl.DataFrame
    leaderboard: pl.DataFrame
    progression: pl.DataFrame
    coverage: pl.DataFrame
    coverage_by_group: pl.DataFrame
    overediting: pl.DataFrame
    missed_edits: pl.DataFrame


def score(
    steps: pl.DataFrame, photos: pl.DataFrame, taxonomy: Taxonomy, rules: ScoringRules | None = None
) -> Scored:
    """Every table at once: the steps are read and their overedits counted once.

    Args:
        steps: Frame `metrics.frames.steps_schema(taxonomy)`, or its compact form
            `metrics.coded_steps.coded_steps_schema(taxonomy)`, which is several times faster.
        photos: Frame `metrics.frames.photos_schema(taxonomy)`.
        taxonomy: The sub-axes and their categories.
        rules: The rules in force; the defaults where None.

    Raises:
        MetricError: A table is malformed; the row is named.

    References:
        arXiv 2608.28802.

    """
    rules = rules or ScoringRules()
    planned = planned_sessions(steps, photos, taxonomy)
    found = session_overedits(planned, rules.overediting)
    sessions = sessions_frame(planned, rules, found)
    table = session_table(sessions, planned.places)
    return Scored(
        sessions=sessions,
        leaderboard=board_frame(table, rules),
        progression=progression_frame(planned, rules),
        coverage=coverage_frame(table),
        coverage_by_group=coverage_by_group_frame(table, photos),
        overediting=matrix_frame(planned, found, rules),
        missed_edits=missed_frame(planned, found),
    )
