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

import cv2
import numpy as np

from adapters.imaging.decode import Pixels
from domain.photos import Sharpness

PARTS = 24
LEAST_STRUCTURE = 6.0
"""Standard deviation, in grey values, below which a part has no structure that could be judged."""
LEAST_PARTS = 4
"""Where fewer parts can be judged, nothing is said of the picture."""
LEAST_STRUCTURE_OF_FACE = 3.0
"""The same of a face, which is smooth."""
_SCALE, _FINE, _COARSE = 0.5, 1.0, 4.0


def sharpness(pixels: Pixels, face: tuple[float, float, float, float] | None = None) -> Sharpness:
    """The sharpness of a picture: of its middle part, of its worse ones, and of a face.

    Args:
        pixels: The picture.
        face: x1, y1, x2, y2 in its pixels.
    """
    gray = cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY).astype(np.float32)
    gray = cv2.resize(gray, None, fx=_SCALE, fy=_SCALE, interpolation=cv2.INTER_AREA)
    fine = gray - cv2.GaussianBlur(gray, (0, 0), _FINE)
    coarse = gray - cv2.GaussianBlur(gray, (0, 0), _COARSE)

    def share(part: tuple[slice, slice], least: float) -> float | None:
        spread = float(coarse[part].std()) if coarse[part].size else 0.0
        return float(fine[part].std()) / spread if spread >= least else None

    found = [share(part, LEAST_STRUCTURE) for part in _parts(*gray.shape)]
    shares = [one for one in found if one is not None]
    low, middle = np.quantile(shares, [0.25, 0.5]) if len(shares) >= LEAST_PARTS else (None, None)
    of_face = share(_area(face), LEAST_STRUCTURE_OF_FACE) if face else None
    return Sharpness(median=_rounded(middle), lower_quartile=_rounded(low), face=_rounded(of_face))


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(float(value), 6)


def _area(face: tuple[float, float, float, float]) -> tuple[slice, slice]:
    x1, y1, x2, y2 = (max(0, round(value * _SCALE)) for value in face)
    return slice(y1, y2), slice(x1, x2)


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
