"""Small pictures for pages: upright, WebP, the same for the same bytes."""

from __future__ import annotations

import io

from PIL import Image

from adapters.imaging.decode import decode_rgb

VERSION = "v1-256"
"""Raised whenever the same image gives another thumbnail."""
SIDE_PX = 256


def thumbnail(data: bytes) -> bytes:
    """An image as a WebP whose longer side is at most 256 pixels; raises PhotoError."""
    image = Image.fromarray(decode_rgb(data))
    image.thumbnail((SIDE_PX, SIDE_PX), Image.Resampling.LANCZOS)
    out = io.BytesIO()
    image.save(out, "WEBP", quality=78, method=4)
    return out.getvalue()
