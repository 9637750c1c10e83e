"""Face similarity to a person's reference photos (FSS) and how much of it a session loses (Drop_FSS)."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from domain.errors import MetricError

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

NoFaceRule = Literal["zero", "skip", "exclude"]
"""What a step without a face counts as: FSS 0, no step, or a session without Drop_FSS."""


def cosine_to_references(embedding: NDArray[np.floating], references: NDArray[np.floating]) -> float:
    """Face similarity score: the largest cosine between one face and a person's reference photos.

    Its floor rises with the number of references, since it is a maximum over them.

    Args:
        embedding: Embedding of the chosen face, shape `(d,)`, any scale.
        references: Embeddings of the reference photos, shape `(r, d)`, any scale, r >= 1.

    Returns:
        FSS in -1 to 1; high = the same person; 1 for a face compared with itself.

    Raises:
        MetricError: Shapes do not fit, there is no reference, or an embedding is zero or not finite.

    References:
        arXiv 2608.28802, section on identity preservation (FSS_k).

    """
    found = cosines(embedding, references)
    if not found.size:
        raise MetricError("no reference photo to compare with")
    return float(found.max())


def cosines(embedding: NDArray[np.floating], references: NDArray[np.floating]) -> Floats:
    """Cosine between one face and each of several.

    Args:
        embedding: Shape `(d,)`, any scale.
        references: Shape `(r, d)`, any scale.

    Returns:
        Shape `(r,)`, -1 to 1; high = the same person.

    Raises:
        MetricError: Shapes do not fit, or an embedding is zero or not finite.

    """
    face = np.asarray(embedding, dtype=np.float64)
    others = np.asarray(references, dtype=np.float64)
    if face.ndim != 1 or others.ndim != 2 or others.shape[1] != face.shape[0]:
        raise MetricError(f"embedding {face.shape} and references {others.shape} are not (d,) and (r, d)")
    found = _unit(others, "reference") @ _unit(face[np.newaxis, :], "embedding")[0]
    return np.clip(found, -1.0, 1.0)


def _unit(rows: NDArray[np.float64], name: str) -> NDArray[np.float64]:
    largest = np.abs(rows).max(axis=1, keepdims=True, initial=0.0)
    bad = ~(np.isfinite(largest) & (largest > 0))[:, 0]
    if bad.any():
        raise MetricError(f"{name} {int(np.argmax(bad))} is zero or not finite")
    # Dividing by the largest entry first keeps the squares of huge and tiny embeddings in range.
    scaled = rows / largest
    return scaled / np.linalg.norm(scaled, axis=1, keepdims=True)


def counted_fss(fss: Floats, planned: Flags, no_face: NoFaceRule = "zero") -> Floats:
    """FSS of each step as the metric counts it: clipped at 0, with the rule for no face applied.

    Args:
        fss: FSS of the edited images, shape `(sessions, steps)`; NaN = no face in that image.
        planned: Which steps a session has, the same shape; the others do not count.
        no_face: What a step without a face counts as: "zero" FSS 0 (nobody can be recognised), "skip"
            leaves the step out (flatters the models that destroy faces), "exclude" the session.

    Returns:
        Shape `(sessions, steps)`, 0 to 1, high = same person; NaN where nothing counts.

    Raises:
        MetricError: A value is infinite, or shapes differ.

    References:
        arXiv 2608.28802; what a step without a face counts as is open there.

    """
    if fss.shape != planned.shape:
        raise MetricError(f"FSS {fss.shape}, but steps {planned.shape}")
    if np.isinf(fss).any():
        session, step = np.argwhere(np.isinf(fss))[0]
        raise MetricError(f"FSS of step {step + 1} of session {session} is {fss[session, step]}, not finite")
    missing = np.isnan(fss)
    counted = np.where(missing, 0.0 if no_face == "zero" else np.nan, np.maximum(fss, 0.0))
    out = ~planned
    if no_face == "exclude":
        out |= (missing & planned).any(axis=1, keepdims=True)
    return np.where(out, np.nan, counted)


def drop_fss(fss0: Floats, counted: Floats, floor: float = 0.0) -> Floats:
    """Drop_FSS of sessions: mean over steps of (FSS_0 - FSS_k) / (FSS_0 - floor) x 100.

    With the floor 0 this is the paper's: a drop is at most 100, and a negative one (the edit is closer to
    the references than the base photo) is kept. A face of somebody else scores above 0, though, because
    FSS is a maximum over references: with their mean FSS as floor, 100 means "like a stranger", and a step
    without a face gives more.

    Args:
        fss0: FSS of the base photos, shape `(sessions,)`; NaN = unknown.
        counted: Result of `counted_fss`, shape `(sessions, steps)`.
        floor: Mean FSS of other people against the same number of references.

    Returns:
        Percent, shape `(sessions,)`; low = identity kept. NaN where FSS_0 is unknown, not positive or not
        above the floor, or nothing counts.

    Raises:
        MetricError: The floor is not finite, or shapes do not fit.

    References:
        arXiv 2608.28802, Drop_FSS; without the floor.

    """
    if not math.isfinite(floor):
        raise MetricError(f"floor is {floor}, not finite")
    if counted.ndim != 2 or fss0.shape != counted.shape[:1]:
        raise MetricError(f"FSS of {fss0.shape} base photos and {counted.shape} steps do not fit")
    base = np.where(fss0 > max(floor, 0.0), fss0, np.nan)[:, np.newaxis]
    drops = (base - counted) / (base - floor) * 100
    counts = ~np.isnan(drops)
    n_steps = np.count_nonzero(counts, axis=1)
    total = np.where(counts, drops, 0.0).sum(axis=1)
    return np.where(n_steps > 0, total / np.maximum(n_steps, 1), np.nan)
