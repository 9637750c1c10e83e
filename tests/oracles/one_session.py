"""One session through the vectorised rules of overediting, in the words of the oracle."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from oracles.overediting import Increment, Intent, SessionOveredits, StepOveredits

from domain.judging import State
from domain.taxonomy import Taxonomy
from metrics.masks import LAST_BIT, masks_of
from metrics.overediting import FACIAL_HAIR, Asked, OvereditingRules, Overedits, none_column, overedits


def names_in(mask: int, categories: Sequence[str], last: str) -> tuple[str, ...]:
    """The names of a mask's bits in order; `last` is that of the last bit."""
    found = [name for place, name in enumerate(categories) if mask >> place & 1]
    return (*found, *((last,) if mask & int(LAST_BIT) else ()))


def counted(
    taxonomy: Taxonomy,
    intents: Sequence[Intent],
    states: Sequence[State],
    rules: OvereditingRules | None = None,
) -> Overedits:
    """The session as arrays of one row."""
    categories = list(taxonomy.sub_axis_of)
    asked = Asked(
        category=np.array([[categories.index(intent.category) for intent in intents]]),
        keep=np.array([[intent.keep for intent in intents]]),
        planned=np.ones((1, len(intents)), dtype=np.bool_),
    )
    masks = [
        masks_of(pl.Series([state[name] for state in states], dtype=pl.List(pl.String)), names)[0]
        for name, names in taxonomy.categories.items()
    ]
    return overedits(taxonomy, asked, np.stack(masks, axis=1)[np.newaxis], rules)


def session_overedits(
    taxonomy: Taxonomy,
    intents: Sequence[Intent],
    states: Sequence[State],
    rules: OvereditingRules | None = None,
) -> SessionOveredits:
    """The same as the oracle's function of this name."""
    found = counted(taxonomy, intents, states, rules)
    head = np.array([name not in FACIAL_HAIR for name in taxonomy.sub_axes])
    every, without = found.counts()[0], found.counts(head)[0]
    steps = [
        StepOveredits(
            intent=intent,
            increments=tuple(
                Increment(intent.category, name)
                for number, (sub_axis, names) in enumerate(taxonomy.categories.items())
                for name in sorted(names_in(int(found.found[0, step, number]), names, none_column(sub_axis)))
            ),
            overedits=int(every[step]),
            overedits_no_facial_hair=int(without[step]),
            miss_in_axis=tuple(
                sorted(
                    names_in(
                        int(found.missed[0, step]),
                        taxonomy.categories[intent.sub_axis],
                        none_column(intent.sub_axis),
                    )
                )
            ),
            asked_seen=states[step + 1][intent.sub_axis] is not None,
            keep_violation=bool(found.violated[0, step]),
            before={
                sub_axis: None
                if found.before[0, step, number] == LAST_BIT
                else frozenset(names_in(int(found.before[0, step, number]), names, ""))
                for number, (sub_axis, names) in enumerate(taxonomy.categories.items())
            },
        )
        for step, intent in enumerate(intents)
    ]
    return SessionOveredits(steps=tuple(steps), unknown_state=bool(found.unknown[0]))
