"""Overedits: features of a face that changed although the instruction did not ask for it.

What arXiv 2608.28802 leaves open is chosen here:

- Each image is compared with the one before it, so an overedit that is undone, or an asked edit that is
  lost later, counts at the step where it happens.
- The asked sub-axis is exempt. A wrong category there is a missed edit, kept apart.
- A feature that vanishes is an overedit in a column of its own, `None[<sub-axis>]`.
- Several new categories in one sub-axis are several matrix increments and one overedit.
- Entailed changes count, except that asking for "clean shaven" entails a mustache that vanishes.
- Under the rule "strict" a tie that resolves ({black, brown} -> {brown}) has no new category; its
  increments are the categories that remain.
- `occlusion="carry"`: hair that is not seen while a hat is on keeps its last seen value and is compared
  when it is seen again. Hair never seen before (a hat in the base photo), and hair asked for while it is
  hidden, has no value to compare with; its first appearance is no overedit. Misses and violated keeps are
  read from what is seen, never from a carried value.
- A keep is violated where the kept category was there before the step and is gone after it. A keep that
  finds nothing to keep is neither violated nor missed.
- Unknown is never absent: a change from or to an unknown feature is not counted, and a session with any
  unknown feature has no OER.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from domain.errors import MetricError
from domain.taxonomy import Taxonomy
from metrics.masks import LAST_BIT, Masks

Rule = Literal["new", "resolve", "strict", "disjoint"]
Occlusion = Literal["carry", "count"]

FACIAL_HAIR = frozenset({"mustache", "beard"})
"""The sub-axes that can move for men only."""
HATS = "hats"
HIDDEN_BY_HATS = frozenset({"hair color", "hair type", "hair style"})
SHAVEN = "clean shaven"
MUSTACHE = "mustache"

Flags = NDArray[np.bool_]
_BLOCK = 2**14
"""Sessions counted at a time, so that what is in between stays in the processor's cache."""


@dataclass(frozen=True)
class OvereditingRules:
    """How a change of state becomes an overedit; printed with every table."""

    rule: Rule = "new"
    """When a sub-axis has changed.

    "new": a category appears that was not there, or all vanish. "resolve": the categories are disjoint
    from what all earlier images agree on. "strict": the sets differ. "disjoint": they share nothing.
    """
    occlusion: Occlusion = "carry"
    """Hair under a hat: "carry" its last seen value, or "count" its vanishing (the paper)."""

    def __post_init__(self) -> None:
        """Raise MetricError for a rule that does not exist."""
        if self.rule not in get_args(Rule) or self.occlusion not in get_args(Occlusion):
            raise MetricError(f"no overediting rule {self.rule!r} with occlusion {self.occlusion!r}")


@dataclass(frozen=True)
class Asked:
    """What the steps of S sessions ask for; from the session's definition, never from the prompt."""

    category: NDArray[np.integer]
    """Places in `taxonomy.sub_axis_of`, shape `(S, K)`."""
    keep: Flags
    """Shape `(S, K)`."""
    planned: Flags
    """Which steps a session has, shape `(S, K)`; what lies beyond counts nothing."""


@dataclass(frozen=True)
class Overedits:
    """What S sessions of at most K steps changed beyond their instructions; A sub-axes."""

    found: Masks
    """The columns of the overediting matrix that a step adds to, shape `(S, K, A)`.

    A bit for each category, and `LAST_BIT` for `None[<sub-axis>]`; 0 in the asked sub-axis.
    """
    before: Masks
    """What each sub-axis was compared with, shape `(S, K, A)`; `LAST_BIT` = with nothing."""
    missed: Masks
    """What the asked sub-axis shows instead of the asked category, shape `(S, K)`.

    0 for a hit, a keep or an unknown; `LAST_BIT` where it shows nothing.
    """
    violated: Flags
    """Whether a step lost what it was asked to keep, shape `(S, K)`."""
    unknown: Flags
    """Whether any feature of any image of a session is unknown, shape `(S,)`."""

    def counts(self, axes: Flags | None = None) -> NDArray[np.int64]:
        """Overedits of each step: sub-axes changed without being asked; low is good.

        Args:
            axes: The sub-axes that count, shape `(A,)`; all where None.

        Returns:
            Shape `(S, K)`.

        """
        n_axes = self.found.shape[2]
        counted = range(n_axes) if axes is None else np.flatnonzero(axes)
        total = np.zeros_like(self.missed, dtype=np.uint8)
        for axis in counted:
            total += self.found[..., axis] != 0
        return total.astype(np.int64)


def none_column(sub_axis: str) -> str:
    """The matrix column of a feature that vanished."""
    return f"None[{sub_axis}]"


