"""Chains of states into which every overedit is written one by one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from domain.taxonomy import Taxonomy


def walked_states(
    taxonomy: Taxonomy,
    rng: np.random.Generator,
    base: NDArray[np.uint16],
    asked: NDArray[np.int64],
    rate: NDArray[np.float64],
    missed: float,
) -> tuple[NDArray[np.uint16], NDArray[np.int64]]:
    """States after each step, shape `(sessions, steps, sub-axes)`, and the overedits of each session.

    Args:
        taxonomy: The sub-axes and their categories.
        rng: Source of what happens.
        base: State of each base photo, one category a sub-axis, shape `(sessions, sub-axes)`.
        asked: The asked category of each step, shape `(sessions, steps)`.
        rate: How often a step changes one more sub-axis, shape `(sessions,)`.
        missed: How often an asked edit is not made.

    """
    sizes = np.array([len(names) for names in taxonomy.categories.values()])
    axis_of = np.array([list(taxonomy.sub_axes).index(name) for name in taxonomy.sub_axis_of.values()])
    place_of = np.concatenate([np.arange(size) for size in sizes])
    sessions = np.arange(len(asked))
    place = np.log2(base).astype(np.int64)
    overedits = np.zeros(len(asked), dtype=np.int64)
    states: list[NDArray[np.int64]] = []
    for step in range(asked.shape[1]):
        place = place.copy()
        axis = axis_of[asked[:, step]]
        made = rng.random(len(asked)) >= missed
        place[sessions[made], axis[made]] = place_of[asked[made, step]]
        other = (axis + rng.integers(1, len(sizes), size=len(asked))) % len(sizes)
        happens = rng.random(len(asked)) < rate
        turn = 1 + (rng.random(len(asked)) * (sizes[other] - 1)).astype(np.int64)
        changed = (place[sessions, other] + turn) % sizes[other]
        place[sessions[happens], other[happens]] = changed[happens]
        overedits += happens
        states.append(place)
    return (1 << np.stack(states, axis=1)).astype(np.uint16), overedits
