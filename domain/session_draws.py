"""Seeded draws of what sessions ask for; what is drawn depends on nothing but the arguments.

Each draw ranks the candidates by a hash of (seed, test set, session number, step, attribute) and takes the
first: equal on every machine and version of Python, independent of the order of the taxonomy, and a set that
grows keeps the sessions that it had.

The rules, which the paper leaves open:

- Every attribute that is possible is equally likely, as in the paper.
- No attribute is asked for twice in a session, and no category that is in force: nothing would change. A
  category may come back once another one has replaced it, as head positions must.
- Hair is not asked for under a hat that an earlier step put on.
- With `keep_share`, a later step keeps what an earlier one asked for and nothing has replaced ("Keep …");
  never the first step, never two in a row.
- A multi-axis session asks for two axes at least; no two sessions of a set ask for the same in one order.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import get_args

from pydantic import BaseModel, ConfigDict

from domain import keys
from domain.errors import DefinitionError
from domain.session_rules import History
from domain.sessions import TestSet
from domain.taxonomy import Attribute, Taxonomy

MULTI_AXIS: TestSet = "multi_axis"
_TRIES = 200
"""To find a session that differs from the earlier ones."""


class DrawnStep(BaseModel):
    """What one step shall ask for."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    attribute: str
    keep: bool = False


class DrawnSession(BaseModel):
    """What one session shall ask for, in order."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    test_set: TestSet
    steps: tuple[DrawnStep, ...]


def draw_sessions(
    taxonomy: Taxonomy, counts: Mapping[TestSet, int], *, steps: int, seed: int, keep_share: float
) -> tuple[DrawnSession, ...]:
    """As many sessions of each test set as are wanted.

    Args:
        taxonomy: Where attributes come from; the test set of an axis has its name.
        counts: Sessions of each test set.
        steps: Of each session.
        seed: Another one gives other sessions.
        keep_share: The chance of a later step to be a "Keep …", 0 to 1.

    Raises:
        DefinitionError: the taxonomy lacks an axis, or has too little for that many sessions or steps.
    """
    drawn: list[DrawnSession] = []
    for test_set in (name for name in get_args(TestSet) if counts.get(name)):
        pool, seen = pool_of(taxonomy, test_set), set[tuple[DrawnStep, ...]]()
        for number in range(1, counts[test_set] + 1):
            chosen = _different(taxonomy, pool, test_set, number, seen, steps, seed, keep_share)
            seen.add(chosen)
            drawn.append(DrawnSession(id=f"{test_set}_{number:03d}", test_set=test_set, steps=chosen))
    return tuple(drawn)


def pool_of(taxonomy: Taxonomy, test_set: TestSet) -> tuple[Attribute, ...]:
    """The attributes that a test set draws from; raises DefinitionError when it has no axis."""
    axes = tuple(axis.name for axis in taxonomy.axes)
    if test_set == MULTI_AXIS:
        if len(axes) < 2:
            raise DefinitionError(f"taxonomy {taxonomy.id!r} has one axis; multi_axis needs two")
        return tuple(taxonomy.attributes.values())
    found = tuple(attribute for attribute in taxonomy.attributes.values() if attribute.axis == test_set)
    if not found:
        raise DefinitionError(
            f"taxonomy {taxonomy.id!r} has no axis {test_set!r}", field="test_sets", allowed=axes
        )
    return found


def _different(
    taxonomy: Taxonomy,
    pool: Sequence[Attribute],
    test_set: TestSet,
    number: int,
    seen: set[tuple[DrawnStep, ...]],
    steps: int,
    seed: int,
    keep_share: float,
) -> tuple[DrawnStep, ...]:
    for attempt in range(_TRIES):
        chance = _Chance(seed, test_set, number, attempt)
        chosen = tuple(_steps(pool, steps, chance, keep_share, several_axes=test_set == MULTI_AXIS))
        if chosen not in seen:
            return chosen
    raise DefinitionError(
        f"taxonomy {taxonomy.id!r} gives no {number} different {test_set} sessions of {steps} steps; "
        "ask for fewer or longer ones",
        field="test_sets",
    )


class _Chance:
    """Everything random about one session."""

    def __init__(self, seed: int, test_set: str, number: int, attempt: int) -> None:
        self._of = (seed, test_set, number, attempt)

    def first(self, step: int, candidates: Sequence[Attribute], what: str) -> Attribute:
        """One of the candidates."""
        start = self._start(step, what)
        return min(candidates, key=lambda found: hashlib.sha256(start + found.name.encode()).digest())

    def share(self, step: int) -> float:
        """A number from 0 up to 1."""
        digest = hashlib.sha256(self._start(step, "share")).digest()
        return int.from_bytes(digest[:6], "big") / 2**48

    def _start(self, step: int, what: str) -> bytes:
        return keys.canonical_json([*self._of, step, what])


def _steps(
    pool: Sequence[Attribute], steps: int, chance: _Chance, keep_share: float, *, several_axes: bool
) -> Iterator[DrawnStep]:
    history, kept_last, axes = History(), True, set[str]()
    for number in range(1, steps + 1):
        must_turn = several_axes and number == steps and len(axes) == 1
        kept = [] if kept_last or must_turn else _worth_keeping(history)
        kept_last = bool(kept) and chance.share(number) < keep_share
        candidates = kept if kept_last else _possible(pool, history)
        if must_turn:
            candidates = [attribute for attribute in candidates if attribute.axis not in axes]
        if not candidates:
            raise DefinitionError(
                f"the taxonomy has nothing left to ask for at step {number}; ask for shorter sessions",
                field="steps",
            )
        chosen = chance.first(number, candidates, "keep" if kept_last else "ask")
        history = history.after(chosen)
        axes.add(chosen.axis)
        yield DrawnStep(attribute=chosen.name, keep=kept_last)


def _possible(pool: Sequence[Attribute], history: History) -> list[Attribute]:
    in_force = {attribute.category for attribute in history.in_force.values()}
    return [
        attribute
        for attribute in pool
        if attribute.name.casefold() not in history.asked
        and attribute.category not in in_force
        and history.hides(attribute.sub_axis) is None
    ]


def _worth_keeping(history: History) -> list[Attribute]:
    return [a for a in history.in_force.values() if history.hides(a.sub_axis) is None]
