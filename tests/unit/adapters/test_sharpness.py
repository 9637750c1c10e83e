"""Sharpness of constructed pictures: in focus, blurred, in focus in part, without structure, pale."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from adapters.imaging.sharpness import sharpness
from domain.photos import Sharpness


def scene(seed: int = 0) -> np.ndarray:
    """Overlapping rectangles: edges at every place and size, as in a photo that is in focus."""
    rng = np.random.default_rng(seed)
    pixels = np.full((832, 1248, 3), 128, np.uint8)
    for _ in range(1500):
        x, y, w, h = (int(rng.integers(0, most)) for most in (1248, 832, 90, 90))
        pixels[y : y + h, x : x + w] = rng.integers(30, 226)
    return pixels


def blurred(pixels: np.ndarray, sigma: float) -> np.ndarray:
    return np.asarray(cv2.GaussianBlur(pixels, (0, 0), sigma))


def known(found: Sharpness) -> tuple[float, float]:
    assert found.median is not None
    assert found.lower_quartile is not None
    return found.median, found.lower_quartile


def test_the_more_a_picture_is_blurred_the_less_sharp_it_is():
    found = [known(sharpness(blurred(scene(), sigma) if sigma else scene()))[0] for sigma in (0, 1, 2, 3, 5)]
    assert found == sorted(found, reverse=True)
    assert found[0] > 0.3
    assert found[2] < 0.22, "by two pixels: below every default"


def test_contrast_and_brightness_say_nothing():
    pale = (scene().astype(float) * 0.5 + 90).astype(np.uint8)
    assert known(sharpness(pale)) == pytest.approx(known(sharpness(scene())), abs=0.01)


def test_half_of_it_out_of_focus_shows_in_the_lower_quartile():
    pixels = scene()
    pixels[:, 700:] = blurred(pixels, 6)[:, 700:]
    median, low = known(sharpness(pixels))
    assert median > 0.23
    assert low < 0.20


def test_parts_without_structure_do_not_count():
    pixels = scene()
    pixels[:400] = 200
    assert known(sharpness(pixels))[0] == pytest.approx(known(sharpness(scene()))[0], abs=0.03)


@pytest.mark.parametrize("pixels", [np.full((832, 1248, 3), 90, np.uint8), blurred(scene(), 60)])
def test_nothing_is_said_of_a_picture_without_structure(pixels: np.ndarray):
    found = sharpness(pixels)
    assert (found.median, found.lower_quartile) == (None, None)


def test_the_face_is_measured_apart():
    pixels, box = scene(), (300.0, 200.0, 500.0, 480.0)
    pixels[200:480, 300:500] = blurred(pixels, 4)[200:480, 300:500]
    found = sharpness(pixels, box)
    assert found.face is not None
    assert found.face < 0.2
    assert known(found)[0] > 0.3
    assert sharpness(pixels).face is None
    assert sharpness(pixels, (2000.0, 10.0, 2100.0, 90.0)).face is None, "outside of the picture"
    assert sharpness(scene(), box).face == pytest.approx(known(sharpness(scene()))[0], abs=0.06)


def test_the_formula_on_one_line():
    """Stripes two pixels wide after halving: both bands by a convolution written out here."""
    row = np.tile([60.0, 60.0, 60.0, 60.0, 180.0, 180.0, 180.0, 180.0], 128)
    pixels = np.repeat(np.repeat(row[None, :, None], 1024, axis=0), 3, axis=2).astype(np.uint8)
    half = np.tile([60.0, 60.0, 180.0, 180.0], 128)

    def spread(sigma: float) -> float:
        reach = np.arange(-40, 41)
        weights = np.exp(-(reach**2) / (2 * sigma**2))
        smooth = np.convolve(np.pad(half, 40, "reflect"), weights / weights.sum(), "valid")
        return float((half - smooth)[100:400].std())

    median, low = known(sharpness(pixels))
    assert median == pytest.approx(spread(1.0) / spread(4.0), abs=0.01)
    assert low == pytest.approx(median, abs=0.01)
