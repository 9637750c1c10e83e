"""From an original to a photo: upright, sRGB, cropped, resized; each by pixels worked out by hand."""

from __future__ import annotations

import io

import numpy as np
import pytest
from builders import encoded, noise, quadrants
from everyday_files import ADOBE_RGB, DISPLAY_P3, as_srgb, rgb_profile
from odd_images import cmyk_jpeg, turned
from PIL import Image

from adapters.imaging.prepare import prepare_photo
from domain.errors import PhotoError
from domain.photo_shapes import SHAPES
from domain.photos import CropArea

WHOLE = CropArea(x=0, y=0, width=96, height=64)


def pixels_of(data: bytes) -> np.ndarray:
    image = Image.open(io.BytesIO(data))
    assert (image.format, image.mode) == ("PNG", "RGB")
    assert set(image.info) <= {"srgb"}, "nothing of the original's data about itself"
    return np.asarray(image)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_size_is_that_of_the_shape(shape: str):
    size = SHAPES[shape]  # pyright: ignore[reportArgumentType]
    crop = CropArea(x=0, y=0, width=size[0] // 8, height=size[1] // 8)
    data = encoded(noise(size[0] // 8, size[1] // 8))
    assert pixels_of(prepare_photo(data, crop, size).data).shape == (size[1], size[0], 3)


@pytest.mark.parametrize("orientation", range(1, 9))
def test_every_orientation_is_set_upright_before_the_crop(orientation: int):
    """The left upper quarter is red, whichever way the camera was held."""
    data = turned(quadrants(96, 64), orientation)
    crop = CropArea(x=0, y=0, width=48, height=32)
    found = pixels_of(prepare_photo(data, crop, (48, 32)).data).astype(int)
    assert np.abs(found[2:-8, 2:-8] - (254, 0, 0)).max() < 12
    right = CropArea(x=48, y=32, width=48, height=32)
    found = pixels_of(prepare_photo(data, right, (48, 32)).data).astype(int)
    assert found[8:, 8:].min() > 243


@pytest.mark.parametrize("primaries", [ADOBE_RGB, DISPLAY_P3], ids=["Adobe RGB", "Display P3"])
@pytest.mark.parametrize("form", ["PNG", "JPEG", "TIFF"])
def test_colours_of_a_wider_space_become_srgb(primaries: tuple[tuple[float, float, float], ...], form: str):
    colour = (140, 120, 90)
    pixels = np.full((64, 96, 3), colour, np.uint8)
    options = {"quality": 100} if form == "JPEG" else {}
    data = encoded(pixels, form, icc_profile=rgb_profile(primaries), **options)
    found = pixels_of(prepare_photo(data, WHOLE, (96, 64)).data)
    expected = as_srgb(colour, primaries)
    assert np.abs(found - expected).max() < 2.5
    assert np.abs(expected - colour).max() > 4, "else the profile would show nothing"


def test_grey_plates_and_cut_outs():
    gray = np.full((64, 96), 77, np.uint8)
    assert (pixels_of(prepare_photo(encoded(gray), WHOLE, (96, 64)).data) == 77).all()
    plates = pixels_of(prepare_photo(cmyk_jpeg(quadrants(96, 64), adobe=True), WHOLE, (96, 64)).data)
    assert np.abs(plates.astype(int) - quadrants(96, 64)).mean() < 6
    cut = np.dstack([np.full((64, 96, 3), 10, np.uint8), np.zeros((64, 96), np.uint8)])
    cut[:, 48:, 3] = 255
    found = pixels_of(prepare_photo(encoded(cut), WHOLE, (96, 64)).data)
    assert (found[:, :40] == 255).all(), "white behind what was cut out"
    assert (found[:, 56:] == 10).all()


def test_only_what_is_inside_the_crop_counts():
    """A resize over the whole picture would let its surroundings shine in at the edge."""
    pixels = np.zeros((64, 96, 3), np.uint8)
    pixels[16:48, 24:72] = 200
    crop = CropArea(x=24, y=16, width=48, height=32)
    assert (pixels_of(prepare_photo(encoded(pixels), crop, (1248, 832)).data) == 200).all()


def test_it_is_resized_by_lanczos():
    pixels = noise(96, 64)
    found = pixels_of(prepare_photo(encoded(pixels), WHOLE, (48, 32)).data)
    expected = np.asarray(Image.fromarray(pixels).resize((48, 32), Image.Resampling.LANCZOS))
    assert (found == expected).all()


def test_the_same_bytes_each_time():
    data = encoded(noise(96, 64), "JPEG", quality=90)
    assert prepare_photo(data, WHOLE, (1248, 832)) == prepare_photo(data, WHOLE, (1248, 832))


def test_what_cannot_be_prepared():
    with pytest.raises(PhotoError):
        prepare_photo(b"no photo", WHOLE, (96, 64))
    with pytest.raises(ValueError, match="not inside of 96 × 64"):
        prepare_photo(encoded(noise(96, 64)), CropArea(x=1, y=0, width=96, height=64), (96, 64))
