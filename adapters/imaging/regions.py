"""Which part of a picture an edit of a sub-axis may change."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from adapters.imaging.frame import Geometry

_REACH: dict[str, tuple[float, float, float, float]] = {
    "hair color": (-2.2, -2.7, 2.2, 2.6),
    "hair type": (-2.2, -2.7, 2.2, 2.6),
    "hair style": (-2.2, -2.7, 2.2, 2.6),
    "mustache": (-1.0, 0.4, 1.0, 2.0),
    "beard": (-1.5, -0.2, 1.5, 2.4),
    "glasses": (-1.4, -0.6, 1.4, 0.7),
    "hats": (-2.7, -2.9, 2.7, 0.0),
    "head position": (-2.7, -2.9, 2.7, 2.9),
}
"""Left, top, right, bottom in face units."""


def outside(
    geometry: Geometry, shape: tuple[int, ...], coarse: float, sub_axis: str | None
) -> NDArray[np.bool_]:
    """Pixels that an edit of a sub-axis has no reason to change, all of them for no sub-axis.

    Args:
        geometry: The face, in the pixels of the full image.
        shape: Height and width of the answer.
        coarse: Pixels of the full image in one of the answer.
        sub_axis: What was asked for.
    """
    height, width = shape[:2]
    if sub_axis is None:
        return np.ones((height, width), np.bool_)
    left, top, right, bottom = _REACH[sub_axis]
    columns, rows = np.arange(width, dtype=np.float64), np.arange(height, dtype=np.float64)
    pixels = np.stack(np.meshgrid(columns, rows), axis=-1) * coarse
    places = (pixels - geometry.origin) @ np.linalg.inv(geometry.axes).T
    x, y = places[..., 0], places[..., 1]
    return (x < left) | (x > right) | (y < top) | (y > bottom)
