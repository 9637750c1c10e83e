"""The list of authors: every photo, with what was done to it, in a table and as Markdown."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest
from builders import SHA, a_photo

from adapters.pages.attribution import attribution_csv, attribution_markdown, changes
from domain.photos import CropArea, Dataset, Original, Photo, Sharpness


def prepared(crop: tuple[int, int, int, int], size: tuple[int, int], **fields: Any) -> Photo:
    x, y, width, height = crop
    held: dict[str, Any] = {
        "sha256": SHA,
        "extension": "jpg",
        "width": 3000,
        "height": 2000,
        "author": "Ann",
        "crop_placed": False,
        "crop": CropArea(x=x, y=y, width=width, height=height),
        "sharpness": Sharpness(median=0.3, lower_quartile=0.3, face=0.3),
    }
    original = Original(**held | fields)
    return a_photo(
        id="market", width=size[0], height=size[1], original=original, source="https://example.org/1"
    )


@pytest.mark.parametrize(
    ("photo", "said"),
    [
        (prepared((0, 0, 3000, 2000), (1248, 832)), "reduced to 1248×832; saved as PNG in sRGB"),
        (
            prepared((10, 20, 900, 600), (1248, 832), crop_placed=True),
            "cropped from 3000×2000 to 900×600 at 10, 20 (placed by hand); enlarged to 1248×832; "
            "saved as PNG in sRGB",
        ),
        (
            prepared((0, 0, 1248, 832), (1248, 832)),
            "cropped from 3000×2000 to 1248×832 at 0, 0; saved as PNG in sRGB",
        ),
        (prepared((0, 0, 1248, 832), (1248, 832), width=1248, height=832), "saved as PNG in sRGB"),
        (a_photo(), "none"),
    ],
)
def test_what_was_changed(photo: Photo, said: str):
    assert changes(photo) == said


def test_both_lists_hold_every_photo():
    photo = prepared((0, 0, 3000, 2000), (1248, 832), author="Ann | Bo, <b>")
    found = Dataset(id="set", embedder_fingerprint="e", photos=(photo,))
    [row] = csv.DictReader(io.StringIO(attribution_csv(found)))
    assert row == {
        "id": "market",
        "author": "Ann | Bo, <b>",
        "source": "https://example.org/1",
        "licence": "CC0-1.0",
        "changes": "reduced to 1248×832; saved as PNG in sRGB",
    }
    text = attribution_markdown(found)
    line = next(line for line in text.splitlines() if "market" in line)
    assert line.replace("\\|", "").count("|") == 6, "a bar in a name breaks no table"
    assert "<b>" not in text


def test_an_author_who_is_not_known_is_not_left_empty():
    found = Dataset(
        id="set", embedder_fingerprint="e", photos=(prepared((0, 0, 3, 2), (1248, 832), author=""),)
    )
    assert "not stated" in attribution_csv(found)
