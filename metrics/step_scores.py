"""SC and overedits of single steps, for the tables that compare instructions and not sessions."""

from __future__ import annotations

import numpy as np
import polars as pl

from domain.errors import MetricError
from metrics.consistency import step_consistency
from metrics.planned_sessions import SCORED, PlannedSessions
from metrics.session_scores import ScoringRules, session_overedits

STEP_SCORES = pl.Schema(
    {
        **{name: pl.String for name in ("suite", "dataset", "model", "photo", "session", "test_set")},
        "step": pl.Int64,
        **{name: pl.String for name in ("sub_axis", "category")},
        "sc": pl.Float64,
        "overedits": pl.Int64,
    }
)
"""One planned step a row, with what it asks for; a score is null where the step has none."""


def step_scores(planned: PlannedSessions, rules: ScoringRules | None = None) -> pl.DataFrame:
    """SC and overedits of every planned step.

    Only steps of complete sessions are scored: `sc` where the step was judged, `overedits` where the
    session has an OER.

    Args:
        planned: The sessions, from `metrics.planned_sessions.planned_sessions`.
        rules: The rules in force; the defaults where None.

    Returns:
        Frame `STEP_SCORES`, in the order of `planned`, then step; `sc` 0 to 1, high is good; `overedits` 0
        to 7, low is good.

    Raises:
        MetricError: A judge's number is outside 0 to 10.

    References:
        arXiv 2608.28802, sections 2.5.2 and 2.5.3.

    """
    held = planned.planned
    session, step = np.nonzero(held)
    judged = planned.complete[:, np.newaxis] & (planned.judgement == SCORED)
    sc = step_consistency(
        np.where(judged, planned.success, np.nan), np.where(judged, planned.overediting, np.nan)
    )
    found = session_overedits(planned, (rules or ScoringRules()).overediting)
    known = np.broadcast_to((planned.complete & ~found.unknown)[:, np.newaxis], held.shape)[held]
    sub_axis_of = planned.taxonomy.sub_axis_of
    asked = pl.Series(planned.asked[held], dtype=pl.UInt32)
    columns = {
        "step": pl.Series(step + 1, dtype=pl.Int64),
        "sub_axis": pl.Series(list(sub_axis_of.values())).gather(asked),
        "category": pl.Series(list(sub_axis_of)).gather(asked),
        "sc": pl.Series(sc[held]).fill_nan(None),
        "overedits": pl.select(
            pl.when(pl.Series(known)).then(pl.Series(found.counts()[held], dtype=pl.Int64))
        ).to_series(),
    }
    keys = planned.keys.select("suite", "dataset", "model", "photo", "session", "test_set")
    return keys[session].with_columns(**columns).select(STEP_SCORES.names())


def need_step_scores(scores: pl.DataFrame) -> pl.DataFrame:
    """The frame itself.

    Raises:
        MetricError: It lacks a column of `STEP_SCORES`.

    """
    for name, kind in STEP_SCORES.items():
        if scores.schema.get(name) != kind:
            raise MetricError(f"step scores have no column {name!r} of type {kind}")
    return scores
