"""Faces cut out of images: geometry to the pixel, with images whose every pixel says where it is."""

from __future__ import annotations

import io

import numpy as np
import pytest
from builders import SHA, encoded, noise, quadrants
from PIL import Image

from adapters.imaging.crops import OUTSIDE, cut, degraded, twin
from adapters.imaging.decode import decode_rgb
from domain.crops import CROP_PIXELS
from domain.errors import PhotoError
from domain.matches import CropBox


def a_box(size: tuple[int, int], x: int, y: int, side: int) -> CropBox:
    width, height = size
    return CropBox(
        photo="anna-1", image_sha256=SHA, width=width, height=height, face=(0, 0, 1, 1), x=x, y=y, side=side
    )


def pixels_of(crop: bytes) -> np.ndarray:
    image = Image.open(io.BytesIO(crop))
    assert image.format == "PNG"
    assert image.mode == "RGB"
    return np.asarray(image)


def test_a_square_of_the_crops_own_size_is_those_very_pixels() -> None:
    pixels = noise(900, 800)
    found = pixels_of(cut(encoded(pixels), a_box((900, 800), 100, 20, CROP_PIXELS)))
    assert (found == pixels[20 : 20 + 768, 100 : 100 + 768]).all()


def test_a_square_is_scaled_by_lanczos() -> None:
    pixels = noise(400, 300)
    found = pixels_of(cut(encoded(pixels), a_box((400, 300), 30, 40, 200)))
    expected = Image.fromarray(pixels[40:240, 30:230]).resize((768, 768), Image.Resampling.LANCZOS)
    assert (found == np.asarray(expected)).all()


@pytest.mark.parametrize("size", [(200, 150), (1000, 600), (64, 48)])
def test_an_output_of_another_size_or_shape_is_resized_to_the_reference_first(size: tuple[int, int]) -> None:
    pixels = noise(*size)
    found = pixels_of(cut(encoded(pixels), a_box((400, 300), 30, 40, 200)))
    whole = Image.fromarray(pixels).resize((400, 300), Image.Resampling.LANCZOS)
    expected = whole.crop((30, 40, 230, 240)).resize((768, 768), Image.Resampling.LANCZOS)
    assert (found == np.asarray(expected)).all()


def test_what_is_outside_of_the_photo_is_neutral() -> None:
    pixels = np.full((384, 768, 3), 200, np.uint8)
    found = pixels_of(cut(encoded(pixels), a_box((768, 384), 0, -192, 768)))
    assert (found[:180] == OUTSIDE).all()
    assert (found[-180:] == OUTSIDE).all()
    assert (found[200:570] == 200).all()


def test_an_image_that_lies_on_its_side_is_set_upright_first() -> None:
    """Orientation 6: the file is the upright picture turned by 90° to the left."""
    upright = quadrants(96, 64)
    turned = Image.fromarray(np.rot90(upright))
    exif = Image.Exif()
    exif[0x0112] = 6
    data = encoded(turned, exif=exif)
    assert (decode_rgb(data) == upright).all()
    box = a_box((96, 64), 16, 0, 64)
    assert cut(data, box) == cut(encoded(upright), box)


def test_the_same_image_gives_the_same_bytes() -> None:
    data, box = encoded(noise(300, 200), "JPEG", quality=90), a_box((300, 200), 10, 10, 120)
    assert cut(data, box) == cut(data, box)


def test_an_image_that_does_not_decode_says_so() -> None:
    with pytest.raises(PhotoError, match="not an image"):
        cut(b"no image", a_box((300, 200), 10, 10, 120))


def test_a_twin_looks_the_same_and_is_another_picture() -> None:
    """A smooth picture moves by 2 pixels of 768 at most: no value changes by more than its slope twice."""
    ramp = np.add.outer(np.arange(768), np.arange(768)) / 6
    crop = encoded(np.stack([ramp] * 3, -1).astype(np.uint8))
    one, two = twin(crop, "anna on bench"), twin(crop, "anna on market")
    assert one == twin(crop, "anna on bench")
    assert len({crop, one, two}) == 3
    before = pixels_of(crop).astype(int)
    for data in (one, two):
        found = pixels_of(data).astype(int)
        assert found.shape == before.shape
        assert 0 < np.abs(found - before).max() <= 2


def test_a_degraded_face_has_its_colours_and_no_detail() -> None:
    crop = cut(encoded(noise(768, 768)), a_box((768, 768), 0, 0, 768))
    found = pixels_of(degraded(crop))
    before = pixels_of(crop).astype(float)
    assert found.shape == (768, 768, 3)
    assert found.mean() == pytest.approx(before.mean(), abs=2)
    assert np.abs(np.diff(found.astype(float), axis=1)).mean() < 1 < np.abs(np.diff(before, axis=1)).mean()
