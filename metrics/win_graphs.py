"""Which models the won matches connect, and what that lets be said of the others.

An arrow goes from winner to loser; a tie is an arrow both ways. Strengths are determined among models that
arrows connect both ways. Of the rest only the order is known, if that: a model from which arrows lead to the
rated ones and none back is `unbeaten`; the reverse is `winless`; one that arrows join to them in neither
direction is `disconnected`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]

UNBEATEN, WINLESS, DISCONNECTED = "unbeaten", "winless", "disconnected"


@dataclass(frozen=True)
class WinGraph:
    """What the won matches connect."""

    component: Integers
    """Models that matches connect at all share a number, from 1; the largest is 1. Shape `(n,)`."""
    rated: Booleans
    """In its component's largest set of models that wins connect both ways, if that has two, shape `(n,)`."""
    note: tuple[str | None, ...]
    """Why a model is not rated, or rated apart; None for the rated of component 1."""
    above: Integers
    """Models that are above it without doubt: a chain of wins leads from them to it and none back."""
    ordered: Booleans
    """Whether its place relative to the rated models of its component is known, shape `(n,)`."""

    def members(self, component: int) -> Integers:
        """The rated models of a component."""
        return np.flatnonzero(self.rated & (self.component == component))


def win_graph(wins: Floats) -> WinGraph:
    """What can be said of each model.

    Args:
        wins: Wins of row over column, a tie half a win for each, shape `(n, n)`, >= 0.

    Returns:
        Of sets that are equally large, the one with more matches counts as the largest, then the one with the
        first model.

    References:
        Hunter (2004), doi:10.1214/aos/1079120141, section 2, assumption 1 (Ford 1957, doi:10.2307/2308513).

    """
    n = len(wins)
    edges = wins > 0
    matches = (wins + wins.T).sum(1)
    component = _by_size(_parts(edges, "weak"), matches) + 1
    strong = _parts(edges, "strong")
    reach = _closure(edges[np.newaxis])[0]
    to_us, from_us = reach & ~reach.T, reach.T & ~reach
    rated, ordered = np.zeros(n, dtype=bool), np.zeros(n, dtype=bool)
    notes: list[str | None] = [DISCONNECTED if part > 1 else None for part in component]
    for part in range(1, int(component.max(initial=0)) + 1):
        inside = np.flatnonzero(component == part)
        core = inside[_by_size(strong[inside], matches[inside]) == 0]
        rated[core] = len(core) > 1
        for model in inside:
            up, down = to_us[model, core[0]], from_us[model, core[0]]
            ordered[model] = up or down or model in core
            if not rated[model]:
                alone = len(core) == 1 and model in core
                notes[model] = _note(
                    up or (alone and not edges[:, model].any()), down or (alone and not edges[model].any())
                )
    return WinGraph(component=component, rated=rated, note=tuple(notes), above=to_us.sum(0), ordered=ordered)


def _note(up: bool, down: bool) -> str:
    if up == down:
        return DISCONNECTED
    return UNBEATEN if up else WINLESS


def are_strong(edges: Booleans) -> Booleans:
    """Whether arrows lead from every model to every other, in each of several graphs.

    Args:
        edges: Shape `(graphs, n, n)`; the diagonal is not read.

    Returns:
        Shape `(graphs,)`.

    """
    n = edges.shape[-1]
    strong: Booleans = np.all(edges | np.eye(n, dtype=bool), axis=(-1, -2))  # most tables lack no arrow
    rest = np.flatnonzero(~strong)
    if len(rest):
        strong[rest] = np.all(_closure(edges[rest]), axis=(-1, -2))
    return strong


def _closure(edges: Booleans) -> Booleans:
    """Whether arrows lead from one to the other, over any number of them."""
    n = edges.shape[-1]
    reach = (edges | np.eye(n, dtype=bool)).astype(np.float32)
    length = 1
    while length < n:
        reach = (reach @ reach > 0).astype(np.float32)
        length *= 2
    return reach > 0


def _parts(edges: Booleans, connection: Literal["weak", "strong"]) -> Integers:
    graph = csr_array(edges.astype(np.float64))
    _, labels = connected_components(graph, directed=True, connection=connection)
    return np.asarray(labels, dtype=np.int64)


def _by_size(labels: Integers, matches: Floats) -> Integers:
    """Labels renumbered: most models first, then most matches, then the first model."""
    names, first = np.unique(labels, return_index=True)
    sizes = [((labels == name).sum(), matches[labels == name].sum()) for name in names]
    order = sorted(range(len(names)), key=lambda k: (-sizes[k][0], -sizes[k][1], first[k]))
    number = {names[k]: place for place, k in enumerate(order)}
    return np.array([number[label] for label in labels], dtype=np.int64)
