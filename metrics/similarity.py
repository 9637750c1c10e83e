"""Face similarity to a person's reference photos (FSS) and how much of it a session loses (Drop_FSS)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from domain.errors import MetricError

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
    face = np.asarray(embedding, dtype=np.float64)
    others = np.asarray(references, dtype=np.float64)
    if face.ndim != 1 or others.ndim != 2 or others.shape[1] != face.shape[0]:
        raise MetricError(f"embedding {face.shape} and references {others.shape} are not (d,) and (r, d)")
    if others.shape[0] == 0:
        raise MetricError("no reference photo to compare with")
    cosines = _unit(others, "reference") @ _unit(face[np.newaxis, :], "embedding")[0]
    return float(np.clip(cosines.max(), -1.0, 1.0))


def _unit(rows: NDArray[np.float64], name: str) -> NDArray[np.float64]:
    largest = np.abs(rows).max(axis=1, keepdims=True, initial=0.0)
    bad = ~(np.isfinite(largest) & (largest > 0))[:, 0]
    if bad.any():
        raise MetricError(f"{name} {int(np.argmax(bad))} is zero or not finite")
    # Dividing by the largest entry first keeps the squares of huge and tiny embeddings in range.
    scaled = rows / largest
    return scaled / np.linalg.norm(scaled, axis=1, keepdims=True)


def drop_fss(fss0: float, fss: Sequence[float | None], no_face: NoFaceRule = "zero") -> float | None:
    """Drop_FSS of a session: mean over its steps of (FSS_0 - FSS_k) / FSS_0 x 100.

    A negative FSS_k is clipped to 0, so the drop is at most 100. A negative drop (the edit is closer to
    the references than the base photo) is kept.

    Args:
        fss0: FSS of the base photo, > 0.
        fss: FSS of each edited image in order, shape `(steps,)`; None = no face in that image.
        no_face: "zero" counts such a step as FSS 0 (nobody can be recognised), "skip" leaves the step
            out (flatters the models that destroy faces), "exclude" leaves the session out.

    Returns:
        Percent, <= 100; low = identity kept. None where the rule leaves nothing to average.

    Raises:
        MetricError: FSS_0 <= 0, no step, or a value that is not finite.

    References:
        arXiv 2608.28802, Drop_FSS; what a step without a face counts as is open there.

    """
    return _mean_drop(fss0, fss, no_face, floor=0.0)


def floor_normalised_drop(
    fss0: float, fss: Sequence[float | None], floor: float, no_face: NoFaceRule = "zero"
) -> float | None:
    """Drop in the range that is really there: mean over steps of (FSS_0 - FSS_k) / (FSS_0 - floor) x 100.

    A face of somebody else scores about `floor`, not 0, because FSS is a maximum over references; 100
    means "like a stranger". Steps are treated as in `drop_fss`, so a step without a face or below the
    floor gives more than 100.

    Args:
        fss0: FSS of the base photo, > 0 and > floor.
        fss: FSS of each edited image in order; None = no face in that image.
        floor: Mean FSS of other people against the same number of references.
        no_face: As in `drop_fss`.

    Returns:
        Percent, not bounded; low = identity kept. None where the rule leaves nothing to average.

    Raises:
        MetricError: FSS_0 <= 0 or <= floor, no step, or a value that is not finite.

    """
    if not math.isfinite(floor):
        raise MetricError(f"floor is {floor}, not finite")
    return _mean_drop(fss0, fss, no_face, floor=floor)


def counted_fss(fss: Sequence[float | None], no_face: NoFaceRule = "zero") -> list[float | None] | None:
    """FSS of each step as the metric counts it: clipped at 0, with the rule for no face applied.

    Args:
        fss: FSS of each edited image in order; None = no face in that image.
        no_face: As in `drop_fss`.

    Returns:
        One value a step, 0 to 1, high = same person, None = a skipped step; or None instead of the list
        where the rule excludes the session.

    Raises:
        MetricError: A value is not finite.

    """
    for number, value in enumerate(fss, 1):
        if value is not None and not math.isfinite(value):
            raise MetricError(f"FSS of step {number} is {value}, not finite")
    if no_face == "exclude" and None in fss:
        return None
    missing = 0.0 if no_face == "zero" else None
    return [missing if value is None else max(value, 0.0) for value in fss]


def _mean_drop(
    fss0: float, fss: Sequence[float | None], no_face: NoFaceRule, *, floor: float
) -> float | None:
    if not (math.isfinite(fss0) and fss0 > max(floor, 0.0)):
        raise MetricError(f"FSS of the base photo is {fss0}; the drop needs one above {max(floor, 0.0)}")
    if not fss:
        raise MetricError("a session without steps has no drop")
    counted = counted_fss(fss, no_face)
    drops = [(fss0 - value) / (fss0 - floor) * 100 for value in counted or () if value is not None]
    return math.fsum(drops) / len(drops) if drops else None
