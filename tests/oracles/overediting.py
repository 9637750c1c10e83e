"""The rules of overediting, one session at a time and one sub-axis at a time: slow, and easy to check."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from domain.errors import MetricError
from domain.judging import State
from domain.taxonomy import Taxonomy
from metrics.overediting import FACIAL_HAIR, HATS, HIDDEN_BY_HATS, OvereditingRules, Rule, none_column

Seen = frozenset[str] | None
"""Categories of one sub-axis; empty = seen to be absent, None = nothing to compare with."""


@dataclass(frozen=True)
class Intent:
    """What one instruction asks for; from the session's definition, never from the prompt."""

    sub_axis: str
    category: str
    keep: bool = False


class Increment(NamedTuple):
    """One count in the overediting matrix."""

    intended: str
    found: str
    """A category, or `None[<sub-axis>]`."""


@dataclass(frozen=True)
class StepOveredits:
    """What one step changed beyond its instruction."""

    intent: Intent
    increments: tuple[Increment, ...]
    overedits: int
    """Sub-axes changed without being asked, 0 to 7; low is good."""
    overedits_no_facial_hair: int
    """The same without mustache and beard."""
    miss_in_axis: tuple[str, ...]
    """What the asked sub-axis shows instead of the asked category; empty for a hit or a keep."""
    asked_seen: bool
    """Whether the asked sub-axis is known after the step."""
    keep_violation: bool
    before: Mapping[str, Seen]
    """What each sub-axis was compared with."""


@dataclass(frozen=True)
class SessionOveredits:
    """What a session changed beyond its instructions."""

    steps: tuple[StepOveredits, ...]
    unknown_state: bool
    """Whether any feature of any image is unknown."""

    @property
    def oer(self) -> float | None:
        """Overedits / steps, >= 0, can exceed 1, low is good; None where a state is unknown."""
        return None if self.unknown_state else sum(s.overedits for s in self.steps) / len(self.steps)

    @property
    def oer_no_facial_hair(self) -> float | None:
        """OER without mustache and beard, over the same steps."""
        if self.unknown_state:
            return None
        return sum(s.overedits_no_facial_hair for s in self.steps) / len(self.steps)

    @property
    def missed_edits(self) -> int:
        """Steps whose asked sub-axis is known and lacks the asked category."""
        return sum(bool(step.miss_in_axis) for step in self.steps)

    @property
    def keep_violations(self) -> int:
        """Steps that lost what they were asked to keep."""
        return sum(step.keep_violation for step in self.steps)


def session_overedits(
    taxonomy: Taxonomy,
    intents: Sequence[Intent],
    states: Sequence[State],
    rules: OvereditingRules | None = None,
) -> SessionOveredits:
    """Count the overedits of one session.

    Args:
        taxonomy: The sub-axes and their categories.
        intents: What each step asks for, shape `(steps,)`.
        states: States of the base photo and of every edited image, shape `(steps + 1,)`.
        rules: The rules in force; the defaults of `OvereditingRules` where None.

    Returns:
        Increments, overedits, misses and violated keeps of each step, and the OER of the session
        (overedits / steps, low is good, never clipped).

    Raises:
        MetricError: Lengths do not fit, or a sub-axis or category is not of the taxonomy.

    References:
        arXiv 2608.28802, overediting matrix and OER.

    """
    rules = rules or OvereditingRules()
    _check(taxonomy, intents, states)
    before = _visible(states[0], {}, None, rules)
    steps: list[StepOveredits] = []
    for intent, shown_before, shown in zip(intents, states, states[1:], strict=False):
        after = _visible(shown, before, intent.sub_axis, rules)
        steps.append(_step(taxonomy, intent, shown_before, shown, before, after, rules.rule))
        before = {s: _reference(before[s], after[s], s == intent.sub_axis, rules.rule) for s in after}
    unknown = any(categories is None for state in states for categories in state.values())
    return SessionOveredits(steps=tuple(steps), unknown_state=unknown)


def _check(taxonomy: Taxonomy, intents: Sequence[Intent], states: Sequence[State]) -> None:
    if not intents or len(states) != len(intents) + 1:
        raise MetricError(f"{len(intents)} steps need {len(intents) + 1} states, not {len(states)}")
    for intent in intents:
        if taxonomy.sub_axis_of.get(intent.category) != intent.sub_axis:
            raise MetricError(f"{intent.category!r} is not a category of {intent.sub_axis!r}")
    for number, state in enumerate(states):
        if state.keys() != set(taxonomy.sub_axes):
            raise MetricError(f"state {number} has sub-axes {sorted(state)}, not the taxonomy's")
        for sub_axis, categories in state.items():
            for name in categories or ():
                if taxonomy.sub_axis_of.get(name) != sub_axis:
                    raise MetricError(f"state {number}: {name!r} is not a category of {sub_axis!r}")


def _visible(
    state: State, carried: Mapping[str, Seen], asked: str | None, rules: OvereditingRules
) -> dict[str, Seen]:
    """The state to compare: as seen, with hair hidden by a hat replaced by its last seen value."""
    visible: dict[str, Seen] = {s: None if c is None else frozenset(c) for s, c in state.items()}
    hats = state.get(HATS, ())
    if rules.occlusion == "count" or hats == ():
        return visible
    for sub_axis in HIDDEN_BY_HATS & visible.keys():
        if visible[sub_axis] == frozenset():
            # Under an unknown hat nobody knows whether the hair is hidden or gone.
            visible[sub_axis] = None if hats is None or sub_axis == asked else carried.get(sub_axis)
    return visible


def _step(
    taxonomy: Taxonomy,
    intent: Intent,
    shown_before: State,
    shown: State,
    before: Mapping[str, Seen],
    after: Mapping[str, Seen],
    rule: Rule,
) -> StepOveredits:
    found = {
        sub_axis: _found(sub_axis, intent, before[sub_axis], after[sub_axis], rule)
        for sub_axis in taxonomy.sub_axes
        if sub_axis != intent.sub_axis
    }
    changed = [sub_axis for sub_axis, columns in found.items() if columns]
    asked = shown[intent.sub_axis]
    kept_before = shown_before[intent.sub_axis] or ()
    hit = asked is None or intent.category in asked
    shown_instead = tuple(sorted(asked or ())) or (none_column(intent.sub_axis),)
    return StepOveredits(
        intent=intent,
        increments=tuple(Increment(intent.category, name) for s in changed for name in found[s]),
        overedits=len(changed),
        overedits_no_facial_hair=sum(sub_axis not in FACIAL_HAIR for sub_axis in changed),
        miss_in_axis=() if hit or intent.keep else shown_instead,
        asked_seen=asked is not None,
        keep_violation=intent.keep and not hit and intent.category in kept_before,
        before=before,
    )


def _found(sub_axis: str, intent: Intent, before: Seen, after: Seen, rule: Rule) -> tuple[str, ...]:
    """The matrix columns of one sub-axis that was not asked for; empty where it did not change."""
    if before is None or after is None or before == after:
        return ()
    if rule in ("resolve", "disjoint") and before & after:
        return ()
    if not after:
        entailed = intent.category == "clean shaven" and sub_axis == "mustache"
        return () if entailed else (none_column(sub_axis),)
    remaining = after if rule == "strict" else frozenset[str]()
    return tuple(sorted(after - before or remaining))


def _reference(before: Seen, after: Seen, asked: bool, rule: Rule) -> Seen:
    """What the next image is compared with."""
    if rule == "resolve" and not asked and before and after and before & after:
        return before & after
    return after
