"""Which labels a permutation test may exchange, and the draws of them.

Photos of one person are not independent, so whole people are relabelled, not sessions. A person whose
photos are all in one group is one unit, and so is a photo of an unknown person; these units exchange
labels with one another. A person with photos in both groups (young here, old there) is a stratum of her
own: her photos exchange labels among themselves only. Under the hypothesis that the groups do not differ,
people are exchangeable, and so are the photos of one person; every relabelling drawn here keeps both, so
the test is exact.

Draws come in blocks of 2,048. A block has a random stream named by the seed, what is drawn and its number,
so a result depends on neither workers nor chunks, and a longer run extends a shorter one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from domain.errors import MetricError

BLOCK = 2_048
"""Relabellings per random stream."""

_ROWS = 64
"""Positions of a walk worked on at once; bounds the memory, changes no draw."""

Floats = NDArray[np.float64]
Labels = NDArray[np.int8]


class PhotoLabel(NamedTuple):
    """A photo of one of the two groups."""

    photo: str
    person: str | None
    """None where unknown: then the photo is a unit of its own."""
    in_a: bool


@dataclass(frozen=True)
class Relabelling:
    """The units of one dataset and axis, whose labels all of its tests share."""

    unit_of: dict[str, int]
    """Photo to unit."""
    in_a: NDArray[np.bool_]
    """The true label of each unit, shape `(units,)`."""
    strata: tuple[slice, ...]
    """Units that exchange labels with one another."""
    seed: int
    family: tuple[str, ...]
    """Names the random stream."""

    def block(self, number: int) -> Labels:
        """Labels of one block, 1 = group a, shape `(units, 2048)`."""
        rng = block_stream(self.seed, self.family, number)
        labels = np.empty((len(self.in_a), BLOCK), dtype=np.int8)
        for stratum in self.strata:
            labels[stratum] = draw_labels(rng, self.in_a[stratum])
        return labels


def person_relabelling(photos: Sequence[PhotoLabel], *, seed: int, family: Sequence[str]) -> Relabelling:
    """The units whose labels may be exchanged, people where known.

    Args:
        photos: The photos of both groups, in any order.
        seed: Of the draws, >= 0.
        family: Names the draws, such as (dataset, axis): the same names and seed, the same labels.

    Returns:
        The relabelling; its result depends on the order of neither photos nor groups.

    Raises:
        MetricError: A photo is there twice, or a group has none.

    References:
        Winkler et al. (2015), doi:10.1016/j.neuroimage.2015.05.092 (whole-block and within-block exchange).

    """
    if len({photo.photo for photo in photos}) < len(photos):
        raise MetricError("a photo is labelled twice")
    if len({photo.in_a for photo in photos}) < 2:
        raise MetricError("a group has no photo")
    people: dict[tuple[bool, str], list[PhotoLabel]] = {}
    for photo in sorted(photos):
        alone = photo.person is None
        people.setdefault((alone, photo.photo if alone else str(photo.person)), []).append(photo)
    mixed = [held for held in people.values() if len({photo.in_a for photo in held}) > 1]
    whole = [held for held in people.values() if len({photo.in_a for photo in held}) == 1]
    strata = [slice(0, len(whole))] if whole else []
    units = list(whole)
    for held in mixed:
        strata.append(slice(len(units), len(units) + len(held)))
        units += [[photo] for photo in held]
    return Relabelling(
        unit_of={photo.photo: unit for unit, held in enumerate(units) for photo in held},
        in_a=np.array([held[0].in_a for held in units], dtype=np.bool_),
        strata=tuple(strata),
        seed=seed,
        family=tuple(family),
    )


def draw_labels(rng: np.random.Generator, in_a: NDArray[np.bool_]) -> Labels:
    """Uniform relabellings that keep the number of units in each group, shape `(units, 2048)`.

    Selection sampling: unit i is put into the group with probability (labels left) / (units left), in all
    relabellings at once. The rarer label is drawn, so that exchanging the groups exchanges the labels.

    References:
        Fan, Muller & Rezucha (1962), doi:10.1080/01621459.1962.10480667, Method 1.

    """
    total, n_a = len(in_a), int(in_a.sum())
    swap = n_a > total - n_a or (2 * n_a == total and not in_a[0])
    left = np.full(BLOCK, total - n_a if swap else n_a, dtype=np.float64)
    labels = np.empty((total, BLOCK), dtype=np.int8)
    for start in range(0, total, _ROWS):
        hits = labels[start : start + _ROWS].view(np.bool_)
        uniforms = rng.random((len(hits), BLOCK))
        uniforms *= np.arange(total - start, total - start - len(hits), -1, dtype=np.float64)[:, np.newaxis]
        for uniform, hit in zip(uniforms, hits, strict=True):
            np.less(uniform, left, out=hit)
            np.subtract(left, hit, out=left)
    return 1 - labels if swap else labels


def block_stream(seed: int, name: Sequence[str], block: int) -> np.random.Generator:
    """The random stream of one block, by seed, name and number.

    Raises:
        MetricError: The seed is negative.

    """
    if seed < 0:
        raise MetricError(f"the seed is {seed}, below 0")
    digest = hashlib.sha256(repr(tuple(name)).encode()).digest()
    words = [int.from_bytes(digest[start : start + 4], "big") for start in range(0, 16, 4)]
    return np.random.Generator(np.random.SFC64(np.random.SeedSequence(seed, spawn_key=(*words, block))))
