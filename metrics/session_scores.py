"""From planned steps to one row of scores per session."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

import polars as pl

from domain.errors import MetricError
from domain.judging import State
from domain.taxonomy import Taxonomy
from metrics.consistency import session_consistency
from metrics.frames import SESSIONS
from metrics.overediting import Occlusion, OvereditingRules, Rule, SessionOveredits, session_overedits
from metrics.planned_sessions import PlannedSession, Row, planned_sessions
from metrics.similarity import NoFaceRule, drop_fss, floor_normalised_drop

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
    """Of the bootstrap; each cell has a stream of its own, named by what the cell is."""
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
        steps: Planned steps, frame `metrics.frames.steps_schema(taxonomy)`.
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
    rules = rules or ScoringRules()
    schema = dict(SESSIONS)
    if rules.floor is not None:
        schema |= {
            "drop_fss_floor_normalised": pl.Float64(),
            "drop_fss_floor_normalised_excluded": pl.String(),
        }
    rows = [_scored(session, taxonomy, rules) for session in planned_sessions(steps, photos, taxonomy)]
    return pl.DataFrame(rows, schema=schema)


def session_fss(session: PlannedSession) -> tuple[list[float | None], str | None]:
    """FSS of each edited image (None = no face), and why the session has no Drop_FSS, if it has none."""
    faces = {step["face"] for step in session.steps}
    fss0 = session.base["fss0"]
    reason = None
    if None in faces:
        reason = "not_examined"
    elif "unreadable" in faces:
        reason = "unreadable"
    elif fss0 is None:
        reason = "fss0_unknown"
    elif fss0 <= 0:
        reason = "fss0_not_positive"
    return [step["fss"] if step["face"] == "found" else None for step in session.steps], reason


def overedits_of(
    session: PlannedSession, taxonomy: Taxonomy, rules: OvereditingRules
) -> tuple[SessionOveredits, str | None]:
    """Overedits of a complete session, and why it has no OER, if it has none."""
    states = session.states(taxonomy)
    try:
        found = session_overedits(taxonomy, session.intents, states, rules)
    except MetricError as error:
        raise MetricError(f"{error.message} ({_named(session)})") from error
    return found, _unknown_reason(session, states) if found.unknown_state else None


def _unknown_reason(session: PlannedSession, states: list[State]) -> str:
    tracked = {step["tracked"] for step in session.steps}
    if "unparsable" in tracked:
        return "tracking_unparsable"
    if tracked != {"tracked"}:
        return "tracking_missing"
    return "base_state_unknown" if None in states[0].values() else "state_unknown"


def _scored(session: PlannedSession, taxonomy: Taxonomy, rules: ScoringRules) -> Row:
    stop = session.stop
    first = session.steps[0]
    edited = [step for step in session.steps if step["outcome"] == "edited"]
    faces = [step["face"] for step in edited if step["face"] in ("found", "no_face")]
    row: Row = {
        **session.key,
        "test_set": first["test_set"],
        "subject": first["subject"],
        "n_steps": len(session.steps),
        "complete": stop is None,
        "stopped": stop and stop["outcome"],
        "stopped_reason": stop and stop["reason"],
        "n_examined": len(faces),
        "n_no_face": faces.count("no_face"),
        "n_unparsable": sum(step["judgement"] == "unparsable" for step in edited),
    }
    if stop is None:
        row |= _drops(session, rules) | _consistency(session) | _overediting(session, taxonomy, rules)
    return row


def _drops(session: PlannedSession, rules: ScoringRules) -> Row:
    fss, reason = session_fss(session)
    fss0 = session.base["fss0"]
    drop = None if reason else drop_fss(fss0, fss, rules.no_face)
    if drop is None:
        reason = reason or "no_face"
    row: Row = {"drop_fss": drop, "drop_fss_excluded": reason}
    if rules.floor is None:
        return row
    if drop is not None and fss0 <= rules.floor:
        drop, reason = None, "fss0_not_above_floor"
    normalised = None if drop is None else floor_normalised_drop(fss0, fss, rules.floor, rules.no_face)
    return row | {"drop_fss_floor_normalised": normalised, "drop_fss_floor_normalised_excluded": reason}


def _consistency(session: PlannedSession) -> Row:
    sc = session_consistency(session.scores).value
    if sc is not None:
        return {"sc": sc}
    unparsable = any(step["judgement"] == "unparsable" for step in session.steps)
    return {"sc_excluded": "judgement_unparsable" if unparsable else "judgement_missing"}


def _overediting(session: PlannedSession, taxonomy: Taxonomy, rules: ScoringRules) -> Row:
    found, reason = overedits_of(session, taxonomy, rules.overediting)
    return {
        "oer": found.oer,
        "oer_no_facial_hair": found.oer_no_facial_hair,
        "oer_excluded": reason,
        "unknown_state": found.unknown_state,
        "missed_edits": found.missed_edits,
        "keep_violations": found.keep_violations,
    }


def _named(session: PlannedSession) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in session.key.items())
