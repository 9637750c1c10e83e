"""Faces cut out of images, as people compare them: always the same square, always the same size."""

from __future__ import annotations

import io

import numpy as np
from PIL import Image

from adapters.imaging import decode
from domain import keys
from domain.crops import CROP_PIXELS
from domain.matches import CropBox

CUTTER = f"1 on decoder {decode.VERSION}"
"""Raised whenever the same bytes and box give another crop."""
DEGRADER = f"degraded 1 on {CUTTER}"
TWIN = f"twin 1 on {CUTTER}"
OUTSIDE = (128, 128, 128)
"""What is shown of the square where there is no photo."""
TWIN_CUTS_PIXELS = (0.5, 2.0)
"""What a twin lacks at each edge, at least and at most; nobody sees it beside the crop."""
DEGRADED_PIXELS = 12
"""Width and height of what is left of a face that nobody can recognise."""


def cut(data: bytes, box: CropBox) -> bytes:
    """The face of one image as a PNG: resized to the reference, cut, scaled, both by Lanczos.

    Raises:
        PhotoError: the image does not decode.
    """
    image = Image.fromarray(decode.decode_rgb(data))
    size = (box.width, box.height)
    if image.size != size:
        image = image.resize(size, Image.Resampling.LANCZOS)
    square = Image.new("RGB", (box.side, box.side), OUTSIDE)
    square.paste(image, (-box.x, -box.y))
    return _png(square.resize((CROP_PIXELS, CROP_PIXELS), Image.Resampling.LANCZOS))


def degraded(crop: bytes) -> bytes:
    """A crop so coarse that its face is nobody's: the wrong answer of a match that tests its voters."""
    image = Image.fromarray(decode.decode_rgb(crop))
    coarse = image.resize((DEGRADED_PIXELS, DEGRADED_PIXELS), Image.Resampling.BOX)
    return _png(coarse.resize(image.size, Image.Resampling.BICUBIC))


def twin(crop: bytes, name: str) -> bytes:
    """A crop that looks the same and is another picture, pixel by pixel: each name has a twin of its own."""
    image = Image.fromarray(decode.decode_rgb(crop))
    rng = np.random.default_rng(int(keys.sha256(name.encode())[:16], 16))
    left, top, right, bottom = rng.uniform(*TWIN_CUTS_PIXELS, 4).tolist()
    box = (left, top, image.width - right, image.height - bottom)
    return _png(image.resize(image.size, Image.Resampling.LANCZOS, box=box))


def _png(image: Image.Image) -> bytes:
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()
