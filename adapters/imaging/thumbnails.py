"""Small things made of a photo once: a thumbnail, a perceptual hash, its mirror image."""

from __future__ import annotations

import io
from typing import Any, cast

import cv2
import numpy as np
from PIL import Image

from adapters.imaging.decode import Pixels

SIDE_PX = 144
_HASHED_PX = 128


def thumbnail(pixels: Pixels, side: int = SIDE_PX) -> bytes:
    """A JPEG whose longer side has at most so many pixels."""
    height, width = pixels.shape[:2]
    scale = min(1.0, side / max(height, width))
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    small = cv2.resize(pixels, size, interpolation=cv2.INTER_AREA)
    return _saved(small, "JPEG", quality=82)


def perceptual_hash(pixels: Pixels) -> str:
    """64 bits in hexadecimal; reducing a picture or saving it again changes few or none (DCT hash)."""
    import imagehash  # pyright: ignore[reportMissingTypeStubs]

    gray = cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY)
    reduced = cv2.resize(gray, (_HASHED_PX, _HASHED_PX), interpolation=cv2.INTER_AREA)
    return str(cast(Any, imagehash).phash(Image.fromarray(reduced)))


def mirrored(pixels: Pixels) -> bytes:
    """The mirror image, as PNG."""
    return _saved(pixels[:, ::-1], "PNG")


def _saved(pixels: Any, form: str, **options: int) -> bytes:
    out = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(pixels)).save(out, form, **options)
    return out.getvalue()
