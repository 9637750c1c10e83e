from __future__ import annotations

import io
from itertools import combinations

import numpy as np
import pytest
from builders import encoded, noise, quadrants
from PIL import Image

from adapters.datasets.source import SourcePhoto
from adapters.imaging.decode import decode_rgb
from adapters.imaging.thumbnails import SIDE_PX, mirrored, perceptual_hash, thumbnail


@pytest.mark.parametrize(
    ("size", "wanted"),
    [
        ((400, 200), (144, 72)),
        ((200, 400), (72, 144)),
        ((40, 30), (40, 30)),
        ((5000, 1), (144, 1)),
        ((1, 1), (1, 1)),
    ],
)
def test_a_thumbnail_keeps_the_shape(size: tuple[int, int], wanted: tuple[int, int]):
    image = Image.open(io.BytesIO(thumbnail(noise(*size))))
    assert (image.format, image.size) == ("JPEG", wanted)
    assert SIDE_PX == 144


def test_a_thumbnail_shows_the_picture():
    small = np.asarray(Image.open(io.BytesIO(thumbnail(quadrants(640, 480)))))
    assert small[10, 10, 0] > 200 > 60 > small[10, 10, 1]
    assert small[-10, 10, 2] > 200


def test_a_hash_survives_saving_and_reducing_and_tells_people_apart(faces: list[SourcePhoto]):
    hashes = []
    for face in faces:
        pixels = decode_rgb(face.data)
        assert perceptual_hash(pixels) == perceptual_hash(decode_rgb(encoded(pixels, "WEBP", lossless=True)))
        saved = decode_rgb(encoded(pixels, "JPEG", quality=80))
        assert differing_bits(perceptual_hash(pixels), perceptual_hash(saved)) <= 4
        hashes.append(perceptual_hash(pixels))
    assert min(differing_bits(a, b) for a, b in combinations(hashes, 2)) >= 12
    assert all(len(text) == 16 for text in hashes)


def differing_bits(a: str, b: str) -> int:
    return (int(a, 16) ^ int(b, 16)).bit_count()


@pytest.mark.parametrize("size", [(1, 1), (1, 5000), (31, 7)])
def test_any_size_has_a_hash(size: tuple[int, int]):
    assert int(perceptual_hash(noise(*size)), 16) >= 0


def test_the_mirror_image():
    assert np.array_equal(decode_rgb(mirrored(quadrants())), quadrants()[:, ::-1])
