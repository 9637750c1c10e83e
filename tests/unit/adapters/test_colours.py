"""Profiles of grey and CMYK images, Lab, plates without a marker, strips, and turns for large images."""

from __future__ import annotations

import io
import struct
import threading

import numpy as np
import pytest
from builders import encoded, noise, quadrants
from odd_images import animated, cmyk_jpeg, mpo
from PIL import Image, ImageCms

from adapters.imaging import colours, decode
from adapters.imaging.decode import decode_rgb, decode_with_facts, inspect_image, one_large_at_a_time


def gray_profile(gamma: float) -> bytes:
    """A minimal version 2 profile of one grey channel (ICC.1:2001-04)."""
    curve = b"curv\0\0\0\0" + struct.pack(">IH", 1, round(gamma * 256)) + b"\0\0"
    white = b"XYZ \0\0\0\0" + b"".join(struct.pack(">i", round(v * 65536)) for v in (0.9642, 1.0, 0.8249))
    text = b"made here\0"
    name = b"desc\0\0\0\0" + struct.pack(">I", len(text)) + text + bytes(78)
    tags = {b"desc": name + bytes(-len(name) % 4), b"wtpt": white, b"kTRC": curve}
    offset, table, body = 132 + 12 * len(tags), b"", b""
    for tag, content in tags.items():
        table += tag + struct.pack(">II", offset + len(body), len(content))
        body += content
    head = struct.pack(">I4sI4s4s4s", offset + len(body), b"\0\0\0\0", 0x02100000, b"mntr", b"GRAY", b"XYZ ")
    head += bytes(12) + b"acsp" + bytes(28) + struct.pack(">iii", 63190, 65536, 54061) + bytes(48)
    return head + struct.pack(">I", len(tags)) + table + body


def srgb_of(value: int, gamma: float) -> float:
    linear = (value / 255) ** gamma
    return 255 * (12.92 * linear if linear <= 0.0031308 else 1.055 * linear ** (1 / 2.4) - 0.055)


@pytest.mark.parametrize("form", ["PNG", "JPEG", "TIFF"])
@pytest.mark.parametrize("gamma", [1.0, 1.8])
def test_a_grey_profile_is_converted(form: str, gamma: float):
    pixels = np.full((16, 16), 100, np.uint8)
    found = decode_rgb(encoded(pixels, form, icc_profile=gray_profile(gamma)))
    assert np.abs(found - srgb_of(100, gamma)).max() < 2.5
    assert abs(srgb_of(100, gamma) - 100) > 9


def test_a_grey_profile_counts_for_sixteen_bits_and_below_a_cut_out():
    profile = gray_profile(1.0)
    wide = np.full((4, 4), 100 * 257, np.uint16)
    assert np.abs(decode_rgb(encoded(wide, icc_profile=profile)) - srgb_of(100, 1.0)).max() < 2.5
    cut = Image.fromarray(np.dstack([np.full((4, 4), 100, np.uint8), np.full((4, 4), 255, np.uint8)]), "LA")
    cut.putpixel((0, 0), (100, 0))
    found = decode_rgb(encoded(cut, icc_profile=profile))
    assert found[0, 0].tolist() == [255, 255, 255]
    assert np.abs(found[3, 3] - srgb_of(100, 1.0)).max() < 2.5


def test_a_profile_of_other_colours_than_the_image_has_is_ignored():
    rgb = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    gray = np.full((4, 4), 100, np.uint8)
    assert (decode_rgb(encoded(gray, icc_profile=rgb)) == 100).all()
    assert (
        decode_rgb(encoded(np.full((4, 4, 3), 100, np.uint8), icc_profile=gray_profile(1.0))) == 100
    ).all()


def test_plates_without_the_marker_are_not_inverted():
    with_marker, without = (cmyk_jpeg(quadrants(), adobe=adobe) for adobe in (True, False))
    assert np.abs(decode_rgb(with_marker).astype(int) - quadrants()).mean() < 6
    assert np.abs(decode_rgb(without).astype(int) - quadrants()).mean() < 6
    assert "adobe" in Image.open(io.BytesIO(with_marker)).info
    assert "adobe" not in Image.open(io.BytesIO(without)).info


def test_lab():
    srgb, lab = ImageCms.createProfile("sRGB"), ImageCms.createProfile("LAB")
    image = ImageCms.profileToProfile(Image.fromarray(quadrants()), srgb, lab, outputMode="LAB")
    assert (
        np.abs(decode_rgb(encoded(image, "TIFF")).astype(int) - quadrants()).mean() < 8
    )  # eight bits of Lab


@pytest.mark.parametrize("mode", ["RGB", "RGBA", "L", "LA", "P", "CMYK", "1"])
def test_strips_leave_no_seams(mode: str, monkeypatch: pytest.MonkeyPatch):
    data = encoded(Image.fromarray(noise(61, 53)).convert(mode), "TIFF" if mode == "CMYK" else "PNG")
    whole = decode_rgb(data)
    monkeypatch.setattr(colours, "STRIP_PIXELS", 61 * 7)
    assert np.array_equal(decode_rgb(data), whole)


@pytest.mark.parametrize(
    ("data", "notes"),
    [
        (encoded(quadrants()), ()),
        (encoded(quadrants(), "JPEG"), ()),
        (encoded(quadrants(), "GIF"), ()),
        (animated(quadrants(), "GIF"), ("first_of_several",)),
        (animated(quadrants(), "WEBP"), ("first_of_several",)),
        (animated(quadrants(), "PNG"), ("first_of_several",)),
        (animated(quadrants(), "TIFF"), ("first_of_several",)),
        (animated(quadrants(), "AVIF"), ("first_of_several",)),
        (mpo(quadrants()), ("first_of_several",)),
    ],
    ids=lambda value: "" if isinstance(value, bytes) else "-".join(value) or "one",
)
def test_a_file_of_several_frames_is_noted_and_its_first_is_taken(data: bytes, notes: tuple[str, ...]):
    facts, pixels = decode_with_facts(data)
    assert facts.notes == notes
    assert facts == inspect_image(data)
    assert np.abs(pixels.astype(int) - quadrants()).mean() < 25
    assert np.array_equal(pixels, decode_rgb(data))


def test_large_images_take_turns_and_small_ones_do_not(monkeypatch: pytest.MonkeyPatch):
    small, large = encoded(noise(8, 8)), encoded(noise(80, 80))
    monkeypatch.setattr(decode, "LARGE_PIXELS", 1000)
    entered = threading.Event()

    def enter(data: bytes) -> None:
        with one_large_at_a_time(data):
            entered.set()

    with one_large_at_a_time(large):
        with one_large_at_a_time(large):
            pass  # within one's own turn
        for data, waits in ((small, False), (b"no image", False), (large, True)):
            entered.clear()
            thread = threading.Thread(target=enter, args=(data,), daemon=True)
            thread.start()
            assert entered.wait(0.3 if waits else 30) is not waits
    assert entered.wait(30)
    thread.join()
