from __future__ import annotations

import io
import random
import struct
import zlib

import numpy as np
import pytest
from builders import encoded, noise, quadrants
from PIL import Image

from adapters.imaging.decode import MAX_PIXELS, decode_rgb, inspect_image
from domain.errors import PhotoError

UPRIGHT = quadrants()
AS_STORED = {
    1: UPRIGHT,
    2: UPRIGHT[:, ::-1],
    3: np.rot90(UPRIGHT, 2),
    4: UPRIGHT[::-1],
    5: UPRIGHT.swapaxes(0, 1),
    6: np.rot90(UPRIGHT, 1),
    7: np.rot90(UPRIGHT, 2).swapaxes(0, 1),
    8: np.rot90(UPRIGHT, -1),
}
"""The same scene as a camera stores it under each EXIF orientation (CIPA DC-008, tag 0x0112)."""


def with_orientation(orientation: int) -> Image.Exif:
    exif = Image.Exif()
    exif[0x0112] = orientation
    return exif


def assert_close(found: np.ndarray, wanted: np.ndarray, tolerance: float) -> None:
    assert found.dtype == np.uint8
    assert found.shape == wanted.shape
    assert np.abs(found.astype(int) - wanted).mean() <= tolerance


def refusal(data: bytes) -> PhotoError:
    with pytest.raises(PhotoError) as caught:
        decode_rgb(data)
    with pytest.raises(PhotoError) as also:
        inspect_image(data)
    assert also.value.reason == caught.value.reason
    return caught.value


@pytest.mark.parametrize("orientation", AS_STORED)
@pytest.mark.parametrize(
    ("form", "options", "tolerance"),
    [
        ("JPEG", {"quality": 95, "subsampling": 0}, 4),
        ("PNG", {}, 0),
        ("WEBP", {"lossless": True}, 0),
        ("TIFF", {}, 0),
    ],
)
def test_every_exif_orientation_comes_out_upright(
    orientation: int, form: str, options: dict, tolerance: float
):
    stored = np.ascontiguousarray(AS_STORED[orientation])
    data = encoded(stored, form, exif=with_orientation(orientation), **options)
    assert_close(decode_rgb(data), UPRIGHT, tolerance)
    facts = inspect_image(data)
    assert (facts.width, facts.height) == (64, 48)


@pytest.mark.parametrize("orientation", [0, 9, 65535])
def test_an_orientation_that_does_not_exist_is_ignored(orientation: int):
    assert_close(decode_rgb(encoded(UPRIGHT, exif=with_orientation(orientation))), UPRIGHT, 0)


def test_odd_exif_beside_the_orientation_does_no_harm():
    """Pillow's own exif_transpose writes the block anew and fails on a rational that holds text."""
    tags = [(0x0112, 3, 1, struct.pack(">HH", 6, 0)), (0x011A, 2, 4, b"abc\0"), (0x9003, 5, 1, b"\0\0\0\1")]
    entries = b"".join(struct.pack(">HHI", tag, kind, count) + value for tag, kind, count, value in tags)
    block = b"MM\0*\0\0\0\x08" + struct.pack(">H", len(tags)) + entries + b"\0\0\0\0"
    stored = np.ascontiguousarray(AS_STORED[6])
    assert_close(decode_rgb(encoded(stored, exif=b"Exif\0\0" + block)), UPRIGHT, 0)


@pytest.mark.filterwarnings("ignore:Corrupt EXIF:UserWarning")
@pytest.mark.parametrize("block", [b"Exif\0\0junk", b"Exif\0\0MM\0*\0\0\0\x08\xff\xff", b"Exif\0\0II*\0"])
def test_broken_exif_says_nothing_about_the_pixels(block: bytes):
    assert_close(decode_rgb(encoded(UPRIGHT, exif=block)), UPRIGHT, 0)


def test_palette():
    assert_close(decode_rgb(encoded(Image.fromarray(UPRIGHT).quantize(8))), UPRIGHT, 0)


def test_gray():
    gray = np.tile(np.arange(64, dtype=np.uint8), (48, 1))
    assert_close(decode_rgb(encoded(gray)), np.repeat(gray[..., None], 3, 2), 0)


