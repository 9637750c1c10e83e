"""Drawn things are found again where they are, as what they are, and nowhere else."""

from __future__ import annotations

import io

import cv2
import numpy as np
import pytest
from PIL import Image
from scenes import PHOTOS, photo

from adapters.imaging.decode import decode_rgb
from adapters.imaging.scene_finding import Found, find_things, has_words
from adapters.imaging.scene_items import KINDS, SCALES, cell_of, picture_of, shape_of, sign_of
from adapters.imaging.scene_paint import covers, cut_out, erase, put
from adapters.imaging.scene_places import is_at, overlap, place_of, room_for
from adapters.imaging.scene_prompts import COLOURS, PLACES, SIGNS

SHAPE = (416, 624, 3)


@pytest.fixture(scope="module")
def scene() -> np.ndarray:
    return decode_rgb(photo("group-three", 0.5))


def recompressed(rgb: np.ndarray, quality: int) -> np.ndarray:
    out = io.BytesIO()
    Image.fromarray(rgb).save(out, "JPEG", quality=quality)
    return decode_rgb(out.getvalue())


def drawn(rgb: np.ndarray, kind: str, colour: str, scale: float, x: int = 40, y: int = 50):
    cell = cell_of(kind, rgb.shape, scale)
    at = Found(kind, colour, x, y, cell)
    return put(rgb, at, *picture_of(kind, colour, cell)), at


@pytest.mark.parametrize("name", PHOTOS)
def test_nothing_is_found_in_a_photo(name: str):
    assert find_things(decode_rgb(photo(name))) == ()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scale", SCALES)
def test_each_kind_is_found_in_each_colour(scene: np.ndarray, kind: str, scale: float):
    for colour in COLOURS:
        picture, at = drawn(scene, kind, colour, scale)
        assert find_things(picture) == (at,)


@pytest.mark.parametrize("kind", KINDS)
def test_recompression_does_not_hide_it(kind: str):
    picture, at = drawn(decode_rgb(photo("group-three")), kind, "blue", 1.0)
    (found,) = find_things(recompressed(picture, 85))
    assert (found.kind, found.colour) == (kind, "blue")
    assert abs(found.x - at.x) <= 2
    assert abs(found.y - at.y) <= 2


def test_it_is_found_on_a_ground_of_its_own_colour():
    plain = np.full(SHAPE, COLOURS["white"], np.uint8)
    picture, at = drawn(plain, "mug", "white", 1.0)
    assert find_things(picture) == (at,)


def test_half_of_it_is_not_found(scene: np.ndarray):
    picture, at = drawn(scene, "vase", "red", 1.0)
    x0, y0, x1, y1 = at.box
    picture[y0 : (y0 + y1) // 2, x0:x1] = 90
    assert find_things(picture) == ()


def test_a_patch_without_its_outline_is_not_taken_for_one(scene: np.ndarray):
    picture, at = scene.copy(), cell_of("box", scene.shape, 1.0)
    filled = shape_of("box", at).filled
    picture[50 : 50 + at[1], 40 : 40 + at[0]][filled] = COLOURS["red"]
    assert find_things(picture) == ()


@pytest.mark.parametrize("kind", SIGNS)
def test_words_are_told_from_others(scene: np.ndarray, kind: str):
    big = cv2.resize(scene, None, fx=2, fy=2, interpolation=cv2.INTER_CUBIC)
    cell = cell_of(kind, big.shape, 1.0)
    at = Found(kind, "blue", 60, 60, cell)
    for picture in (shown := put(big, at, *sign_of("OPEN", "white", "blue", cell)), recompressed(shown, 85)):
        (found,) = find_things(picture)
        assert (found.kind, found.colour, found.letters) == (kind, "blue", "white")
        assert has_words(picture, found, "OPEN")
        for other in ("OVEN", "QPEN", "OPFN", "OPEN!", "Open", "OPE", "CLOSED"):
            assert not has_words(picture, found, other), other


def test_what_is_erased_is_gone_and_the_rest_is_as_it_was(scene: np.ndarray):
    picture, at = drawn(scene, "lamp", "green", 1.0)
    bare = erase(picture, at)
    assert find_things(bare) == ()
    far = np.ones(scene.shape[:2], bool)
    x0, y0, x1, y1 = at.box
    far[y0 - 12 : y1 + 12, x0 - 12 : x1 + 12] = False
    assert np.array_equal(bare[far], scene[far])
    green = np.abs(bare.astype(int) - COLOURS["green"]).max(-1) < 40
    assert not (green & covers([at], scene.shape)).any()


def test_cutting_out_and_putting_back_changes_nothing(scene: np.ndarray):
    picture, at = drawn(scene, "vase", "pink", 0.75)
    assert np.array_equal(put(picture, at, *cut_out(picture, at)), picture)


def test_room_is_at_the_place_and_beside_heads_and_things():
    heads = [(200.0, 100.0, 400.0, 300.0)]
    for place in PLACES:
        one = room_for("mug", place, SHAPE, heads, [])
        assert one is not None
        assert is_at(place, one.centre, SHAPE)
        assert not overlap(one.box, heads[0])
        two = room_for("mug", place, SHAPE, heads, [one])
        assert two is None or not overlap(one.box, two.box)


def test_a_thing_gets_smaller_where_there_is_little_room_and_is_not_put_where_there_is_none():
    free = room_for("sign", "top left", SHAPE, [], [])
    tight = room_for("sign", "top left", SHAPE, [(130.0, 0.0, 624.0, 416.0)], [])
    assert free is not None
    assert tight is not None
    assert tight.cell < free.cell
    assert room_for("sign", "top left", SHAPE, [(60.0, 0.0, 624.0, 416.0)], []) is None
    assert room_for("sign", "top left", SHAPE, [(130.0, 0.0, 624.0, 416.0)], [], free.cell) is None


@pytest.mark.parametrize(
    ("centre", "name"),
    [((10, 10), "top left"), ((312, 208), "middle"), ((600, 208), "right"), ((312, 400), "bottom")],
)
def test_places_have_names(centre: tuple[float, float], name: str):
    assert place_of(centre, SHAPE) == name
