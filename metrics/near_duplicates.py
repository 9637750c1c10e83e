"""Reference photos that may be copies of a base photo: comparing a photo with its own copy flatters FSS."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from domain.errors import MetricError
from metrics.similarity import cosines

NEAR_DUPLICATE = 0.95
"""Cosine above which two photos may be copies of one picture."""


def near_duplicates(
    embedding: NDArray[np.floating],
    references: NDArray[np.floating],
    perceptual_hash: str | None,
    reference_hashes: Sequence[str | None],
    above: float = NEAR_DUPLICATE,
) -> NDArray[np.bool_]:
    """Which reference photos are nearly the base photo: cosine above a bound, or equal perceptual hashes.

    Args:
        embedding: Of the base photo's face, shape `(d,)`, any scale.
        references: Of the reference photos' faces, shape `(r, d)`, any scale.
        perceptual_hash: Of the base photo; None where unknown, which equals nothing.
        reference_hashes: Of each reference photo.
        above: Cosines strictly above it are near-duplicates.

    Returns:
        Shape `(r,)`, true for a near-duplicate.

    Raises:
        MetricError: Shapes do not fit, or an embedding is zero or not finite.

    References:
        arXiv 2210.07356 counts 5,068 duplicated faces in CelebA.

    """
    if references.ndim != 2 or references.shape[0] != len(reference_hashes):
        raise MetricError(f"references {references.shape}, but {len(reference_hashes)} hashes")
    if not reference_hashes:
        return np.zeros(0, np.bool_)
    same_hash = [perceptual_hash is not None and other == perceptual_hash for other in reference_hashes]
    return (cosines(embedding, references) > above) | np.array(same_hash, np.bool_)
