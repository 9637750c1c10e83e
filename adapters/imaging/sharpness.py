"""How sharp the parts of a picture are: the share of their structure that is fine.

A picture is reduced to half its size, so that grain and a slight enlargement do not count, and cut into 24
parts. In each part the deviation of the grey values from their surroundings of one pixel (Gaussian, σ = 1) is
divided by that from their surroundings of four (σ = 4). Contrast cancels out. Sharp structure has about 0.35,
and what was blurred by two pixels of the whole picture less than 0.22; a part without structure, such as a
clear sky, says nothing and does not count. The measure is a two-band form of the re-blurring of Crété et al.,
"The blur effect" (Proc. SPIE 6492, 2007).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import cv2
import numpy as np

from adapters.imaging.decode import Pixels

PARTS = 24
LEAST_STRUCTURE = 6.0
"""Standard deviation, in grey values, below which a part has no structure that could be judged."""
LEAST_PARTS = 4
"""Where fewer parts can be judged, nothing is said of the picture."""
_FINE, _COARSE = 1.0, 4.0


@dataclass(frozen=True)
class Sharpness:
    """Of the parts that can be judged; higher is sharper, 0 to 1."""

    median: float | None
    """None where too few parts can be judged."""
    lower_quartile: float | None
    n_parts: int
    """That can be judged."""


def sharpness(pixels: Pixels) -> Sharpness:
    """The sharpness of a picture, of its middle part and of its worse ones."""
    gray = cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY).astype(np.float32)
    gray = cv2.resize(gray, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA)
    fine = gray - cv2.GaussianBlur(gray, (0, 0), _FINE)
    coarse = gray - cv2.GaussianBlur(gray, (0, 0), _COARSE)
    shares = [
        float(fine[part].std() / coarse[part].std())
        for part in _parts(*gray.shape)
        if coarse[part].std() >= LEAST_STRUCTURE
    ]
    if len(shares) < LEAST_PARTS:
        return Sharpness(None, None, len(shares))
    low, middle = np.quantile(shares, [0.25, 0.5])
    return Sharpness(round(float(middle), 6), round(float(low), 6), len(shares))


def _parts(height: int, width: int) -> Iterator[tuple[slice, slice]]:
    """About `PARTS` parts that are about as high as wide."""
    side = math.sqrt(height * width / PARTS)
    rows, columns = max(1, round(height / side)), max(1, round(width / side))
    for row in range(rows):
        for column in range(columns):
            yield (
                slice(row * height // rows, (row + 1) * height // rows),
                slice(column * width // columns, (column + 1) * width // columns),
            )
