"""Where a photo is cropped: the middle of it, moved where faces would otherwise be cut off."""

from __future__ import annotations

import math
from collections.abc import Sequence

from domain.chains import PhotoShape
from domain.photo_shapes import closest_shape, largest_within
from domain.photos import CropArea

Box = tuple[float, float, float, float]
"""x1, y1, x2, y2 in pixels."""

MARGIN = 0.25
"""Room around a face for hair and chin, as a share of its height; given where there is any."""


def crop_around(width: int, height: int, faces: Sequence[Box]) -> CropArea:
    """The largest crop of the closest shape, as near to the middle as all faces allow.

    Where no place holds all faces with some room around them, one that holds all faces is taken; where there
    is none either, the middle.

    Args:
        width: Of the upright original, in pixels.
        height: Of the same.
        faces: Of the original; the parts outside of it do not count.
    """
    wide, high = largest_within(width, height, closest_shape(width, height))
    across = [(x1, x2, y2 - y1) for x1, y1, x2, y2 in faces]
    down = [(y1, y2, y2 - y1) for _, y1, _, y2 in faces]
    return CropArea(x=_start(width, wide, across), y=_start(height, high, down), width=wide, height=high)


def crop_within(area: CropArea, shape: PhotoShape) -> CropArea:
    """A crop placed by hand, with what is beyond the shape taken off on both sides."""
    wide, high = largest_within(area.width, area.height, shape)
    return CropArea(
        x=area.x + (area.width - wide) // 2,
        y=area.y + (area.height - high) // 2,
        width=wide,
        height=high,
    )


def _start(whole: int, kept: int, faces: Sequence[tuple[float, float, float]]) -> int:
    """Where the crop starts along one side; a face is (from, to, its height)."""
    middle = (whole - kept) // 2
    for margin in (MARGIN, 0.0):
        first = min((max(0.0, low - margin * size) for low, _, size in faces), default=float(whole))
        last = max((min(float(whole), high + margin * size) for _, high, size in faces), default=0.0)
        least, most = max(0, math.ceil(last) - kept), min(whole - kept, math.floor(first))
        if least <= most:
            return min(max(middle, least), most)
    return middle


def box_in(crop: CropArea, box: Box, size: tuple[int, int]) -> Box:
    """A box of an original in pixels of the photo, of a size, that its crop becomes."""
    across, down = size[0] / crop.width, size[1] / crop.height
    x1, y1, x2, y2 = box
    return (
        (x1 - crop.x) * across,
        (y1 - crop.y) * down,
        (x2 - crop.x) * across,
        (y2 - crop.y) * down,
    )


def share_inside(face: Box, area: Box) -> float:
    """How much of a face's box an area holds, 0 to 1."""
    x1, y1, x2, y2 = face
    width = min(x2, area[2]) - max(x1, area[0])
    height = min(y2, area[3]) - max(y1, area[1])
    whole = (x2 - x1) * (y2 - y1)
    return max(0.0, width) * max(0.0, height) / whole if whole > 0 else 0.0
