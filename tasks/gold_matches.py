"""Matches with a known answer: the original's own face against one that is certainly not more like it.

What stands for the original is a twin of it (`tasks.cropping.twin_face`), and so is what stands for a
stranger: no face of such a match is the original of any, by whose name or bytes somebody could tell it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, zip_longest

import numpy as np

from adapters.base import ObjectStore
from domain.matches import CropRecord, Match, Side
from domain.votes import VoteRules
from tasks.cropping import degraded_face, twin_face

ORIGINAL, STRANGER, DEGRADED = "gold-original", "gold-stranger", "gold-degraded"
"""What stands for the models in such a match."""


@dataclass(frozen=True)
class Original:
    """The crop of a reference photo."""

    subject: str
    session: str
    crop: CropRecord


def gold_matches(
    originals: Sequence[Original], n_matches: int, rules: VoteRules, store: ObjectStore
) -> list[Match]:
    """The share of the matches that the rules ask for, as far as the photos allow.

    Strangers and degraded copies take turns; where there is no stranger left it is the other. Each (photo,
    wrong answer) comes once, spread over the photos, the right answer on a side that the seed draws.
    """
    wanted = max(math.ceil(rules.gold_share * n_matches), rules.gold_first) if n_matches else 0
    rng = np.random.default_rng([rules.seed, 1])  # not the stream that the queue is drawn from
    order = [originals[at] for at in rng.permutation(len(originals)).tolist()]
    return [
        _match(original, other, "a" if rng.random() < 0.5 else "b", store)
        for original, other in islice(_pairs(order), wanted)
    ]


def _pairs(order: Sequence[Original]) -> Iterator[tuple[Original, Original | None]]:
    """An original and whose crop is beside it; None where that is its own, degraded."""
    n = len(order)
    strangers = (
        (order[at], order[(at + turn) % n])
        for turn in range(1, n)
        for at in range(n)
        if order[at].subject != order[(at + turn) % n].subject
    )
    degraded = ((order[(at + n // 2) % n], None) for at in range(n))
    for both in zip_longest(strangers, degraded):
        yield from filter(None, both)


def _match(original: Original, other: Original | None, side: Side, store: ObjectStore) -> Match:
    own = original.crop
    photo = own.box.photo
    right = twin_face(own, photo, store)
    wrong = twin_face(other.crop, photo, store) if other else degraded_face(own, store)
    name = STRANGER if other else DEGRADED
    right_first = side == "a"
    return Match(
        photo=photo,
        session=original.session,
        model_a=ORIGINAL if right_first else name,
        model_b=name if right_first else ORIGINAL,
        original_sha256=own.crop_sha256,
        crop_a_sha256=right if right_first else wrong,
        crop_b_sha256=wrong if right_first else right,
        gold=side,
    )