def test_one_bit():
    bits = Image.fromarray(UPRIGHT[..., 1]).convert("1", dither=Image.Dither.NONE)
    assert_close(decode_rgb(encoded(bits)), np.repeat(UPRIGHT[..., 1:2], 3, 2), 0)


@pytest.mark.parametrize("form", ["PNG", "TIFF"])
def test_sixteen_bit_gray_is_scaled_and_not_clipped(form: str):
    wide = np.array([[0, 257, 128 * 257], [65535, 129, 100 * 257 - 128]] * 8, np.uint16)
    wanted = np.repeat(np.rint(wide / 257).astype(np.uint8)[..., None], 3, 2)
    assert_close(decode_rgb(encoded(wide, form)), wanted, 0)


def test_sixteen_bit_gray_of_the_other_byte_order():
    wide = np.array([[0, 65535], [257 * 9, 257 * 200]], np.uint16)
    big_endian = Image.frombytes("I;16B", (2, 2), wide.astype(">u2").tobytes())
    assert decode_rgb(encoded(big_endian, "TIFF"))[..., 0].tolist() == [[0, 255], [9, 200]]


def test_cmyk_jpeg():
    plates = np.zeros((16, 32, 4), np.uint8)
    plates[:, :16] = (0, 255, 255, 0)
    plates[:, 16:] = (255, 0, 255, 0)
    wanted = np.zeros((16, 32, 3), np.uint8)
    wanted[:, :16, 0] = wanted[:, 16:, 1] = 255
    data = encoded(Image.frombytes("CMYK", (32, 16), plates.tobytes()), "JPEG", quality=95)
    assert_close(decode_rgb(data), wanted, 3)


@pytest.mark.parametrize("form", ["PNG", "WEBP"])
def test_a_cut_out_stands_on_white_and_hidden_colours_stay_hidden(form: str):
    pixels = np.zeros((8, 8, 4), np.uint8)
    pixels[:4] = (255, 0, 0, 0)  # red, and not there
    pixels[4:6] = (0, 0, 0, 128)
    pixels[6:] = (0, 0, 255, 255)
    found = decode_rgb(encoded(pixels, form, **({"lossless": True, "exact": True} if form == "WEBP" else {})))
    assert found[0, 0].tolist() == [255, 255, 255]
    assert found[7, 7].tolist() == [0, 0, 255]
    assert np.abs(found[4, 4].astype(int) - 127).max() <= 1


def test_gray_and_palette_with_transparency_stand_on_white():
    gray = np.zeros((4, 4, 2), np.uint8)
    assert decode_rgb(encoded(Image.fromarray(gray, "LA"))).min() == 255
    palette = Image.new("P", (4, 4), 0)
    palette.putpalette([255, 0, 0, 0, 255, 0])
    palette.putpixel((3, 3), 1)
    found = decode_rgb(encoded(palette, transparency=0))
    assert found[0, 0].tolist() == [255, 255, 255]
    assert found[3, 3].tolist() == [0, 255, 0]


@pytest.mark.parametrize(("form", "options"), [("GIF", {}), ("WEBP", {"lossless": True}), ("PNG", {})])
def test_of_an_animation_the_first_frame(form: str, options: dict):
    frames = [Image.new("RGB", (20, 20), colour) for colour in ("red", "blue", "lime")]
    data = encoded(frames[0], form, save_all=True, append_images=frames[1:], duration=50, **options)
    assert Image.open(io.BytesIO(data)).n_frames == 3
    assert_close(decode_rgb(data), np.array(frames[0]), 0)


@pytest.mark.parametrize("share", [0.5, 0.97])
@pytest.mark.parametrize("form", ["JPEG", "PNG", "WEBP", "TIFF", "BMP", "AVIF"])
def test_a_truncated_file_is_refused_whole(form: str, share: float):
    data = encoded(noise(96, 96), form)
    error = refusal(data[: int(len(data) * share)])
    assert error.reason == ("truncated" if form not in ("WEBP", "AVIF") else error.reason)
    assert error.reason in ("truncated", "not_an_image")


