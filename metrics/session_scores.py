"""From planned steps to one row of scores per session."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import polars as pl
from numpy.typing import NDArray

from domain.errors import MetricError
from domain.taxonomy import Taxonomy
from metrics.consistency import session_consistency, step_consistency
from metrics.frames import ALLOWED, SESSIONS
from metrics.masks import LAST_BIT
from metrics.overediting import (
    FACIAL_HAIR,
    Asked,
    Occlusion,
    OvereditingRules,
    Overedits,
    Rule,
    overedits,
)
from metrics.planned_sessions import (
    EDITED,
    FOUND,
    NO_FACE,
    NO_STEP,
    SCORED,
    TRACKED,
    UNPARSABLE,
    UNREADABLE,
    PlannedSessions,
    planned_sessions,
)
from metrics.similarity import NoFaceRule, counted_fss, drop_fss

FLOOR_METRIC = "drop_fss_floor_normalised"

IntervalRule = Literal["bootstrap", "normal", "paper"]


@dataclass(frozen=True)
class ScoringRules:
    """Every choice that changes a number; printed with every table."""

    no_face: NoFaceRule = "zero"
    """What a step without a face counts as."""
    rule: Rule = "new"
    """When a sub-axis has changed; see `metrics.overediting.OvereditingRules`."""
    occlusion: Occlusion = "carry"
    """Hair under a hat."""
    interval: IntervalRule = "bootstrap"
    """How sure a mean is.

    "bootstrap" resamples people; "normal" takes sessions for independent; "paper" is "normal" with
    Drop_FSS counted per edited image, as the half-widths of the paper's Table 1 imply.
    """
    seed: int = 0
    """Of the bootstrap; cells with the same people share their draws."""
    resamples: int = 2_000
    floor: float | None = None
    """FSS of other people; adds the floor-normalised drop where given."""

    def __post_init__(self) -> None:
        """Raise MetricError for a rule that does not exist."""
        known = self.no_face in get_args(NoFaceRule) and self.interval in get_args(IntervalRule)
        if not known or self.seed < 0 or self.resamples < 1:
            raise MetricError(f"not a set of scoring rules: {self}")
        if self.floor is not None and not math.isfinite(self.floor):
            raise MetricError(f"floor is {self.floor}, not finite")
        OvereditingRules(rule=self.rule, occlusion=self.occlusion)

    @property
    def overediting(self) -> OvereditingRules:
        """The rules for overedits."""
        return OvereditingRules(rule=self.rule, occlusion=self.occlusion)


def score_sessions(
    steps: pl.DataFrame, photos: pl.DataFrame, taxonomy: Taxonomy, rules: ScoringRules | None = None
) -> pl.DataFrame:
    """Score every planned session.

    Only complete sessions, whose planned steps were all edited, are scored. A score that is not
    determined is null and names its reason in `<score>_excluded`; it is never 0.

    Args:
        steps: Planned steps, frame `metrics.frames.steps_schema(taxonomy)` or its compact form.
        photos: Base photos, frame `metrics.frames.photos_schema(taxonomy)`.
        taxonomy: The sub-axes and their categories.
        rules: The rules in force; the defaults where None.

    Returns:
        Frame `metrics.frames.SESSIONS`, sorted by suite, dataset, model, photo and session: `drop_fss` in
        percent, low is good; `sc` 0 to 1, high is good; `oer` >= 0, low is good. With a floor also
        `drop_fss_floor_normalised` and its `_excluded`.

    Raises:
        MetricError: A table is malformed; the row is named.

    References:
        arXiv 2608.28802.

    """
    return sessions_frame(planned_sessions(steps, photos, taxonomy), rules or ScoringRules())


def sessions_frame(
    planned: PlannedSessions, rules: ScoringRules, found: Overedits | None = None
) -> pl.DataFrame:
    """Score planned sessions: the frame of `score_sessions`, rows as in `planned`.

    Args:
        planned: The sessions.
        rules: The rules in force.
        found: Their overedits under these rules, where they are counted already.

    """
    counts = _counts(planned)
    drops, consistency = session_drops(planned, rules), session_sc(planned)
    changed = session_oer(planned, found or session_overedits(planned, rules.overediting))
    return planned.keys.with_columns(**(counts | drops | consistency | changed)).select(
        name for name in (*SESSIONS, *(name for name in drops if name not in SESSIONS))
    )


Columns = dict[str, pl.Series]
"""Columns of sessions, each of shape `(S,)`."""


def session_fss(planned: PlannedSessions) -> tuple[pl.Series, NDArray[np.bool_]]:
    """Why sessions have no Drop_FSS whatever the rule for no face, null elsewhere; and who may have one."""
    faces, held = planned.face, planned.planned
    reasons = {
        "not_examined": ((faces == NO_STEP) & held).any(axis=1),
        "unreadable": (faces == UNREADABLE).any(axis=1),
        "fss0_unknown": np.isnan(planned.fss0),
        "fss0_not_positive": planned.fss0 <= 0,
    }
    reason = _first_reason(planned.complete, reasons)
    return reason, planned.complete & reason.is_null().to_numpy()


def seen_fss(planned: PlannedSessions) -> NDArray[np.float64]:
    """FSS of each edited image, shape `(S, K)`; NaN where no face was found."""
    return np.where(planned.face == FOUND, planned.fss, np.nan)


def session_drops(planned: PlannedSessions, rules: ScoringRules) -> Columns:
    """`drop_fss`, with a floor the normalised one, and why a complete session has none."""
    reason, usable = session_fss(planned)
    counted = counted_fss(seen_fss(planned), planned.planned, rules.no_face)
    drop = np.where(usable, drop_fss(planned.fss0, counted), np.nan)
    reason = _unless(reason, usable & np.isnan(drop), "no_face")
    columns = {"drop_fss": _numbers(drop), "drop_fss_excluded": reason}
    if rules.floor is None:
        return columns
    low = ~np.isnan(drop) & (planned.fss0 <= rules.floor)
    normalised = np.where(np.isnan(drop), np.nan, drop_fss(planned.fss0, counted, rules.floor))
    return columns | {
        FLOOR_METRIC: _numbers(normalised),
        f"{FLOOR_METRIC}_excluded": _unless(reason, low, "fss0_not_above_floor"),
    }


def session_sc(planned: PlannedSessions) -> Columns:
    """`sc`, and why a complete session has none."""
    scored = planned.judgement == SCORED
    steps = step_consistency(
        np.where(scored, planned.success, np.nan), np.where(scored, planned.overediting, np.nan)
    )
    value = np.where(planned.complete, session_consistency(steps, planned.planned), np.nan)
    unparsable = (planned.judgement == UNPARSABLE).any(axis=1)
    reasons = {"judgement_unparsable": unparsable, "judgement_missing": np.ones_like(unparsable)}
    missing = planned.complete & np.isnan(value)
    return {"sc": _numbers(value), "sc_excluded": _first_reason(missing, reasons)}


def session_overedits(planned: PlannedSessions, rules: OvereditingRules) -> Overedits:
    """What every step changed beyond its instruction."""
    asked = Asked(category=planned.asked, keep=planned.keep, planned=planned.planned)
    return overedits(planned.taxonomy, asked, planned.states, rules)


def session_oer(planned: PlannedSessions, found: Overedits) -> Columns:
    """`oer` with and without facial hair, why a complete session has none, misses and violated keeps."""
    complete, tracked = planned.complete, planned.tracked
    head = np.array([name not in FACIAL_HAIR for name in planned.taxonomy.sub_axes])
    reasons = {
        "tracking_unparsable": (tracked == UNPARSABLE).any(axis=1),
        "tracking_missing": ((tracked != TRACKED) & planned.planned).any(axis=1),
        "base_state_unknown": (planned.states[:, 0] == LAST_BIT).any(axis=1),
        "state_unknown": found.unknown,
    }

    def rate(axes: NDArray[np.bool_] | None) -> pl.Series:
        total = found.counts(axes).sum(axis=1) / planned.n_steps
        return _numbers(np.where(complete & ~found.unknown, total, np.nan))

    def held(values: NDArray[Any]) -> pl.Series:
        return pl.Series(values).zip_with(pl.Series(complete), pl.Series([None] * len(values)))

    return {
        "oer": rate(None),
        "oer_no_facial_hair": rate(head),
        "oer_excluded": _first_reason(complete & found.unknown, reasons),
        "unknown_state": held(found.unknown),
        "missed_edits": held(np.count_nonzero(found.missed, axis=1)),
        "keep_violations": held(np.count_nonzero(found.violated, axis=1)),
    }


def _counts(planned: PlannedSessions) -> Columns:
    edited = planned.outcome == EDITED
    stopped_at = planned.stopped_at[:, np.newaxis]
    stops = np.take_along_axis(planned.outcome, stopped_at, axis=1)[:, 0] if edited.size else stopped_at[:, 0]
    counted = {
        "n_examined": edited & ((planned.face == FOUND) | (planned.face == NO_FACE)),
        "n_no_face": edited & (planned.face == NO_FACE),
        "n_unparsable": edited & (planned.judgement == UNPARSABLE),
    }
    return {
        "n_steps": pl.Series(planned.n_steps),
        "complete": pl.Series(planned.complete),
        "stopped": _texts(ALLOWED["outcome"], np.where(planned.complete, -1, stops.astype(np.int64))),
        "stopped_reason": planned.stopped_reason,
        **{name: pl.Series(np.count_nonzero(held, axis=1)) for name, held in counted.items()},
    }


def _first_reason(without: NDArray[np.bool_], reasons: dict[str, NDArray[np.bool_]]) -> pl.Series:
    """The first reason that holds of each session that is `without`; null for the others."""
    code = np.full(len(without), -1)
    for number, holds in reversed(list(enumerate(reasons.values()))):
        code[holds & without] = number
    return _texts(list(reasons), code)


def _unless(reasons: pl.Series, holds: NDArray[np.bool_], name: str) -> pl.Series:
    """The reasons, with another one where it holds."""
    return reasons.zip_with(pl.Series(~holds), pl.Series([name]).new_from_index(0, len(reasons)))


def _texts(names: Sequence[str], codes: NDArray[np.int64]) -> pl.Series:
    """The name of each code; null for -1."""
    return pl.Series([None, *names], dtype=pl.String).gather(pl.Series(codes + 1, dtype=pl.UInt32))


def _numbers(values: NDArray[np.float64]) -> pl.Series:
    return pl.Series(values, nan_to_null=True)
