from __future__ import annotations

import io

import numpy as np
import pytest
from builders import encoded
from PIL import Image

from adapters.pages.contact_sheet import COLUMNS, ROWS, TILE_PX, Tile, contact_sheets


def pages(tiles: list[Tile]) -> list[Image.Image]:
    return [Image.open(io.BytesIO(data)) for data in contact_sheets("Photos of mine", tiles)]


def tile(colour: str = "lime", **fields: object) -> Tile:
    picture = encoded(Image.new("RGB", (144, 60), colour), "JPEG")
    return Tile(**{"picture": picture, "role": "base", "title": "anna-1", **fields})


@pytest.mark.parametrize(("tiles", "wanted"), [(0, 0), (1, 1), (48, 1), (49, 2), (97, 3)])
def test_pages(tiles: int, wanted: int):
    assert COLUMNS * ROWS == 48
    found = pages([tile()] * tiles)
    assert len(found) == wanted
    assert len({page.width for page in found}) <= 1
    assert all(page.format == "JPEG" for page in found)


def test_each_picture_is_in_its_place():
    [page] = pages([tile("lime"), tile("red"), tile("blue")])
    middle = np.asarray(page)[30 + 10 + TILE_PX // 2]
    found = [middle[10 + TILE_PX // 2 + n * (TILE_PX + 10)].tolist() for n in range(4)]
    wanted = [(0, 255, 0), (255, 0, 0), (0, 0, 255), (255, 255, 255)]
    assert np.abs(np.array(found) - np.array(wanted)).max() < 12


def test_what_is_said_changes_the_page():
    shown = {
        next(contact_sheets(title, [tile(**fields)]))
        for title, fields in [
            ("a", {}), ("b", {}), ("a", {"title": "x"}), ("a", {"lines": ("x",)}), ("a", {"flags": ("x",)}),
            ("a", {"role": "reference"}),
        ]
    }  # fmt: skip
    assert len(shown) == 6
    assert list(contact_sheets("a", [tile()])) == list(contact_sheets("a", [tile()]))


def test_a_long_text_stays_in_its_tile():
    [long] = pages([tile(title="n" * 200)])
    beside = np.asarray(long)[40 + TILE_PX : 60 + TILE_PX, 10 + TILE_PX + 6 :]
    assert beside.min() > 240


def test_a_photo_without_a_picture_and_text_that_no_font_has():
    [page] = pages([tile(picture=None, title="a\nb\x00", lines=("×₀" * 300,))])
    assert page.width > TILE_PX
