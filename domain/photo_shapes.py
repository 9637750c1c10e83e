"""The three shapes of the photos of the identity-drift suite, and how a rectangle is brought to one."""

from __future__ import annotations

import math

from domain.chains import PhotoShape

SHAPES: dict[PhotoShape, tuple[int, int]] = {
    "landscape": (1248, 832),
    "portrait": (832, 1248),
    "square": (1024, 1024),
}
"""Width × height in pixels of a prepared photo."""
MOST_OFF_PERCENT = 1
"""By how much the width to height of a crop placed by hand may differ from that of a shape."""


def aspect(shape: PhotoShape) -> float:
    """Width to height."""
    width, height = SHAPES[shape]
    return width / height


def closest_shape(width: int, height: int) -> PhotoShape:
    """The shape of which cropping keeps most of a picture.

    Aspect ratios are compared by their quotient, so that a picture and the same one turned are treated alike.
    No picture is as close to two shapes: that would need a width to height of √1.5, which whole pixels lack.
    """
    return min(SHAPES, key=lambda shape: abs(math.log(width / height / aspect(shape))))


def is_off_shape(width: int, height: int) -> bool:
    """Whether a rectangle is none of the three shapes, not even nearly."""
    wide, high = SHAPES[closest_shape(width, height)]
    return 100 * abs(width * high - height * wide) > MOST_OFF_PERCENT * height * wide


def largest_within(width: int, height: int, shape: PhotoShape) -> tuple[int, int]:
    """Width × height of the largest rectangle of a shape that a rectangle holds."""
    ratio = aspect(shape)
    return min(width, round(height * ratio)), min(height, round(width / ratio))
