"""The colours that drawn things have, as 8-bit RGB, and distances between colours.

Each kind of hat has one colour of its own, and beards and mustaches differ in darkness, so that one drawn
over the other can still be told apart.
"""

from __future__ import annotations

from typing import cast

import cv2
import numpy as np
from numpy.typing import NDArray

from adapters.imaging.frame import Image, Plane

Rgb = tuple[int, int, int]

HATS: dict[str, dict[str, Rgb]] = {
    "baseball hat": {"crown": (38, 72, 168), "bill": (24, 48, 120)},
    "beanie hat": {"crown": (214, 158, 34), "cuff": (190, 132, 24), "pompom": (232, 190, 90)},
    "beret hat": {"crown": (160, 22, 62), "band": (118, 14, 44), "stem": (118, 14, 44)},
    "panama hat": {"crown": (232, 208, 142), "band": (28, 26, 28), "brim": (236, 213, 148)},
    "bucket hat": {"crown": (98, 116, 54), "brim": (84, 102, 44)},
    "cowboy hat": {"crown": (160, 92, 38), "band": (52, 30, 16), "brim": (150, 84, 32)},
}
FRAME: Rgb = (16, 16, 18)
TINT: Rgb = (26, 28, 34)
BEARD: Rgb = (66, 46, 34)
MUSTACHE: Rgb = (26, 18, 15)
HAIR: dict[str, Rgb] = {
    "red hair": (178, 22, 30),
    "brown hair": (96, 58, 32),
    "black hair": (24, 22, 24),
    "white hair": (226, 228, 232),
    "blue hair": (38, 98, 212),
    "green hair": (52, 178, 62),
    "pink hair": (240, 82, 172),
    "purple hair": (128, 58, 190),
    "orange hair": (240, 124, 36),
}


def darker(color: Rgb, skin: Rgb, share: float) -> Rgb:
    """The colour, or that share of the skin's brightness where the skin itself is dark."""
    red, green, blue = (min(c, round(s * share)) for c, s in zip(color, skin, strict=True))
    return red, green, blue


def rgb_of(color: NDArray[np.float32]) -> Rgb:
    """8-bit RGB of one CIE L*a*b* colour."""
    pixel = np.clip(cv2.cvtColor(color.reshape(1, 1, 3), cv2.COLOR_LAB2RGB)[0, 0], 0, 1)
    red, green, blue = (round(float(value) * 255) for value in pixel)
    return red, green, blue


def lab(rgb: Image) -> Plane:
    """CIE L*a*b* of 8-bit RGB: L 0 to 100, a and b about -100 to 100."""
    return cast(Plane, cv2.cvtColor(rgb.astype(np.float32) / np.float32(255), cv2.COLOR_RGB2LAB))


def lab_of(color: Rgb) -> NDArray[np.float32]:
    """CIE L*a*b* of one colour."""
    return lab(np.array([[color]], np.uint8))[0, 0]


def distance(picture: Plane, color: NDArray[np.float32], lightness_weight: float = 0.5) -> Plane:
    """Distance of each L*a*b* pixel to a colour; shading moves lightness most, so it counts less."""
    delta = (picture - color) * np.array([lightness_weight, 1, 1], np.float32)
    return np.sqrt(np.einsum("...i,...i->...", delta, delta))
