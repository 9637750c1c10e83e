"""From whatever Pillow decoded to 8-bit sRGB on white, strip by strip: a large image needs little memory."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageChops, ImageCms

from domain.errors import PhotoError

STRIP_PIXELS = 4_000_000
_ALPHA = ("RGBA", "LA", "PA", "La", "RGBa")
_SRGB: Any = cast(Any, ImageCms).createProfile("sRGB")
_MODES = {"RGB": "RGB", "GRAY": "L", "CMYK": "CMYK"}
"""Colour space of a profile to the Pillow mode that it describes."""
Convert = Callable[[Image.Image], Image.Image]


def srgb_pixels(image: Image.Image) -> npt.NDArray[np.uint8]:
    """The pixels of a loaded image, height × width × 3, as they lie in the file.

    Raises:
        PhotoError: with the reason `unsupported_pixels`.
    """
    if image.mode == "F":
        raise PhotoError("floating-point pixels are not supported", reason="unsupported_pixels")
    width, height = image.size
    rows = max(1, STRIP_PIXELS // width)
    out = np.empty((height, width, 3), np.uint8)
    convert = _converter(image)
    for top in range(0, height, rows):
        bottom = min(top + rows, height)
        strip = image if rows >= height else image.crop((0, top, width, bottom))
        try:
            out[top:bottom] = np.asarray(convert(strip))
        except ValueError as error:
            raise PhotoError(
                f"pixels of the kind {image.mode} are not supported", reason="unsupported_pixels"
            ) from error
    return out


def _converter(image: Image.Image) -> Convert:
    mode = image.mode
    if mode in _ALPHA or (mode in ("1", "L", "P", "RGB") and "transparency" in image.info):
        gray = _transform(image, "L") if mode in ("LA", "La") else None
        colour = _colour(gray or _transform(image, "RGB"), "L" if gray else "RGB")
        return lambda strip: _on_white(strip, colour)
    if mode == "I" or mode.startswith("I;16"):
        gray = _colour(_transform(image, "L"), "L")
        return lambda strip: gray(_eight_bits(strip))
    if mode == "CMYK":
        plates = _colour(_transform(image, "CMYK"), "CMYK")
        turned = image.format == "JPEG" and "adobe" not in image.info
        # Pillow takes the plates of every JPEG for inverted; they are only where Adobe's marker is.
        return lambda strip: plates(ImageChops.invert(strip) if turned else strip)
    if mode == "LAB":
        lab = cast(Any, ImageCms).createProfile("LAB")
        return _colour(_built(lab, "LAB"), "LAB")
    if mode == "L":
        return _colour(_transform(image, "L"), "L")
    return _colour(_transform(image, "RGB"), "RGB")


def _colour(transform: Any, mode: str) -> Convert:
    """To RGB, by the image's own profile where it has a usable one."""
    if transform is None:
        return lambda strip: strip.convert("RGB")

    def convert(strip: Image.Image) -> Image.Image:
        wanted = strip if strip.mode == mode else strip.convert(mode)
        return cast(Image.Image, cast(Any, ImageCms).applyTransform(wanted, transform))

    return convert


def _on_white(strip: Image.Image, colour: Convert) -> Image.Image:
    cut_out = strip.convert("RGBA")
    opaque = colour(cut_out.convert("RGB"))
    opaque.putalpha(cut_out.getchannel("A"))
    return Image.alpha_composite(Image.new("RGBA", cut_out.size, "white"), opaque).convert("RGB")


def _eight_bits(strip: Image.Image) -> Image.Image:
    wide = np.asarray(strip).astype(np.int64)
    if wide.min() < 0 or wide.max() > 65535:
        raise PhotoError("32-bit integer pixels are not supported", reason="unsupported_pixels")
    return Image.fromarray(((wide + 128) // 257).astype(np.uint8))


def _transform(image: Image.Image, mode: str) -> Any:
    """What turns pixels of a mode into sRGB by the embedded profile; None where it says nothing of them."""
    embedded = image.info.get("icc_profile")
    if not isinstance(embedded, bytes) or not embedded:
        return None
    try:
        profile: Any = cast(Any, ImageCms).ImageCmsProfile(io.BytesIO(embedded))
        space = str(profile.profile.xcolor_space).strip()
        if _MODES.get(space) != mode or "sRGB" in (ImageCms.getProfileDescription(profile) or ""):
            return None
        return _built(profile, mode)
    except (ImageCms.PyCMSError, OSError, ValueError):  # common, and says nothing about the pixels
        return None


def _built(profile: Any, mode: str) -> Any:
    return cast(Any, ImageCms).buildTransform(profile, _SRGB, mode, "RGB")
