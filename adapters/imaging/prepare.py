"""From an original file to a photo of the identity-drift suite: upright, sRGB, cropped, resized, lossless.

Equal bytes for equal bytes under one version of Pillow; under another the pixels are the same up to rounding.
"""

from __future__ import annotations

import io
from dataclasses import dataclass

import numpy as np
from PIL import Image

from adapters.imaging.decode import VERSION as DECODER
from adapters.imaging.decode import decode_rgb
from adapters.imaging.sharpness import sharpness
from domain.photos import CropArea, Sharpness

VERSION = f"1-{DECODER}"
"""Raised whenever the same original and crop give other pixels, or another sharpness."""


@dataclass(frozen=True)
class PreparedPhoto:
    """A photo as models are given it."""

    data: bytes
    """A PNG without a profile, which means sRGB, and without any other data about the photo."""
    sharpness: Sharpness


def prepare_photo(
    data: bytes,
    crop: CropArea,
    size: tuple[int, int],
    face: tuple[float, float, float, float] | None = None,
) -> PreparedPhoto:
    """Crop a file and resize it (Lanczos).

    Args:
        data: The original file.
        crop: In pixels of the upright original.
        size: Width and height of the photo, in pixels.
        face: x1, y1, x2, y2 of the largest face, in pixels of the photo; its sharpness is measured.

    Raises:
        PhotoError: the file cannot be decoded.
        ValueError: the crop is not inside of it.
    """
    pixels = decode_rgb(data)
    height, width = pixels.shape[:2]
    if crop.x + crop.width > width or crop.y + crop.height > height:
        raise ValueError(f"the crop {crop} is not inside of {width} × {height} pixels")
    kept = np.ascontiguousarray(pixels[crop.y : crop.y + crop.height, crop.x : crop.x + crop.width])
    del pixels
    photo = Image.fromarray(kept).resize(size, Image.Resampling.LANCZOS)
    out = io.BytesIO()
    photo.save(out, "PNG", compress_level=6)
    return PreparedPhoto(out.getvalue(), sharpness(np.asarray(photo), face))
