"""Annotation files of CelebA that are broken as a whole, and rows that are about no photo."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import dataset_files as files
import pytest

from adapters.datasets.celeba import CelebaDataset
from adapters.datasets.celeba_tables import ATTRIBUTES
from adapters.datasets.files import FoundPhoto, Listed, Note
from domain.dataset_options import CelebaOptions
from domain.errors import DefinitionError
from domain.photos import LeftOut

ATTR, IDENTITY = "list_attr_celeba.txt", "identity_CelebA.txt"
POINTS = "list_landmarks_align_celeba.txt"


def listed(root: Path, **options: Any) -> list[Listed]:
    return list(CelebaDataset(root, CelebaOptions.model_validate(options)).files())


def photos(found: list[Listed]) -> dict[str, FoundPhoto]:
    return {item.id: item for item in found if isinstance(item, FoundPhoto)}


def left_out(found: list[Listed]) -> list[tuple[str, str]]:
    return [(item.source.rpartition("/")[2], item.reason) for item in found if isinstance(item, LeftOut)]


def _replace(name: str, old: str, new: str) -> Callable[[Path], object]:
    return lambda root: (root / name).write_text((root / name).read_text().replace(old, new))


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (_replace(IDENTITY, ".jpg ", ".jpg,"), r"identity_CelebA\.txt:1: no row .* 0 values, 1 are needed"),
        (lambda root: (root / IDENTITY).write_text(""), r"identity_CelebA\.txt: no row .* it has none"),
        (lambda root: (root / IDENTITY).write_text("\n \n"), "no row of the file can be used"),
        (
            lambda root: (root / ATTR).write_text("0\n" + " ".join(ATTRIBUTES) + " \n"),
            r"list_attr_celeba\.txt: no row of the file can be used",
        ),
        (
            lambda root: (root / "list_bbox_celeba.txt").write_text(
                "1\nimage_id x_1 y_1 width height\n000001.jpg 1,2,3,4\n"
            ),
            r"list_bbox_celeba\.txt:3: no row",
        ),
        (
            _replace(ATTR, "Male Mouth_Slightly_Open", "Mouth_Slightly_Open Male"),
            "name 21 is 'Mouth_Sligh.*, not 'Male'",
        ),
        (
            lambda root: (root / IDENTITY).write_bytes(b"000001.jpg 1\ncaf\xe9.jpg 2\n"),
            r"identity_CelebA\.txt:2: .*save it as UTF-8",
        ),
    ],
)
def test_a_file_of_which_nothing_can_be_used_is_an_error(
    tmp_path: Path, spoil: Callable[[Path], object], message: str
):
    root = files.celeba(tmp_path)
    spoil(root)
    with pytest.raises(DefinitionError, match=message):
        listed(root)


def test_identities_that_are_not_wanted_are_not_read(tmp_path: Path):
    root = files.celeba(tmp_path)
    (root / IDENTITY).write_text("000001.jpg,2880\n")
    assert len({item.subject for item in photos(listed(root, people="one_per_photo")).values()}) == 5


@pytest.mark.parametrize(
    ("name", "header"),
    [
        (IDENTITY, "image_id identity\n"),
        ("list_eval_partition.txt", "image_id partition\n"),
    ],
)
def test_a_row_about_no_photo_is_reported(tmp_path: Path, name: str, header: str):
    root = files.celeba(tmp_path)
    path = root / name
    path.write_text(header + path.read_text())
    found = listed(root, partition="test")
    assert len(photos(found)) == 1
    [stray] = [item for item in found if isinstance(item, LeftOut) and item.reason == "malformed_row"]
    assert (stray.source, stray.detail.partition(":")[0]) == (f"{name}:1", "'image_id'")


@pytest.mark.parametrize("name", ["list_bbox_celeba.txt", POINTS])
def test_a_faulty_row_about_no_photo_is_reported_of_boxes_and_points_too(tmp_path: Path, name: str):
    root = files.celeba(tmp_path)
    _replace(name, "000005.jpg", "000005 jpg")(root)
    found = listed(root)
    assert left_out(found) == [(f"{name}:7", "malformed_row")]
    assert len(photos(found)) == 5


def test_good_rows_about_photos_that_are_not_listed_are_counted(tmp_path: Path):
    root = files.celeba(tmp_path)
    with (root / IDENTITY).open("a") as file:
        file.write("000008.jpg 12\n000009.jpg 12\n")
    said = "identity_CelebA: 2 rows are about photos that list_attr_celeba does not name"
    assert said in [item.text for item in listed(root) if isinstance(item, Note)]


@pytest.mark.parametrize("quotes", [("000002.jpg",), ("000002.jpg", "000004.jpg")], ids=["one", "two"])
def test_a_stray_quote_in_kaggles_copy_swallows_no_rows(tmp_path: Path, quotes: tuple[str, ...]):
    root = files.kaggle_celeba(tmp_path)
    for name in quotes:
        _replace("list_attr_celeba.csv", name, f'"{name}')(root)
    with pytest.raises(DefinitionError, match=r"list_attr_celeba\.csv:3: .*quote"):
        listed(root, people="one_per_photo")


def test_two_files_of_one_stem_are_two_photos(tmp_path: Path):
    root = files.celeba(tmp_path)
    _replace(ATTR, "000005.jpg", "000001.png")(root)
    _replace(IDENTITY, "000005.jpg", "000001.png")(root)
    (root / "img_align_celeba" / "000005.jpg").rename(root / "img_align_celeba" / "000001.png")
    assert len(photos(listed(root))) == 5
