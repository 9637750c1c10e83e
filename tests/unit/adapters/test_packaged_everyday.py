"""Photos out of installed packages: their ids, their shapes, and that a licence must be admitted."""

from __future__ import annotations

from pathlib import Path

from adapters.datasets.packaged_everyday import PackagedEveryday
from adapters.datasets.packaged_faces import ASTRONAUT, GROUP, picture_bytes
from adapters.datasets.source import SourcePhoto
from domain.dataset_options import PackagedEverydayOptions
from domain.photo_shapes import closest_shape, is_off_shape
from domain.photos import LeftOut

SHAPES_OF = {
    "astronaut": "square",
    "group-left": "portrait",
    "group-middle": "landscape",
    "group-right": "portrait",
    "group-three": "landscape",
    "group-four": "landscape",
}


def test_each_photo_is_an_original_with_a_crop_of_a_shape():
    photos = list(PackagedEveryday.build(Path(), PackagedEverydayOptions()).read())
    assert len(photos) == len(SHAPES_OF)
    for photo in photos:
        assert isinstance(photo, SourcePhoto)
        assert photo.credit is not None
        assert photo.credit.crop is not None
        size = photo.credit.crop.width, photo.credit.crop.height
        assert closest_shape(*size) == SHAPES_OF[photo.id]
        assert not is_off_shape(*size)
        original = ASTRONAUT if photo.id == "astronaut" else GROUP
        assert photo.data == picture_bytes(original)
        assert (photo.role, photo.licence, photo.credit.author) == ("base", original.licence, original.author)


def test_what_a_suite_does_not_admit_is_left_out():
    options = PackagedEverydayOptions(licences=("Public Domain (NASA)",))
    first, *others = PackagedEveryday.build(Path(), options).read()
    assert isinstance(first, SourcePhoto)
    assert first.id == "astronaut"
    assert [item.reason for item in others if isinstance(item, LeftOut)] == ["licence"] * 5