def overedits(
    taxonomy: Taxonomy, asked: Asked, states: Masks, rules: OvereditingRules | None = None
) -> Overedits:
    """Count what every step changed beyond its instruction.

    Args:
        taxonomy: The sub-axes and their categories.
        asked: What each step asks for.
        states: States of the base photo and of every edited image as masks, shape `(S, K + 1, A)`.
        rules: The rules in force; the defaults of `OvereditingRules` where None.

    Returns:
        Changed categories, misses and violated keeps of each step. The OER of a session is its overedits
        / its steps: low is good, never clipped; a session with an unknown state has none.

    Raises:
        MetricError: Shapes do not fit.

    References:
        arXiv 2608.28802, overediting matrix and OER.

    """
    n_sessions, n_steps = asked.category.shape
    if states.shape != (n_sessions, n_steps + 1, len(taxonomy.sub_axes)):
        raise MetricError(f"states {states.shape} do not fit {n_steps} steps of {n_sessions} sessions")
    rule = _Kernel(taxonomy, rules or OvereditingRules())
    shape = (n_steps, states.shape[2], n_sessions)
    made = Overedits(
        found=np.zeros(shape, dtype=np.uint16).transpose(2, 0, 1),
        before=np.zeros(shape, dtype=np.uint16).transpose(2, 0, 1),
        missed=np.zeros((n_steps, n_sessions), dtype=np.uint16).T,
        violated=np.zeros((n_steps, n_sessions), dtype=np.bool_).T,
        unknown=np.zeros((n_sessions,), dtype=np.bool_),
    )
    for start in range(0, n_sessions, _BLOCK):
        rule.count(asked, states, made, slice(start, start + _BLOCK))
    return made


class _Kernel:
    """The rules over a block of sessions, step by step."""

    def __init__(self, taxonomy: Taxonomy, rules: OvereditingRules) -> None:
        names = list(taxonomy.sub_axes)
        self._rules = rules
        self._axis = np.array([names.index(name) for name in taxonomy.sub_axis_of.values()], dtype=np.uint8)
        self._bit = np.array(
            [1 << place for held in taxonomy.categories.values() for place in range(len(held))],
            dtype=np.uint16,
        )
        carried = rules.occlusion == "carry" and HATS in names
        self._hats = names.index(HATS) if carried else None
        self._hidden = [number for number, name in enumerate(names) if name in HIDDEN_BY_HATS]
        categories = list(taxonomy.sub_axis_of)
        self._shaven = categories.index(SHAVEN) if SHAVEN in categories else -1
        self._mustache = names.index(MUSTACHE) if MUSTACHE in names else None
        self._axes = np.arange(len(names), dtype=np.uint8)[:, np.newaxis]

    def count(self, asked: Asked, states: Masks, made: Overedits, block: slice) -> None:
        """Fill a block of the result; inside, sub-axes come first."""
        held = states[block].transpose(1, 2, 0)
        sessions = np.arange(held.shape[2], dtype=np.int64)
        before = self._visible(held[0], None, None)
        made.unknown[block] = (held[0] == LAST_BIT).any(axis=0)
        for step in range(len(held) - 1):
            category, planned = asked.category[block, step], asked.planned[block, step]
            keep = asked.keep[block, step]
            axis, bit = self._axis[category], self._bit[category]
            is_asked = self._axes == axis
            made.unknown[block] |= (held[step + 1] == LAST_BIT).any(axis=0) & planned
            after = self._visible(held[step + 1], before, is_asked)
            found = self._found(before, after, category)
            found *= planned & ~is_asked
            made.found[block, step] = found.T
            made.before[block, step] = before.T
            shown = held[step + 1][axis, sessions]
            lacks = ((shown & (bit | LAST_BIT)) == 0) & planned
            made.missed[block, step] = np.where(shown == 0, LAST_BIT, shown) * (lacks & ~keep)
            had = (held[step][axis, sessions] & bit) != 0
            made.violated[block, step] = lacks & keep & had
            before = self._reference(before, after, is_asked)

    def _visible(self, shown: Masks, carried: Masks | None, is_asked: Flags | None) -> Masks:
        """The states to compare: as seen, with hair hidden by a hat replaced by its last seen value."""
        if self._hats is None:
            return shown
        hats = shown[self._hats]
        visible = shown.copy()
        for axis in self._hidden:
            at = np.flatnonzero((hats != 0) & (shown[axis] == 0))
            if not len(at):
                continue
            last = np.full(len(at), LAST_BIT) if carried is None else carried[axis, at]
            # Under an unknown hat nobody knows whether the hair is hidden or gone.
            last[hats[at] == LAST_BIT] = LAST_BIT
            if is_asked is not None:
                last[is_asked[axis, at]] = LAST_BIT
            visible[axis, at] = last
        return visible

    def _found(self, before: Masks, after: Masks, category: NDArray[np.integer]) -> Masks:
        """What every sub-axis changed to, as if none was asked for; 0 where it did not change."""
        found = after & ~before
        if self._rules.rule == "strict":
            found |= after * ((found == 0) & (before != after))
        gone = (after == 0) & (before != 0)
        if self._mustache is not None and self._shaven >= 0:
            gone[self._mustache] &= category != self._shaven
        found |= gone * LAST_BIT
        changed = ((before | after) & LAST_BIT) == 0
        if self._rules.rule in ("resolve", "disjoint"):
            changed &= (before & after) == 0
        return found * changed

    def _reference(self, before: Masks, after: Masks, is_asked: Flags) -> Masks:
        """What the next image is compared with."""
        if self._rules.rule != "resolve":
            return after
        common = before & after
        return np.where(is_asked | (common == 0), after, common)
