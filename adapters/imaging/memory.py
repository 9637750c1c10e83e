"""What the procedural editor has drawn so far, carried inside the PNG that it returns.

An editing model gets only the bytes of the last image, and drawing a hat over a hat would stack them. So each
output carries, in a private ancillary chunk, the photo that the chain began with and the layers drawn
since; the next edit renders the changed layers afresh on that photo. Only the editor reads the chunk. Judges,
trackers and embedders see pixels, and decoding the PNG gives the same pixels with the chunk and without it.

The chunk's last letter is a capital: by the PNG rules a program that alters pixels must then drop it, so the
memory never describes another picture.
"""

from __future__ import annotations

import io
import struct
import zlib
from typing import Literal

from PIL import Image as PillowImage
from PIL.PngImagePlugin import PngInfo
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from adapters.imaging.frame import Image

CHUNK = b"fdRT"
_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_LENGTH = struct.Struct(">I")


class Layer(BaseModel):
    """One thing drawn."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    category: str
    seed: int
    """Of its texture."""
    form: Literal["round", "oval", "rectangle", "square"] | None = None
    """Of lenses."""
    tinted: bool = False
    rgb: tuple[int, int, int] | None = None
    """Of hair."""


class Memory(BaseModel):
    """All that has happened to a photo."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: Literal[1] = 1
    drift_seeds: tuple[int, ...] = Field(default=(), max_length=64)
    """One a step; their number is the number of steps."""
    layers: dict[str, Layer] = {}
    """The layer of each sub-axis that has one."""


def write_png(rgb: Image, memory: Memory, photo: bytes) -> bytes:
    """A PNG with its memory."""
    text = memory.model_dump_json(exclude_defaults=True).encode()
    info = PngInfo()
    info.add(CHUNK, _LENGTH.pack(len(text)) + text + photo)
    out = io.BytesIO()
    PillowImage.fromarray(rgb).save(out, format="PNG", compress_level=1, pnginfo=info)
    return out.getvalue()


def read_memory(image: bytes) -> tuple[Memory, bytes] | None:
    """The memory and the first photo of an image, or None when it has none that is whole."""
    chunk = _find_chunk(image)
    if chunk is None or len(chunk) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack_from(chunk)
    text, photo = chunk[_LENGTH.size : _LENGTH.size + length], chunk[_LENGTH.size + length :]
    try:
        return Memory.model_validate_json(text), photo
    except ValidationError:
        return None


def strip_memory(image: bytes) -> bytes:
    """The same PNG, pixel for pixel, without its memory."""
    place = _locate(image)
    return image if place is None else image[: place[0] - 8] + image[place[1] + 4 :]


def _find_chunk(image: bytes) -> bytes | None:
    place = _locate(image)
    if place is None:
        return None
    data, (checksum,) = image[place[0] : place[1]], _LENGTH.unpack_from(image, place[1])
    return data if zlib.crc32(CHUNK + data) == checksum else None


def _locate(image: bytes) -> tuple[int, int] | None:
    if not image.startswith(_SIGNATURE):
        return None
    at = len(_SIGNATURE)
    while at + 12 <= len(image):
        (length,) = _LENGTH.unpack_from(image, at)
        end = at + 8 + length
        if end + 4 > len(image):
            return None
        if image[at + 4 : at + 8] == CHUNK:
            return at + 8, end
        at = end + 4
    return None
