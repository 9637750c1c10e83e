"""Images as they are met: cut short, moving, in odd modes, hostile. Each with what must become of it."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Iterator

import cv2
import numpy as np
from builders import encoded, noise
from PIL import Image, ImageCms

USED = "used"
SIGNATURE = b"\x89PNG\r\n\x1a\n"


def chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def solid_png(width: int, height: int, channels: int = 4, extra: bytes = b"") -> bytes:
    """A picture of one colour: a few kilobytes that unpack to width × height pixels."""
    kind = {1: 0, 3: 2, 4: 6}[channels]
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, kind, 0, 0, 0))
    packer, row = zlib.compressobj(1), b"\0" + b"\x80" * (width * channels)
    packed = b"".join(packer.compress(row) for _ in range(height)) + packer.flush()
    return SIGNATURE + head + extra + chunk(b"IDAT", packed) + chunk(b"IEND", b"")


def header_png(width: int, height: int) -> bytes:
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return SIGNATURE + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0" * 100)) + chunk(b"IEND", b"")


def tiff(width: int, height: int, entries: int = 0, next_ifd: int = 0) -> bytes:
    """A grey TIFF that claims a size, with an image directory of so many entries."""
    tags = [(256, 4, 1, width), (257, 4, 1, height), (258, 3, 1, 8), (259, 3, 1, 1), (262, 3, 1, 1)]
    tags += [(273, 4, 1, 8), (277, 3, 1, 1), (278, 4, 1, height), (279, 4, 1, width * height % 2**32)]
    tags += [(40_000 + n % 20_000, 4, 2**31 - 1, 8) for n in range(entries)]
    body = b"".join(struct.pack("<HHII", *tag) for tag in tags)
    return b"II*\0" + struct.pack("<IH", 8, len(tags)) + body + struct.pack("<I", next_ifd)


def cmyk_jpeg(face: np.ndarray, *, adobe: bool) -> bytes:
    """Plates inverted as Photoshop has them, with its marker; or upright, without any."""
    rgb = Image.fromarray(face)
    plates = rgb.convert("CMYK")
    if not adobe:
        plates = Image.eval(plates, lambda value: 255 - value)  # which Pillow turns round when it saves
    data = encoded(plates, "JPEG", quality=95)
    marker = data.index(b"\xff\xee")
    assert data[marker + 4 : marker + 9] == b"Adobe"
    return data if adobe else data[:marker] + data[marker + 16 :]


def animated(face: np.ndarray, form: str) -> bytes:
    first = Image.fromarray(face)
    rest = [Image.new("RGB", first.size, colour) for colour in ("red", "blue")]
    return encoded(first, form, save_all=True, append_images=rest, duration=40)


def palette_with_alpha(face: np.ndarray) -> bytes:
    return encoded(Image.fromarray(face).quantize(255), transparency=bytes([255] * 254 + [0]))


def wide(face: np.ndarray, channels: int) -> bytes:
    """16 bits a channel, as OpenCV writes them."""
    pixels = cv2.cvtColor(face, cv2.COLOR_RGB2GRAY if channels == 1 else cv2.COLOR_RGB2BGR)
    if channels == 4:
        pixels = np.dstack([pixels, np.full(face.shape[:2], 255, np.uint8)])
    done, data = cv2.imencode(".png", pixels.astype(np.uint16) * 257)
    assert done
    return data.tobytes()


def turned(face: np.ndarray, orientation: int) -> bytes:
    """The upright photo as a camera stores it under an EXIF orientation."""
    flips = {1: face, 2: face[:, ::-1], 3: np.rot90(face, 2), 4: face[::-1], 5: face.swapaxes(0, 1)}
    flips |= {6: np.rot90(face, 1), 7: np.rot90(face, 2).swapaxes(0, 1), 8: np.rot90(face, -1)}
    exif = Image.Exif()
    exif[0x0112] = orientation
    return encoded(np.ascontiguousarray(flips[orientation]), "JPEG", quality=95, exif=exif)


def mpo(face: np.ndarray) -> bytes:
    first = Image.fromarray(face)
    return encoded(first, "MPO", save_all=True, append_images=[first.transpose(Image.Transpose.ROTATE_180)])


def sound_images(face: np.ndarray) -> Iterator[tuple[str, bytes, str]]:
    """Odd, and usable: name, bytes and what becomes of them."""
    jpeg, lab = encoded(face, "JPEG", quality=92), Image.fromarray(face)
    rgba = np.dstack([face, np.full(face.shape[:2], 255, np.uint8)])
    exif = b"Exif\0\0MM\0*\0\0\0\x08" + b"\xff\xff" + b"\xee" * 60_000
    named = {
        "wrong-extension.gif": jpeg,
        "no-extension": encoded(face, "BMP"),
        "line\nbreak.jpg": encoded(face, "JPEG", quality=91),
        "trailing.jpg": jpeg + b"\0" * 5000,
        "animated.gif": animated(face, "GIF"),
        "animated.webp": animated(face, "WEBP"),
        "animated.png": animated(face, "PNG"),
        "pages.tiff": animated(face, "TIFF"),
        "stereo.mpo": mpo(face),
        "cmyk-adobe.jpg": cmyk_jpeg(face, adobe=True),
        "cmyk-plain.jpg": cmyk_jpeg(face, adobe=False),
        "cmyk.tiff": encoded(lab.convert("CMYK"), "TIFF"),
        "lab.tiff": encoded(
            ImageCms.profileToProfile(
                lab, ImageCms.createProfile("sRGB"), ImageCms.createProfile("LAB"), outputMode="LAB"
            ),
            "TIFF",
        ),
        "gray-16.png": wide(face, 1),
        "rgb-16.png": wide(face, 3),
        "rgba-16.png": wide(face, 4),
        "rgba.png": encoded(rgba),
        "palette-alpha.png": palette_with_alpha(face),
        "absurd-exif.jpg": encoded(face, "JPEG", quality=90, exif=exif),
        "broken-icc.png": encoded(face, icc_profile=b"junk" * 500),
        **{f"turned-{n}.jpg": turned(face, n) for n in range(1, 9)},
    }
    for name, data in named.items():
        yield name, data, USED


def refused_images(face: np.ndarray) -> Iterator[tuple[str, bytes, str]]:
    """What cannot be used: name, bytes and the reason."""
    jpeg, png = encoded(face, "JPEG", quality=92), encoded(face)
    yield "empty.jpg", b"", "empty"
    yield "zeros.jpg", b"\0" * 5000, "not_an_image"
    yield "text.jpg", b"a note about a photo", "not_an_image"
    yield "page.png", b"<!doctype html><html>404</html>", "not_an_image"
    yield "document.jpg", encoded(noise(8, 8), "PDF"), "not_an_image"
    yield (
        "drawing.svg",
        b'<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg"/>',
        "unsupported_format",
    )
    yield "phone.heic", struct.pack(">I", 24) + b"ftypheic\0\0\0\0mif1heic", "unsupported_format"
    yield "icon.ico", encoded(noise(32, 32), "ICO"), "unsupported_format"
    for share in (1, 10, 50, 97):
        data = jpeg[: len(jpeg) * share // 100]
        yield f"cut-{share}.jpg", data, "truncated"
    yield "cut.png", png[: len(png) // 2], "truncated"
    yield "cut.webp", encoded(face, "WEBP")[:2000], "truncated"
    yield "cut.tiff", encoded(face, "TIFF")[:2000], "truncated"
    yield "wrong-sum.png", png[:60] + bytes([png[60] ^ 255]) + png[61:], "truncated"
    yield "dot.png", encoded(noise(1, 1)), "no_face"
    yield "sliver.png", encoded(noise(5000, 1)), "no_face"
    yield "float.tiff", encoded(np.zeros((40, 40), np.float32), "TIFF"), "unsupported_pixels"
    yield "int32.tiff", encoded(np.full((40, 40), 70_000, np.int32), "TIFF"), "unsupported_pixels"
    yield "claims-much.png", header_png(20_000, 20_000), "too_large"
    yield "claims-much.tiff", tiff(60_000, 60_000), "too_large"
    gif = encoded(Image.fromarray(noise(8, 8)).quantize(8), "GIF")
    yield "claims-much.gif", gif[:6] + struct.pack("<HH", 65_535, 65_535) + gif[10:], "too_large"
    yield "huge-directory.tiff", tiff(8, 8, entries=20_000), "no_face"
    yield "endless.tiff", tiff(40, 40, next_ifd=8), "truncated"
    yield "bomb.png", solid_png(8001, 8000, 1), "too_large"
    yield "bomb.webp", webp_bomb(), "too_large"
    text = chunk(b"zTXt", b"Comment\0\0" + zlib.compress(b"a" * 40_000_000))
    yield "text-bomb.png", solid_png(40, 40, 3, text), "too_large"
    profile = chunk(b"iCCP", b"icc\0\0" + zlib.compress(b"a" * 40_000_000))
    yield "profile-bomb.png", solid_png(40, 40, 3, profile), "too_large"
    yield "largest.png", solid_png(8000, 8000, 4), "no_face"
    yield "largest-gray.png", solid_png(8000, 7999, 1), "no_face"


def webp_bomb() -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (16, 16), "gray").save(out, "WEBP", lossless=True)
    data = bytearray(out.getvalue())
    at = data.index(b"VP8L") + 9  # one byte of signature, then 14 bits each of width − 1 and height − 1
    data[at : at + 4] = struct.pack("<I", struct.unpack("<I", data[at : at + 4])[0] & ~0xFFFFFFF | 0xFFFFFFF)
    return bytes(data)
