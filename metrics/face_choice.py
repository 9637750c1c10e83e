"""Which of several detected faces is the person whose photo was edited."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from domain.errors import MetricError

Floats = NDArray[np.floating]

_TIE_DIGITS = 12
"""Overlaps and area shares closer than this are equal: scaling a box costs the last few bits."""


def choose_face(
    boxes: Floats,
    size: tuple[float, float],
    base_box: Floats | Sequence[float],
    base_size: tuple[float, float],
) -> int | None:
    """Choose the face of the edited person in an image.

    The base photo's only face, scaled to this image's size, says where the person should be: the face
    that overlaps it most (intersection over union) is chosen; where none overlaps, the largest. Ties go
    to the larger face, then to the one further left, then further up, so the order of detection does not
    matter.

    Args:
        boxes: Detected faces, shape `(n, 4)`, corners x0, y0, x1, y1 in pixels of this image.
        size: Width and height of this image, pixels.
        base_box: The base photo's face, shape `(4,)`, pixels of the base photo.
        base_size: Width and height of the base photo, pixels.

    Returns:
        Index into `boxes`; None where there are none.

    Raises:
        MetricError: Shapes are wrong, a size is not positive, or a box is not finite or inside out.

    References:
        Open in arXiv 2608.28802, which edits photos with one face.

    """
    width, height = _checked_size(size)
    base_width, base_height = _checked_size(base_size)
    base = _checked_boxes(np.asarray(base_box, dtype=np.float64).reshape(1, -1))[0]
    found = np.asarray(boxes, dtype=np.float64)
    if found.size == 0:
        return None
    found = _checked_boxes(found)
    # Shares of the image instead of pixels: the base face and this image's faces are then comparable.
    shares = found / (width, height, width, height)
    overlap = _overlap(shares, base / (base_width, base_height, base_width, base_height))
    order = np.lexsort(
        (
            found[:, 3],
            found[:, 2],
            found[:, 1],
            found[:, 0],
            -np.round(_area(shares), _TIE_DIGITS),
            -np.round(overlap, _TIE_DIGITS),
        )
    )
    return int(order[0])


def _checked_size(size: tuple[float, float]) -> tuple[float, float]:
    width, height = size
    if not (np.isfinite(width) and np.isfinite(height) and width > 0 and height > 0):
        raise MetricError(f"size {size} is not a width and a height in pixels")
    return width, height


def _checked_boxes(boxes: NDArray[np.float64]) -> NDArray[np.float64]:
    if boxes.ndim != 2 or boxes.shape[1] != 4:
        raise MetricError(f"boxes have shape {boxes.shape}, not (n, 4)")
    proper = np.isfinite(boxes).all(axis=1) & (boxes[:, 2] >= boxes[:, 0]) & (boxes[:, 3] >= boxes[:, 1])
    if not proper.all():
        raise MetricError(f"box {boxes[int(np.argmin(proper))].tolist()} is not finite or inside out")
    return boxes


def _area(boxes: NDArray[np.float64]) -> NDArray[np.float64]:
    return (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])


def _overlap(boxes: NDArray[np.float64], base: NDArray[np.float64]) -> NDArray[np.float64]:
    corners = np.hstack([np.maximum(boxes[:, :2], base[:2]), np.minimum(boxes[:, 2:], base[2:])])
    sides = np.clip(corners[:, 2:] - corners[:, :2], 0.0, None)
    shared = sides[:, 0] * sides[:, 1]
    union = _area(boxes) + _area(base[np.newaxis, :]) - shared
    return np.divide(shared, union, out=np.zeros_like(shared), where=union > 0)
