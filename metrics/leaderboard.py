"""Means over sessions with their intervals: leaderboard, progression and what was left out."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from domain.errors import MetricError
from domain.taxonomy import Taxonomy
from metrics.frames import (
    COVERAGE,
    METRICS,
    PROGRESSION,
    SESSION_KEY,
    SESSIONS,
    STOPS,
    estimate_columns,
    leaderboard_schema,
)
from metrics.intervals import cluster_bootstrap_interval, normal_interval
from metrics.planned_sessions import Row, cluster_name, planned_sessions
from metrics.session_scores import ScoringRules, session_fss
from metrics.similarity import counted_fss, drop_fss

POOLED = "all"
"""The test set that pools the sessions of all others (not the mean of their means)."""

_FLOOR_METRIC = "drop_fss_floor_normalised"
_BOARD_KEY = ("suite", "dataset", "test_set", "model")


@dataclass
class _Values:
    """Values of one cell beside the person of each."""

    values: list[float] = field(default_factory=list[float])
    clusters: list[str] = field(default_factory=list[str])

    def add(self, value: float, cluster: str) -> None:
        self.values.append(value)
        self.clusters.append(cluster)


def leaderboard(sessions: pl.DataFrame, rules: ScoringRules | None = None) -> pl.DataFrame:
    """One row per model and test set, and one pooled over the test sets (`all`).

    Args:
        sessions: Result of `score_sessions`, or several of them stacked.
        rules: The rules that the sessions were scored with, and the interval; the defaults where None.

    Returns:
        Frame `metrics.frames.LEADERBOARD`, `all` first within suite and dataset, then by mean `drop_fss`
        (best first, undefined last) and model. Every mean has its 95 % interval, n (sessions) and clusters
        (people); one that is not determined is null with n = 0. Rates are shares of planned sessions;
        `no_face` is the share of edited images of complete sessions without a face.

    Raises:
        MetricError: A column is absent, a score is not finite (the row is named), a session is there
            twice, or a test set is named `all`.

    References:
        arXiv 2608.28802, Tables 1, 2 and 4; "Avg." there pools sessions as well.

    """
    rules = rules or ScoringRules()
    metrics = (*METRICS, *((_FLOOR_METRIC,) if _FLOOR_METRIC in sessions.columns else ()))
    table = _checked_sessions(sessions, metrics)
    pooled = table.with_columns(pl.lit(POOLED).alias("test_set"))
    groups = pl.concat([table, pooled]).sort(*_BOARD_KEY, *SESSION_KEY).partition_by(_BOARD_KEY)
    rows = [_board_row(group.to_dicts(), metrics, rules) for group in groups]
    board = pl.DataFrame(rows, schema=leaderboard_schema(metrics))
    return board.sort(
        "suite", "dataset", pl.col("test_set") != POOLED, "test_set", "drop_fss", "model", nulls_last=True
    )


def progression(
    steps: pl.DataFrame, photos: pl.DataFrame, taxonomy: Taxonomy, rules: ScoringRules | None = None
) -> pl.DataFrame:
    """Mean FSS of each model at steps 0 (base photo), 1, 2, ...

    Over the sessions that have a Drop_FSS under the same rules; a step that the rule skips is left out
    of its mean.

    Args:
        steps: Frame `metrics.frames.steps_schema(taxonomy)`.
        photos: Frame `metrics.frames.photos_schema(taxonomy)`.
        taxonomy: The sub-axes and their categories.
        rules: The rules in force; the defaults where None.

    Returns:
        Frame `metrics.frames.PROGRESSION`, sorted by suite, dataset, model and step; `fss` 0 to 1, high =
        same person, with its 95 % interval, n (images) and clusters (people).

    Raises:
        MetricError: A table is malformed; the row is named.

    References:
        arXiv 2608.28802, Figure 18.

    """
    rules = rules or ScoringRules()
    cells: dict[tuple[str, str, str, int], _Values] = {}
    for session in planned_sessions(steps, photos, taxonomy):
        fss, reason = session_fss(session)
        fss0 = session.base["fss0"]
        if session.stop or reason or drop_fss(fss0, fss, rules.no_face) is None:
            continue
        first = session.steps[0]
        for number, value in enumerate([fss0, *(counted_fss(fss, rules.no_face) or ())]):
            if value is not None:
                cell = cells.setdefault((first["suite"], first["dataset"], first["model"], number), _Values())
                cell.add(value, session.cluster)
    rows = [
        {
            **dict(zip(("suite", "dataset", "model", "step"), key, strict=True)),
            **_estimate("fss", cell, rules, ("progression", *map(str, key))),
        }
        for key, cell in sorted(cells.items())
    ]
    return pl.DataFrame(rows, schema=PROGRESSION)


def coverage(sessions: pl.DataFrame) -> pl.DataFrame:
    """Count everything that is left out of a mean.

    Args:
        sessions: Result of `score_sessions`.

    Returns:
        Frame `metrics.frames.COVERAGE`, sorted: `what` is `session` for those that stopped, with the
        outcome as `reason`, or a score that a complete session lacks, with its reason. `oer` stands for
        both overediting rates.

    Raises:
        MetricError: A column is absent, or a session is there twice.

    """
    extra = (_FLOOR_METRIC,) if _FLOOR_METRIC in sessions.columns else ()
    table = _checked_sessions(sessions, (*METRICS, *extra))
    reasons = {"session": "stopped"}
    reasons |= {what: f"{what}_excluded" for what in ("drop_fss", "sc", "oer", *extra)}
    key = ["suite", "dataset", "model", "test_set"]
    parts = [
        table.select(*key, pl.lit(what).alias("what"), pl.col(column).alias("reason")).drop_nulls("reason")
        for what, column in reasons.items()
    ]
    counted = pl.concat(parts).group_by(*key, "what", "reason").agg(pl.len().cast(pl.Int64).alias("n"))
    return counted.select(COVERAGE.names()).sort(COVERAGE.names())


def _checked_sessions(sessions: pl.DataFrame, metrics: Sequence[str]) -> pl.DataFrame:
    missing = sorted(set(SESSIONS) - set(sessions.columns))
    if missing:
        raise MetricError(f"sessions have no column {missing[0]!r}")
    for message, wrong in _faults(metrics):
        rows = sessions.filter(wrong).sort(SESSION_KEY)
        if rows.height:
            named = ", ".join(f"{name}={rows[name][0]!r}" for name in SESSION_KEY)
            raise MetricError(f"{message} ({named})")
    return sessions


def _faults(metrics: Sequence[str]) -> Iterator[tuple[str, pl.Expr]]:
    yield "a session is there twice", pl.struct(*SESSION_KEY).is_duplicated()
    yield f"a test set is named {POOLED!r}", pl.col("test_set") == POOLED
    for name in metrics:
        yield f"{name} is not finite", ~pl.col(name).is_finite()


def _board_row(sessions: list[Row], metrics: Sequence[str], rules: ScoringRules) -> Row:
    key = {name: sessions[0][name] for name in _BOARD_KEY}
    complete = [session for session in sessions if session["complete"]]
    examined = sum(session["n_examined"] for session in complete)
    stops = [session["stopped"] for session in sessions]
    row: Row = {**key, "n_planned": len(sessions), "n_complete": len(complete)}
    for name in metrics:
        cell = _Values()
        for session in complete:
            if session[name] is not None:
                cell.add(
                    session[name], cluster_name(session["dataset"], session["subject"], session["photo"])
                )
        images = rules.interval == "paper" and name.startswith("drop_fss")
        units = max((session["n_steps"] for session in complete), default=1) if images else 1
        row |= _estimate(name, cell, rules, ("leaderboard", *key.values(), name), units)
    row["completion"] = len(complete) / len(sessions)
    row |= {rate: stops.count(outcome) / len(sessions) for outcome, rate in STOPS.items()}
    row["no_face"] = sum(session["n_no_face"] for session in complete) / examined if examined else None
    return row | {
        "no_face_rule": rules.no_face,
        "overedit_rule": rules.rule,
        "occlusion": rules.occlusion,
        "interval": rules.interval,
    }


def _estimate(name: str, cell: _Values, rules: ScoringRules, stream: Sequence[str], units: int = 1) -> Row:
    columns = list(estimate_columns(name))
    if not cell.values:
        return dict(zip(columns, (None, None, None, 0, 0), strict=True))
    if rules.interval == "bootstrap":
        rng = _stream(rules.seed, stream)
        found = cluster_bootstrap_interval(cell.values, cell.clusters, rng=rng, resamples=rules.resamples)
    else:
        found = normal_interval(cell.values, units_per_value=units)
    return dict(zip(columns, (found.mean, found.low, found.high, found.n, found.clusters), strict=True))


def _stream(seed: int, name: Sequence[str]) -> np.random.Generator:
    """A stream per cell, by name: one more model does not move the intervals of the others."""
    digest = hashlib.sha256(repr(tuple(name)).encode()).digest()
    words = tuple(int.from_bytes(digest[start : start + 4], "big") for start in range(0, 16, 4))
    return np.random.Generator(np.random.SFC64(np.random.SeedSequence(seed, spawn_key=words)))
