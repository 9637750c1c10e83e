"""Which match is shown next: the queue of all (photo, pair), and who of it is served to a voter.

Every pair meets once before any meets twice. In each round a pair has the photo after the one that it had in
the round before, and pairs start at different photos (a rotated Latin pattern), so a round spreads over the
photos. Spreading votes over photos cuts the error of ratings by about 30 % against five votes a match.

References:
    Bradley & Terry (1952), doi:10.1093/biomet/39.3-4.324 (the information that `d_optimal` gains).
    Ghosh, Boyd & Saberi (2008), doi:10.1137/050645452 (its determinant and the effective resistance).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from domain.errors import MetricError

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

EVEN = 0.25
"""Information of one match between two equal models: p (1 - p) at p = 1/2."""
TIE = 1e-9
"""Relative difference below which two gains are equal: updating costs the last few bits."""
START = 1e-6
"""Information of each model against an average one before any match; decides only who meets first."""


@dataclass(frozen=True)
class Serving:
    """What a voter is shown next."""

    index: int
    """Place of the match in its table."""
    left: Literal["a", "b"]
    """Which of its two models is on the left."""


def rounds(completed: Bools, *, rng: np.random.Generator) -> Ints:
    """The queue of all matches, round by round.

    Args:
        completed: Whether a model completed a photo, shape `(models, photos)`.
        rng: Draws who starts, at which photo, and the order within each round.

    Returns:
        Rows of (model, other model, photo), each triple once, the first model before the second; shape
        `(n, 3)`. Round r holds exactly the pairs that share more than r photos.

    Raises:
        MetricError: `completed` has not two dimensions.
    """
    if completed.ndim != 2:
        raise MetricError(f"completed has {completed.ndim} dimensions, not models × photos")
    n_models, n_photos = completed.shape
    pairs = list(combinations(range(n_models), 2))
    photos = rng.permutation(n_photos)
    starts = rng.permutation(len(pairs))
    parts: list[Ints] = []
    for (a, b), start in zip(pairs, starts, strict=True):
        turned = np.roll(photos, -(int(start) % max(n_photos, 1)))
        shared = turned[completed[a, turned] & completed[b, turned]]
        number = np.arange(shared.size)
        parts.append(np.column_stack([number, np.full_like(number, a), np.full_like(number, b), shared]))
    rows = np.concatenate(parts) if parts else np.empty((0, 4), np.int64)
    rows = rows[rng.permutation(len(rows))]
    return rows[np.argsort(rows[:, 0], kind="stable"), 1:].astype(np.int64)


def d_optimal(queue: Ints, n_models: int, known: Ints) -> Ints:
    """The order in which the matches of a queue tell most of models that were judged unevenly.

    Greedy: next is always the pair whose match adds most to the log-determinant of the Bradley–Terry
    information, log(1 + EVEN · R), where R is the effective resistance between the two in the graph of all
    matches so far. Ratings are taken for equal, as they are before votes; of equal gains the pair that comes
    first in the queue. So a new model meets many others before those meet again.

    Args:
        queue: Rows of (model, other model, photo), shape `(n, 3)`; a pair keeps its order of photos.
        n_models: How many models there are.
        known: Votes that each row has already, shape `(n,)`. Rows with votes come last, fewest first.

    Returns:
        Places in the queue, each once, shape `(n,)`.

    Raises:
        MetricError: the shapes do not fit.
    """
    if queue.ndim != 2 or queue.shape[1] != 3 or known.shape != (len(queue),):
        raise MetricError(f"queue {queue.shape} and known {known.shape} do not fit")
    inverse = np.linalg.inv(_information(queue, n_models, known))
    fresh = np.flatnonzero(known == 0)
    waiting: dict[tuple[int, int], list[int]] = {}
    for place in fresh[::-1].tolist():
        waiting.setdefault((int(queue[place, 0]), int(queue[place, 1])), []).append(place)
    pairs = np.array(sorted(waiting), np.int64).reshape(-1, 2)
    left = [waiting[a, b] for a, b in pairs.tolist()]
    heads = np.array([places[-1] for places in left], np.int64)
    first, second = pairs[:, 0], pairs[:, 1]
    chosen: list[int] = []
    for _ in range(fresh.size):
        resistances = inverse[first, first] + inverse[second, second] - 2 * inverse[first, second]
        resistances[heads < 0] = -1.0
        largest = float(resistances.max())
        best = np.flatnonzero(resistances >= largest - TIE * abs(largest))
        at = int(best[np.argmin(heads[best])])
        chosen.append(left[at].pop())
        heads[at] = left[at][-1] if left[at] else -1
        column = inverse[:, first[at]] - inverse[:, second[at]]
        resistance = column[first[at]] - column[second[at]]
        inverse -= np.outer(column, column) * (EVEN / (1 + EVEN * resistance))
    judged = np.flatnonzero(known)
    judged = judged[np.argsort(known[judged], kind="stable")]
    return np.concatenate([np.array(chosen, np.int64), judged])


def _information(queue: Ints, n_models: int, known: Ints) -> NDArray[np.float64]:
    counts = np.zeros((n_models, n_models))
    np.add.at(counts, (queue[:, 0], queue[:, 1]), known)
    both = EVEN * (counts + counts.T)
    # The average of all ratings is never learnt from matches; a unit of it makes the matrix whole.
    return np.diag(both.sum(axis=1) + START) - both + np.full((n_models, n_models), 1 / max(n_models, 1))


def spread(n_matches: int, n_gold: int, first: int) -> Iterator[tuple[bool, int]]:
    """One order of matches and of those with a known answer: some of these first, the others evenly.

    Args:
        n_matches: How many matches there are.
        n_gold: How many have a known answer, besides.
        first: How many of these come at once.

    Yields:
        Whether it is one with a known answer, and its number among its kind; each once.
    """
    started = min(first, n_gold)
    yield from ((True, number) for number in range(started))
    given = started
    for number in range(n_matches):
        yield False, number
        due = started + (number + 1) * (n_gold - started) // n_matches
        yield from ((True, gold) for gold in range(given, due))
        given = due
    yield from ((True, gold) for gold in range(given, n_gold))


def next_match(
    counts: Ints,
    gold: Bools,
    seen: Ints | list[int],
    *,
    rng: np.random.Generator,
    gold_first: int = 3,
    gold_share: float = 0.05,
    enough: int | None = None,
) -> Serving | None:
    """The match that a voter is shown next: the least judged that this voter has not seen, in queue order.

    Matches with a known answer come at a voter's start and then by chance, so that nobody can tell when.
    It costs one pass over `counts`, a fraction of a millisecond for 60,000 matches; the caller keeps the
    counts, with those that are on a screen now, and what each voter has seen.

    Args:
        counts: Votes of each match, in the order of the queue, shape `(n,)`.
        gold: Whether its answer is known, shape `(n,)`.
        seen: Places of the matches that this voter was shown.
        rng: Draws the side, and when a match with a known answer comes.
        gold_first: Matches with a known answer at the start.
        gold_share: Of the further ones, those with a known answer.
        enough: Matches with so many votes are shown no more; None shows every match to everybody.

    Returns:
        What is shown, its side drawn anew; None when there is nothing left for this voter.

    Raises:
        MetricError: the shapes do not fit, or a place is none of the queue.
    """
    places = np.asarray(seen, np.int64)
    if counts.shape != gold.shape or counts.ndim != 1:
        raise MetricError(f"counts {counts.shape} and gold {gold.shape} do not fit")
    if places.size and not (places.min() >= 0 and places.max() < counts.size):
        raise MetricError(f"a voter has seen match {places.max()} of {counts.size}")
    n_gold_seen = int(gold[places].sum())
    due = n_gold_seen < gold_first or rng.random() < gold_share
    left: Literal["a", "b"] = "a" if rng.random() < 0.5 else "b"
    open_ = np.ones(counts.size, np.bool_)
    open_[places] = False
    index = _least(counts, open_ & gold) if due else None
    if index is None:
        rest = open_ & ~gold
        index = _least(counts, rest if enough is None else rest & (counts < enough))
    return None if index is None else Serving(index, left)


def _least(counts: Ints, among: Bools) -> int | None:
    if not among.any():
        return None
    return int(np.argmin(np.where(among, counts, np.iinfo(np.int64).max)))
