"""Pictures as a misbehaving provider would send them."""

from __future__ import annotations

import io
import math

from PIL import Image

from adapters.imaging.decode import decode_rgb
from adapters.standin.faults import FaultName
from adapters.standin.wire import sniff

_HUGE_PIXELS = 20_000_000
_CUT_SHARE = 0.6
_FORMATS = {"png": "PNG", "jpeg": "JPEG", "jpg": "JPEG", "webp": "WEBP"}


def as_sent(data: bytes, fault: FaultName | None, asked_format: str) -> tuple[bytes, str]:
    """What is sent for an edited picture, and the type that is declared for it.

    Raises:
        PhotoError: the picture does not decode and would have to be changed.
    """
    data = in_format(data, asked_format)
    if fault == "wrong_mime":
        return _encode(_pixels(data), "JPEG"), "image/png"
    if fault == "empty":
        return b"", sniff(data)
    if fault == "black_frame":
        return black(data), "image/png"
    if fault == "other_shape":
        picture = _pixels(data)
        wide = picture.resize((max(2, picture.width * 2), picture.height))
        return _encode(wide, "PNG"), "image/png"
    if fault == "huge":
        return _huge(_pixels(data)), "image/jpeg"
    return data, sniff(data)


def cut(data: bytes) -> bytes:
    """The first part of a file."""
    return data[: int(len(data) * _CUT_SHARE)]


def black(data: bytes) -> bytes:
    """A black PNG of the picture's size."""
    return _encode(Image.new("RGB", _pixels(data).size), "PNG")


def size_of(data: bytes) -> tuple[int, int]:
    """Width and height in pixels, or zeros for what does not open."""
    try:
        with Image.open(io.BytesIO(data)) as picture:
            return picture.size
    except OSError:
        return 0, 0


def in_format(data: bytes, asked: str) -> bytes:
    """The picture in the format asked for; unchanged where it is already, or where none is named."""
    name = _FORMATS.get(asked.lower())
    if name is None or sniff(data) == f"image/{name.lower()}":
        return data
    return _encode(_pixels(data), name)


def _pixels(data: bytes) -> Image.Image:
    return Image.fromarray(decode_rgb(data))


def _huge(picture: Image.Image) -> bytes:
    scale = math.sqrt(_HUGE_PIXELS / (picture.width * picture.height))
    size = math.ceil(picture.width * scale), math.ceil(picture.height * scale)
    return _encode(picture.resize(size, Image.Resampling.BILINEAR), "JPEG")


def _encode(picture: Image.Image, name: str) -> bytes:
    out = io.BytesIO()
    if name == "PNG":
        picture.save(out, name, compress_level=1)
    else:
        picture.save(out, name, quality=95)
    return out.getvalue()
