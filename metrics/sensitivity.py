"""How far the headline metrics move under every alternative to a rule that the paper leaves open."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple, get_args

import numpy as np
import polars as pl

from domain.taxonomy import Taxonomy
from metrics.cell_means import CellMeans, Cells, Floats, without_pools
from metrics.frames import METRICS, estimate_columns
from metrics.leaderboard import means_of
from metrics.name_codes import cluster_codes, distinct, joined
from metrics.overediting import Occlusion, Rule
from metrics.planned_sessions import PlannedSessions, planned_sessions
from metrics.session_scores import (
    FLOOR_METRIC,
    IntervalRule,
    ScoringRules,
    session_drops,
    session_oer,
    session_overedits,
    session_sc,
)
from metrics.similarity import NoFaceRule

SENSITIVITY = pl.Schema(
    {
        **{name: pl.String for name in ("suite", "dataset", "model", "metric", "choice", "value")},
        "in_force": pl.Boolean,
        **estimate_columns("mean"),
        "difference": pl.Float64,
    }
)
"""A metric of a model under one value of one choice; `difference` is from the rules in force."""

CHOICES: dict[str, tuple[str, ...]] = {
    "no_face": get_args(NoFaceRule),
    "rule": get_args(Rule),
    "occlusion": get_args(Occlusion),
    "interval": get_args(IntervalRule),
}
"""Each choice, a field of `ScoringRules`, and its values."""

_DROPS = ("drop_fss", FLOOR_METRIC)
_OERS = ("oer", "oer_no_facial_hair")
_TOUCHED = {"no_face": _DROPS, "rule": _OERS, "occlusion": _OERS, "interval": (*METRICS, FLOOR_METRIC)}
_KEY = ("suite", "dataset", "model")


class _Case(NamedTuple):
    metric: str
    choice: str
    value: str
    rules: ScoringRules
    scores: Floats


def sensitivity(
    steps: pl.DataFrame, photos: pl.DataFrame, taxonomy: Taxonomy, rules: ScoringRules | None = None
) -> pl.DataFrame:
    """Pooled Drop_FSS, SC and OER of each model under each value of each choice, the others in force.

    Args:
        steps: Frame `metrics.frames.steps_schema(taxonomy)` or its compact form.
        photos: Frame `metrics.frames.photos_schema(taxonomy)`.
        taxonomy: The sub-axes and their categories.
        rules: The rules in force; the defaults where None.

    Returns:
        Frame `SENSITIVITY`, sorted by suite, dataset, model, metric, choice and the order of its values. A
        metric has rows for the choices that can move it or its interval, the value in force marked; the
        mean has its 95 % interval, n (sessions) and clusters (people).

    Raises:
        MetricError: A table is malformed; the row is named.

    """
    planned = planned_sessions(steps, photos, taxonomy)
    return sensitivity_frame(planned, rules or ScoringRules())


def sensitivity_frame(planned: PlannedSessions, rules: ScoringRules) -> pl.DataFrame:
    """The sensitivity of planned sessions: the frame of `sensitivity`."""
    first, model = distinct(joined([planned.places[name] for name in _KEY]))
    places = planned.places
    cells = without_pools(model, cluster_codes(places["subject"], places["photo"]))
    cases = _cases(planned, rules)
    means = _means(planned, cells, cases)
    names = planned.keys[first].select(_KEY)
    parts = [
        names.with_columns(
            pl.lit(case.metric).alias("metric"),
            pl.lit(case.choice).alias("choice"),
            pl.lit(case.value).alias("value"),
            pl.lit(getattr(rules, case.choice) == case.value).alias("in_force"),
            **held.columns("mean"),
        )
        for case, held in zip(cases, means, strict=True)
    ]
    frame = pl.concat(parts) if parts else pl.DataFrame(schema=SENSITIVITY).drop("difference")
    in_force = pl.col("mean").filter("in_force").first().over(*_KEY, "metric", "choice")
    frame = frame.with_columns((pl.col("mean") - in_force).alias("difference")).select(SENSITIVITY.names())
    return frame.sort(*_KEY, "metric", "choice", maintain_order=True)


def _cases(planned: PlannedSessions, rules: ScoringRules) -> list[_Case]:
    """What each choice touches, computed once for each of its values."""
    known: dict[Any, dict[str, pl.Series]] = {}
    cases: list[_Case] = []
    for choice, values in CHOICES.items():
        for value in values:
            varied = replace(rules, **{choice: value})
            for metric in _TOUCHED[choice]:
                if metric == FLOOR_METRIC and rules.floor is None:
                    continue
                kind, key = _computed_by(metric, varied)
                if key not in known:
                    known[key] = _columns(kind, planned, varied)
                scores = known[key][metric].fill_null(np.nan).to_numpy()
                cases.append(_Case(metric, choice, value, varied, scores))
    return cases


def _computed_by(metric: str, rules: ScoringRules) -> tuple[str, tuple[str, ...]]:
    """Which of the computations gives a metric, and the rules that it reads."""
    if metric in _DROPS:
        return "drop", ("drop", rules.no_face)
    return ("sc", ("sc",)) if metric == "sc" else ("oer", ("oer", rules.rule, rules.occlusion))


def _columns(kind: str, planned: PlannedSessions, rules: ScoringRules) -> dict[str, pl.Series]:
    if kind == "drop":
        return session_drops(planned, rules)
    if kind == "sc":
        return session_sc(planned)
    return session_oer(planned, session_overedits(planned, rules.overediting))


def _means(planned: PlannedSessions, cells: Cells, cases: list[_Case]) -> list[CellMeans]:
    """The means of all cases, those with one kind of interval together."""
    made: dict[int, CellMeans] = {}
    for interval in get_args(IntervalRule):
        group = [number for number, case in enumerate(cases) if case.rules.interval == interval]
        if group:
            scores = {number: (cases[number].metric, cases[number].scores) for number in group}
            found = means_of(
                list(scores.values()), cells, cases[group[0]].rules, planned.n_steps, planned.complete
            )
            made |= dict(zip(group, found, strict=True))
    return [made[number] for number in range(len(cases))]
