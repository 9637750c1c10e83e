"""Means over sessions with their intervals: the leaderboard."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from domain.errors import MetricError
from metrics.cell_means import CellMeans, Cells, Floats, Integers, bootstrap_means, normal_means
from metrics.frames import METRICS, SESSION_KEY, SESSIONS, STOPS, leaderboard_schema
from metrics.name_codes import cluster_codes, distinct, joined, ranked
from metrics.row_checks import refuse_rows, refuse_twice
from metrics.session_scores import FLOOR_METRIC, ScoringRules

POOLED = "all"
"""The test set that pools the sessions of all others (not the mean of their means)."""

_BOARD_KEY = ("suite", "dataset", "test_set", "model")
_MODEL_KEY = ("suite", "dataset", "model")


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
    return board_frame(checked_sessions(sessions), rules or ScoringRules())


@dataclass(frozen=True)
class SessionTable:
    """Scored sessions that are in order."""

    frame: pl.DataFrame
    """Sorted by `SESSION_KEY`."""
    metrics: tuple[str, ...]
    """The scores it has."""
    places: Mapping[str, Integers]
    """Its names as numbers, in alphabetical order; -1 for null."""

    def values(self, metric: str) -> Floats:
        """A score of complete sessions; NaN where there is none."""
        values = self.frame[metric].fill_null(np.nan).to_numpy()
        return np.where(self.frame["complete"].to_numpy(), values, np.nan)


def board_frame(table: SessionTable, rules: ScoringRules) -> pl.DataFrame:
    """The leaderboard of checked sessions: the frame of `leaderboard`."""
    places = table.places
    first, cell = distinct(joined([places[name] for name in _BOARD_KEY]))
    models, model = distinct(joined([places[name] for name in _MODEL_KEY]))
    cells = Cells(
        cell=cell,
        cluster=cluster_codes(places["subject"], places["photo"]),
        parent=model[first] + len(first),
    )
    own = table.frame[first].select(_BOARD_KEY)
    pooled = table.frame[models].select(_BOARD_KEY).with_columns(pl.lit(POOLED).alias("test_set"))
    frame = pl.concat([own, pooled]).with_columns(
        **_counts(table.frame, cells), **_means(table, cells, rules), **rules_columns(rules)
    )
    return frame.select(leaderboard_schema(table.metrics).names()).sort(
        "suite", "dataset", pl.col("test_set") != POOLED, "test_set", "drop_fss", "model", nulls_last=True
    )


def _means(table: SessionTable, cells: Cells, rules: ScoringRules) -> dict[str, pl.Series]:
    """Every mean with its interval."""
    scores = [(name, table.values(name)) for name in table.metrics]
    n_steps, complete = table.frame["n_steps"].to_numpy(), table.frame["complete"].to_numpy()
    made = means_of(scores, cells, rules, n_steps, complete)
    pairs = zip(table.metrics, made, strict=True)
    return {column: held for name, means in pairs for column, held in means.columns(name).items()}


def means_of(
    scores: Sequence[tuple[str, Floats]],
    cells: Cells,
    rules: ScoringRules,
    n_steps: Integers,
    complete: NDArray[np.bool_],
) -> list[CellMeans]:
    """Means of scores with the interval that is in force.

    Args:
        scores: Metric and values, each of shape `(sessions,)`; NaN = none.
        cells: Where the sessions belong.
        rules: The rules in force.
        n_steps: Planned steps, shape `(sessions,)`.
        complete: Whether all of them were edited, shape `(sessions,)`.

    Raises:
        MetricError: A value is infinite.

    """
    if rules.interval == "bootstrap":
        values = [held for _, held in scores]
        return bootstrap_means(values, cells, seed=rules.seed, resamples=rules.resamples)
    images = [rules.interval == "paper" and name.startswith("drop_fss") for name, _ in scores]
    units = np.ones(cells.n_cells, dtype=np.int64)
    if any(images):
        for cell in (cells.cell, cells.parent[cells.cell]):
            np.maximum.at(units, cell[complete], n_steps[complete])
    return [
        normal_means(values, cells, units if per_image else None)
        for (_, values), per_image in zip(scores, images, strict=True)
    ]


def _counts(frame: pl.DataFrame, cells: Cells) -> dict[str, pl.Series]:
    """Sessions, their shares, and the share of edited images without a face."""
    complete = frame["complete"].to_numpy()
    n_planned, n_complete = cells.summed(None), cells.summed(complete)
    stopped = frame["stopped"]
    stops = {
        rate: cells.summed((stopped == outcome).fill_null(value=False).to_numpy())
        for outcome, rate in STOPS.items()
    }
    examined = cells.summed(frame["n_examined"].to_numpy() * complete)
    no_face = cells.summed(frame["n_no_face"].to_numpy() * complete) / np.where(
        examined > 0, examined, np.nan
    )
    return {
        "n_planned": pl.Series(n_planned.astype(np.int64)),
        "n_complete": pl.Series(n_complete.astype(np.int64)),
        "completion": pl.Series(n_complete / n_planned),
        **{rate: pl.Series(count / n_planned) for rate, count in stops.items()},
        "no_face": pl.Series(no_face, nan_to_null=True),
    }


def rules_columns(rules: ScoringRules) -> dict[str, pl.Expr]:
    """The rules in force, as columns of a table."""
    return {
        "no_face_rule": pl.lit(rules.no_face),
        "overedit_rule": pl.lit(rules.rule),
        "occlusion": pl.lit(rules.occlusion),
        "interval": pl.lit(rules.interval),
    }


def checked_sessions(sessions: pl.DataFrame) -> SessionTable:
    """Scored sessions sorted by their key, and the scores they have.

    Raises:
        MetricError: A column is absent, a score is not finite (the row is named), a session is there
            twice, or a test set is named `all`.

    """
    missing = sorted(set(SESSIONS) - set(sessions.columns))
    if missing:
        raise MetricError(f"sessions have no column {missing[0]!r}")
    frame = refuse_twice(sessions, SESSION_KEY, "a session is there twice")
    names = (*SESSION_KEY, "test_set", "subject")
    return session_table(frame, {name: ranked(frame[name]) for name in names})


def session_table(sessions: pl.DataFrame, places: Mapping[str, Integers]) -> SessionTable:
    """Scored sessions that are sorted by their key, each there once.

    Args:
        sessions: The frame of `score_sessions`.
        places: Its names as numbers.

    Raises:
        MetricError: A score is not finite (the row is named), or a test set is named `all`.

    """
    metrics = (*METRICS, *((FLOOR_METRIC,) if FLOOR_METRIC in sessions.columns else ()))
    wrong = [(f"a test set is named {POOLED!r}", pl.col("test_set") == POOLED)]
    wrong += [(f"{name} is not finite", ~pl.col(name).is_finite()) for name in metrics]
    refuse_rows(sessions, wrong, SESSION_KEY)
    return SessionTable(frame=sessions, metrics=metrics, places=places)
