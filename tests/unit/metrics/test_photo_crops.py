"""Crops by hand: in the middle, moved for faces, or in the middle again where nothing helps."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.photos import CropArea
from metrics.photo_crops import Box, box_in, crop_around, crop_within, share_inside


def held(area: CropArea) -> tuple[int, int, int, int]:
    return area.x, area.y, area.width, area.height


@pytest.mark.parametrize(
    ("size", "faces", "expected"),
    [
        ((1248, 832), [], (0, 0, 1248, 832)),
        ((2000, 1000), [], (250, 0, 1500, 1000)),
        ((1000, 2000), [], (0, 250, 1000, 1500)),
        ((1200, 1000), [], (100, 0, 1000, 1000)),
        # A face in the middle moves nothing.
        ((2000, 1000), [(900, 400, 1100, 600)], (250, 0, 1500, 1000)),
        # 200 high at 100: with 50 of room it starts at 50.
        ((2000, 1000), [(100, 400, 300, 600)], (50, 0, 1500, 1000)),
        # At the edge: no room to give, but the room counts only as far as the photo goes.
        ((2000, 1000), [(0, 400, 200, 600)], (0, 0, 1500, 1000)),
        # On the other side: it must reach 1900 + 50.
        ((2000, 1000), [(1700, 400, 1900, 600)], (450, 0, 1500, 1000)),
        # Two faces 1450 apart: with room 1550 would be needed; without it, it must reach 1760.
        ((2000, 1000), [(310, 400, 510, 600), (1600, 400, 1760, 600)], (260, 0, 1500, 1000)),
        # 1501 apart: no place holds both.
        ((2000, 1000), [(200, 400, 400, 600), (1500, 400, 1701, 600)], (250, 0, 1500, 1000)),
        # Down as well: the top of the head is at 100 - 50.
        ((1000, 2000), [(400, 100, 600, 300)], (0, 50, 1000, 1500)),
        # Parts of a face that the photo does not show ask for nothing.
        ((2000, 1000), [(-300, 400, 100, 600)], (0, 0, 1500, 1000)),
    ],
)
def test_where_the_crop_is(size: tuple[int, int], faces: list[Box], expected: tuple[int, int, int, int]):
    assert held(crop_around(*size, faces)) == expected


@given(
    st.integers(16, 6000),
    st.integers(16, 6000),
    st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1), st.floats(0.02, 0.3)), min_size=1, max_size=4),
)
def test_a_crop_is_inside_and_holds_all_faces_where_one_can(
    width: int, height: int, drawn: list[tuple[float, float, float]]
):
    faces = [(x * width, y * height, min(x + s, 1) * width, min(y + s, 1) * height) for x, y, s in drawn]
    area = crop_around(width, height, faces)
    assert area.x + area.width <= width
    assert area.y + area.height <= height
    assert area.width == width or area.height == height
    left, right = min(f[0] for f in faces), max(f[2] for f in faces)
    if right - left <= area.width - 1:
        assert area.x <= left
        assert right <= area.x + area.width


def test_what_is_beyond_the_shape_is_taken_off_on_both_sides():
    assert held(crop_within(CropArea(x=10, y=20, width=102, height=100), "square")) == (11, 20, 100, 100)
    assert held(crop_within(CropArea(x=10, y=20, width=900, height=606), "landscape")) == (10, 23, 900, 600)
    exact = CropArea(x=1, y=2, width=832, height=1248)
    assert crop_within(exact, "portrait") == exact


def test_a_box_of_the_original_in_pixels_of_the_photo():
    crop = CropArea(x=100, y=50, width=624, height=416)
    assert box_in(crop, (150, 50, 412, 258), (1248, 832)) == (100, 0, 624, 416)


def test_how_much_of_a_face_is_inside():
    face = (10.0, 10.0, 30.0, 50.0)
    assert share_inside(face, (0, 0, 100, 100)) == 1
    assert share_inside(face, (20, 0, 100, 100)) == 0.5
    assert share_inside(face, (20, 0, 100, 20)) == 0.125
    assert share_inside(face, (30, 0, 100, 100)) == 0
    assert share_inside((5, 5, 5, 5), (0, 0, 100, 100)) == 0
