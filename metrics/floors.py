"""How similar a photo is to other people: the floor of FSS."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from domain.errors import MetricError


@dataclass(frozen=True)
class Floor:
    """Mean FSS of photos against people who are not in them."""

    value: float
    n_photos: int
    n_pairs: int
    """Pairs of a photo and another person."""


def fss_floor(
    photos: Sequence[tuple[str, NDArray[np.floating]]], references: Mapping[str, NDArray[np.floating]]
) -> Floor | None:
    """The mean, over photos and other people, of the largest cosine to that person's reference photos.

    Args:
        photos: Of each base photo its person and the embedding of its face, shape `(d,)`, unit length.
        references: Of each person the embeddings of the reference photos, shape `(r, d)`, unit, r >= 1.

    Returns:
        The floor in -1 to 1; None when no photo can be compared with another person.

    Raises:
        MetricError: An embedding is not finite, or a person has no reference.
    """
    if any(rows.shape[0] == 0 for rows in references.values()):
        raise MetricError("a person without reference photos has no FSS")
    people = sorted(references)
    if not photos or not people:
        return None
    faces = np.stack([embedding for _, embedding in photos]).astype(np.float64)
    stacked = np.concatenate([references[name] for name in people]).astype(np.float64)
    if not (np.isfinite(faces).all() and np.isfinite(stacked).all()):
        raise MetricError("an embedding is not finite")
    starts = np.cumsum([0, *(references[name].shape[0] for name in people[:-1])])
    fss = np.maximum.reduceat(faces @ stacked.T, starts, axis=1)
    other = np.array([[person != name for name in people] for person, _ in photos])
    if not other.any():
        return None
    return Floor(float(np.clip(fss[other].mean(), -1.0, 1.0)), int(other.any(axis=1).sum()), int(other.sum()))
