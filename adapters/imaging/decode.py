"""Decoding, once and right: every adapter that needs pixels gets them here.

Upright (EXIF orientation applied), colours in sRGB, 8-bit RGB in that channel order. Pillow and not
OpenCV, because OpenCV returns a truncated JPEG as a partly grey picture and clips nothing it cannot read.
"""

from __future__ import annotations

import contextlib
import io
import re
import struct
import threading
import warnings
import zlib
from collections.abc import Generator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from PIL import ExifTags, Image, UnidentifiedImageError

from adapters.imaging.colours import srgb_pixels
from adapters.imaging.file_kinds import foreign_kind
from domain.errors import PhotoError

Pixels = npt.NDArray[np.uint8]
"""Height × width × 3, RGB."""

VERSION = "2"
"""Raised whenever the same bytes decode to other pixels, or are refused for another reason."""
MAX_PIXELS = 64_000_000
"""Larger images are refused from their header, before any memory is taken."""
LARGE_PIXELS = 12_000_000
"""Images above it are worked on one at a time; see `one_large_at_a_time`."""

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
_OPENED = tuple(name for name in _FORMATS if name != "MPO")  # which Pillow opens as JPEG
_DAMAGE = (
    OSError, ValueError, SyntaxError, IndexError, KeyError, TypeError, EOFError, RuntimeError, OverflowError,
    MemoryError, ZeroDivisionError, struct.error, zlib.error,
)  # fmt: skip
"""What Pillow's readers raise for damaged data."""
_BOMB = "Decompressed data too large"
"""How Pillow's text begins when a text or profile chunk of a PNG unpacks to more than it allows."""
_LARGE = threading.RLock()
_OPENING = threading.Lock()


@dataclass(frozen=True)
class ImageFacts:
    """What a file really is, whatever it claims."""

    extension: str
    content_type: str
    width: int
    """Upright, in pixels."""
    height: int
    notes: tuple[str, ...] = ()
    """What a person may want to know: `first_of_several` where it holds more frames or pages than one."""


def decode_rgb(data: bytes) -> Pixels:
    """Decode any still image, or the first frame of a moving one.

    Raises:
        PhotoError: with `reason` one of `empty`, `not_an_image`, `unsupported_format`, `too_large`,
            `truncated`, `unsupported_pixels`.
    """
    return _pixels(_open(data))


def inspect_image(data: bytes) -> ImageFacts:
    """Decode completely and say what the file is; raises PhotoError as `decode_rgb` does."""
    return decode_with_facts(data)[0]


def decode_with_facts(data: bytes) -> tuple[ImageFacts, Pixels]:
    """Both in one decoding; raises PhotoError as `decode_rgb` does."""
    image = _open(data)
    extension, content_type = _FORMATS[str(image.format)]
    notes = ("first_of_several",) if _has_more(data) else ()
    pixels = _pixels(image)
    return ImageFacts(extension, content_type, pixels.shape[1], pixels.shape[0], notes), pixels


@contextlib.contextmanager
def one_large_at_a_time(data: bytes) -> Generator[None]:
    """Wait for one's turn when an image is large: several at once need more memory than there may be."""
    try:
        image = _open(data)
        large = image.width * image.height > LARGE_PIXELS
        del image
    except PhotoError:  # said again by whoever decodes it
        large = False
    with _LARGE if large else contextlib.nullcontext():
        yield


def _open(data: bytes) -> Image.Image:
    if not data:
        raise PhotoError("the file is empty", reason="empty")
    try:
        with _OPENING, warnings.catch_warnings():  # which changes what all threads share
            warnings.simplefilter("ignore")
            image = Image.open(io.BytesIO(data), formats=_OPENED)
    except UnidentifiedImageError as error:
        kind = foreign_kind(data)
        if kind:
            raise PhotoError(f"{kind}; save it as JPEG or PNG", reason="unsupported_format") from error
        raise PhotoError("the file is not an image that can be read", reason="not_an_image") from error
    except Image.DecompressionBombError as error:
        raise PhotoError(_too_many(error), reason="too_large") from error
    except _DAMAGE as error:
        raise _damaged("the image header is damaged", error) from error
    if image.width * image.height > MAX_PIXELS:
        raise PhotoError(
            f"{image.width}×{image.height} is more than {MAX_PIXELS // 1_000_000} megapixels",
            reason="too_large",
        )
    return image


def _too_many(error: Image.DecompressionBombError) -> str:
    """Pillow's text names a limit of its own, above ours."""
    found = re.search(r"\((\d+) pixels\)", str(error))
    megapixels = f"{int(found[1]) / 1e6:.0f} megapixels are" if found else "it has"
    return f"{megapixels} more than {MAX_PIXELS // 1_000_000} megapixels"


def _pixels(image: Image.Image) -> Pixels:
    try:
        image.load()
    except _DAMAGE as error:
        raise _damaged("the image data is damaged or cut short", error) from error
    orientation = _orientation(image)
    pixels = srgb_pixels(image)
    image.close()  # its memory is wanted for turning
    return _upright(pixels, orientation)


def _damaged(what: str, error: Exception) -> PhotoError:
    if str(error).startswith(_BOMB):
        return PhotoError(f"a text or profile in the image is too large: {error}", reason="too_large")
    return PhotoError(f"{what}: {error or type(error).__name__}", reason="truncated")


def _has_more(data: bytes) -> bool:
    """Whether there are further frames or pages; looked up apart, since looking moves Pillow's reader."""
    try:
        return bool(getattr(_open(data), "is_animated", False))
    except (*_DAMAGE, PhotoError):  # of a later frame, which is not used
        return True


def _orientation(image: Image.Image) -> int:
    """By EXIF. `ImageOps.exif_transpose` would write the whole block anew, and fails on odd ones."""
    try:
        found = image.getexif().get(ExifTags.Base.Orientation)
    except _DAMAGE:  # broken EXIF is common and says nothing about the pixels
        return 1
    return found if isinstance(found, int) else 1


def _upright(pixels: Pixels, orientation: int) -> Pixels:
    """Sets an image upright, by its EXIF orientation (CIPA DC-008, tag 0x0112)."""
    if orientation in (5, 6, 7, 8):
        pixels = pixels.swapaxes(0, 1)
    if orientation in (3, 4, 7, 8):
        pixels = pixels[::-1]
    if orientation in (2, 3, 6, 7):
        pixels = pixels[:, ::-1]
    return np.ascontiguousarray(pixels)
