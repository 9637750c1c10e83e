"""Decoding, once and right: every adapter that needs pixels gets them here.

Upright (EXIF orientation applied), colours in sRGB, 8-bit RGB in that channel order. Pillow and not
OpenCV, because OpenCV returns a truncated JPEG as a partly grey picture and clips nothing it cannot read.
"""

from __future__ import annotations

import io
import struct
import warnings
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from PIL import ExifTags, Image, ImageCms, UnidentifiedImageError

from domain.errors import PhotoError

Pixels = npt.NDArray[np.uint8]
"""Height × width × 3, RGB."""

MAX_PIXELS = 64_000_000
"""Larger images are refused from their header, before any memory is taken."""

_FORMATS = {
    "PNG": ("png", "image/png"),
    "JPEG": ("jpg", "image/jpeg"),
    "MPO": ("jpg", "image/jpeg"),
    "WEBP": ("webp", "image/webp"),
    "GIF": ("gif", "image/gif"),
    "BMP": ("bmp", "image/bmp"),
    "TIFF": ("tiff", "image/tiff"),
    "AVIF": ("avif", "image/avif"),
}
_SRGB: Any = cast(Any, ImageCms).createProfile("sRGB")
_TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
"""What sets an image upright, by its EXIF orientation."""
_DAMAGE = (OSError, ValueError, SyntaxError, IndexError, EOFError, RuntimeError, struct.error)
"""What Pillow's readers raise for damaged data."""


@dataclass(frozen=True)
class ImageFacts:
    """What a file really is, whatever it claims."""

    extension: str
    content_type: str
    width: int
    """Upright, in pixels."""
    height: int


def decode_rgb(data: bytes) -> Pixels:
    """Decode any still image.

    Raises:
        PhotoError: with `reason` one of `empty`, `not_an_image`, `unsupported_format`, `too_large`,
            `truncated`, `unsupported_pixels`.
    """
    return np.asarray(_upright(_open(data)), dtype=np.uint8)


def inspect_image(data: bytes) -> ImageFacts:
    """Decode completely and say what the file is; raises PhotoError as `decode_rgb` does."""
    image = _open(data)
    extension, content_type = _FORMATS[str(image.format)]
    upright = _upright(image)
    return ImageFacts(extension, content_type, upright.width, upright.height)


def _open(data: bytes) -> Image.Image:
    if not data:
        raise PhotoError("the file is empty", reason="empty")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            image = Image.open(io.BytesIO(data))
    except UnidentifiedImageError as error:
        raise PhotoError("the file is not an image that can be read", reason="not_an_image") from error
    except Image.DecompressionBombError as error:
        raise PhotoError(f"the image has too many pixels: {error}", reason="too_large") from error
    except _DAMAGE as error:
        raise PhotoError(f"the image header is damaged: {error}", reason="truncated") from error
    if image.format not in _FORMATS:
        raise PhotoError(
            f"format {image.format} is not supported; use {', '.join(sorted(_FORMATS))}",
            reason="unsupported_format",
        )
    if image.width * image.height > MAX_PIXELS:
        raise PhotoError(
            f"{image.width}×{image.height} is more than {MAX_PIXELS // 1_000_000} megapixels",
            reason="too_large",
        )
    return image


def _upright(image: Image.Image) -> Image.Image:
    try:
        image.load()
    except _DAMAGE as error:
        raise PhotoError(f"the image data is damaged or cut short: {error}", reason="truncated") from error
    turn = _TURNS.get(_orientation(image))
    upright = image if turn is None else image.transpose(turn)
    return _to_srgb(_to_rgb(upright), image.info.get("icc_profile"), image.mode)


def _orientation(image: Image.Image) -> int:
    """By EXIF. `ImageOps.exif_transpose` would write the whole block anew, and fails on odd ones."""
    try:
        found = image.getexif().get(ExifTags.Base.Orientation)
    except (*_DAMAGE, TypeError):  # broken EXIF is common and says nothing about the pixels
        return 1
    return found if isinstance(found, int) else 1


def _to_rgb(image: Image.Image) -> Image.Image:
    mode = image.mode
    if mode == "RGB":
        return image
    if mode.startswith("I;16") or mode == "I":
        wide = np.asarray(image).astype(np.int64)
        if wide.min() < 0 or wide.max() > 65535:
            raise PhotoError("32-bit integer pixels are not supported", reason="unsupported_pixels")
        return Image.fromarray(((wide + 128) // 257).astype(np.uint8)).convert("RGB")
    if mode == "F":
        raise PhotoError("floating-point pixels are not supported", reason="unsupported_pixels")
    if mode in ("RGBA", "LA", "PA", "La", "RGBa") or "transparency" in image.info:
        cut_out = image.convert("RGBA")
        white = Image.new("RGBA", cut_out.size, "white")
        return Image.alpha_composite(white, cut_out).convert("RGB")
    return image.convert("RGB")


def _to_srgb(image: Image.Image, icc_profile: bytes | None, original_mode: str) -> Image.Image:
    if not icc_profile or original_mode not in ("RGB", "RGBA", "P"):
        return image
    try:
        profile = ImageCms.ImageCmsProfile(io.BytesIO(icc_profile))
        if "sRGB" in (ImageCms.getProfileDescription(profile) or ""):
            return image
        converted = ImageCms.profileToProfile(image, profile, _SRGB, outputMode="RGB")
    except (ImageCms.PyCMSError, OSError):  # a broken profile is common and says nothing about the pixels
        return image
    return converted or image