def test_a_gif_cut_short_is_refused():
    data = encoded(Image.fromarray(noise(96, 96)).quantize(64), "GIF")
    assert refusal(data[: len(data) // 2]).reason == "truncated"


def png_header(width: int, height: int) -> bytes:
    head = b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    data = b"IDAT" + zlib.compress(b"\0" * 100)
    chunks = [
        struct.pack(">I", len(c) - 4) + c + struct.pack(">I", zlib.crc32(c)) for c in (head, data, b"IEND")
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty"),
        (b"\0", "not_an_image"),
        (b"<!doctype html><html><body>404</body></html>", "not_an_image"),
        (b'{"error": "no"}', "not_an_image"),
        (b"\xff\xd8\xff", "not_an_image"),
        (encoded(np.zeros((4, 4), np.float32), "TIFF"), "unsupported_pixels"),
        (encoded(np.full((4, 4), 70_000, np.int32), "TIFF"), "unsupported_pixels"),
        (encoded(np.full((4, 4), -1, np.int32), "TIFF"), "unsupported_pixels"),
        (encoded(noise(32, 32), "ICO"), "unsupported_format"),
        (encoded(noise(8, 8), "PPM"), "unsupported_format"),
        (encoded(noise(8, 8), "PDF"), "not_an_image"),
        (png_header(8001, 8000), "too_large"),
        (png_header(10_000, 9_500), "too_large"),
        (png_header(20_000, 20_000), "too_large"),
        (png_header(2**31 - 1, 2**31 - 1), "too_large"),
        (png_header(100, 100), "truncated"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_refused_and_why(data: bytes, reason: str):
    assert refusal(data).reason == reason


def test_the_largest_allowed_image_is_let_through_by_its_header():
    assert refusal(png_header(8000, 8000)).reason == "truncated"
    assert MAX_PIXELS == 8000 * 8000


def icc_profile(columns: list[list[float]], gamma: float) -> bytes:
    """A minimal version 2 matrix profile (ICC.1:2001-04): D50 primaries and one gamma."""

    def xyz(values: list[float]) -> bytes:
        return b"XYZ \0\0\0\0" + b"".join(struct.pack(">i", round(v * 65536)) for v in values)

    curve = b"curv\0\0\0\0" + struct.pack(">IH", 1, round(gamma * 256)) + b"\0\0"
    text = b"made here\0"
    name = b"desc\0\0\0\0" + struct.pack(">I", len(text)) + text + bytes(78)
    tags = {b"desc": name + bytes(-len(name) % 4), b"cprt": b"text\0\0\0\0none\0\0\0\0"}
    tags |= {b"wtpt": xyz([0.9642, 1.0, 0.8249])}
    tags |= dict(zip((b"rXYZ", b"gXYZ", b"bXYZ"), map(xyz, columns), strict=True))
    tags |= dict.fromkeys((b"rTRC", b"gTRC", b"bTRC"), curve)
    offset, table, body = 132 + 12 * len(tags), b"", b""
    for tag, content in tags.items():
        table += tag + struct.pack(">II", offset + len(body), len(content))
        body += content
    header = struct.pack(
        ">I4sI4s4s4s", offset + len(body), b"\0\0\0\0", 0x02100000, b"mntr", b"RGB ", b"XYZ "
    )
    header += bytes(12) + b"acsp" + bytes(28) + struct.pack(">iii", 63190, 65536, 54061) + bytes(48)
    return header + struct.pack(">I", len(tags)) + table + body


WIDE = {
    "Adobe RGB": (
        [[0.60974, 0.31111, 0.01947], [0.20528, 0.62567, 0.06087], [0.14919, 0.06322, 0.74457]],
        2.19921875,
    ),
    "Display P3, gamma 2.2": (
        [[0.51512, 0.2412, -0.00105], [0.29198, 0.69225, 0.04189], [0.1571, 0.06657, 0.78407]],
        2.2,
    ),
}
SRGB_D50 = np.array([[0.43607, 0.22249, 0.01392], [0.38515, 0.71687, 0.09708], [0.14307, 0.06061, 0.7141]]).T


def to_srgb(colour: np.ndarray, columns: list[list[float]], gamma: float) -> np.ndarray:
    linear = np.linalg.solve(SRGB_D50, np.array(columns).T @ (colour / 255) ** gamma).clip(0, 1)
    return 255 * np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)


@pytest.mark.parametrize("space", WIDE)
@pytest.mark.parametrize("form", ["PNG", "JPEG", "WEBP", "TIFF"])
def test_a_wide_gamut_profile_is_converted(space: str, form: str):
    colour = np.array([190, 120, 100])  # skin, inside both gamuts
    options = {"PNG": {}, "JPEG": {"quality": 98, "subsampling": 0}, "WEBP": {"lossless": True}, "TIFF": {}}[
        form
    ]
    pixels = np.tile(colour.astype(np.uint8), (16, 16, 1))
    found = decode_rgb(encoded(pixels, form, icc_profile=icc_profile(*WIDE[space]), **options))
    wanted = to_srgb(colour, *WIDE[space])
    assert np.abs(wanted - colour).max() > 5
    assert np.abs(found.reshape(-1, 3).mean(0) - wanted).max() < 2.5


def test_a_profile_is_converted_below_a_cut_out_too():
    pixels = np.tile(np.array([190, 120, 100, 255], np.uint8), (8, 8, 1))
    pixels[:4, :, 3] = 0
    found = decode_rgb(encoded(pixels, icc_profile=icc_profile(*WIDE["Adobe RGB"])))
    assert found[0, 0].tolist() == [255, 255, 255]
    assert np.abs(found[7, 7] - to_srgb(np.array([190, 120, 100]), *WIDE["Adobe RGB"])).max() < 2.5


@pytest.mark.parametrize("profile", [b"junk" * 50, b"\0" * 128, icc_profile(*WIDE["Adobe RGB"])[:150]])
def test_a_broken_profile_says_nothing_about_the_pixels(profile: bytes):
    assert_close(decode_rgb(encoded(UPRIGHT, icc_profile=profile)), UPRIGHT, 0)


@pytest.mark.parametrize(
    ("form", "extension", "content_type"),
    [
        ("PNG", "png", "image/png"),
        ("JPEG", "jpg", "image/jpeg"),
        ("WEBP", "webp", "image/webp"),
        ("GIF", "gif", "image/gif"),
        ("BMP", "bmp", "image/bmp"),
        ("TIFF", "tiff", "image/tiff"),
        ("AVIF", "avif", "image/avif"),
    ],
)
def test_a_file_is_what_its_bytes_say(form: str, extension: str, content_type: str):
    facts = inspect_image(encoded(UPRIGHT, form))
    assert (facts.extension, facts.content_type, facts.width, facts.height) == (
        extension,
        content_type,
        64,
        48,
    )


@pytest.mark.filterwarnings("ignore")
def test_whatever_is_damaged_ends_in_pixels_or_in_a_photo_error():
    exif = with_orientation(6)
    exif[0x010E] = "a description"
    image = noise(32, 24)
    sound = [
        encoded(image, "JPEG", exif=exif, icc_profile=icc_profile(*WIDE["Adobe RGB"])),
        encoded(image, "PNG", exif=exif, icc_profile=icc_profile(*WIDE["Adobe RGB"])),
        encoded(image, "WEBP", exif=exif),
        encoded(image, "AVIF", exif=exif),
        encoded(image, "TIFF", exif=exif),
        encoded(image, "TIFF", compression="tiff_lzw"),
        encoded(image, "GIF"),
        encoded(image, "BMP"),
        encoded(noise(32, 24)[..., 0].astype(np.uint16) * 257),
    ]
    draw = random.Random(7)
    ends: dict[str, int] = {}
    for _ in range(4000):
        data = bytearray(draw.choice(sound))
        if draw.random() < 0.2:
            data = data[: draw.randrange(len(data))]
        for _ in range(draw.choice([1, 2, 5, 20])):
            if data:
                data[draw.randrange(min(len(data), draw.choice([64, 400, 10**6])))] = draw.choice(
                    [0, 255, 65]
                )
        try:
            end = str(decode_rgb(bytes(data)).ndim)
        except PhotoError as error:
            end = error.reason
        ends[end] = ends.get(end, 0) + 1
    assert ends["3"] > 500
    assert ends["truncated"] > 500


@pytest.mark.parametrize(
    ("width", "height", "said"),
    [
        (8001, 8000, "8001×8000 is more than 64 megapixels"),
        (20_000, 20_000, "400 megapixels are more than 64 megapixels"),
    ],
)
def test_the_limit_that_is_told_is_ours(width: int, height: int, said: str):
    assert str(refusal(png_header(width, height))) == said
