"""CelebA as its authors give it and as Kaggle does, with the faults that the real files have."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dataset_files as files
import pytest

from adapters.datasets.celeba import CelebaDataset
from adapters.datasets.celeba_tables import ATTRIBUTES, LAYOUTS, read_annotations
from adapters.datasets.files import FoundPhoto, Listed, Note
from domain.dataset_options import CelebaOptions
from domain.errors import DefinitionError
from domain.photos import LeftOut


def listed(root: Path, **options: Any) -> list[Listed]:
    return list(CelebaDataset(root, CelebaOptions.model_validate(options)).files())


def photos(found: list[Listed]) -> dict[str, FoundPhoto]:
    return {item.id: item for item in found if isinstance(item, FoundPhoto)}


def left_out(found: list[Listed]) -> list[tuple[str, str]]:
    return [(item.source.rpartition("/")[2], item.reason) for item in found if isinstance(item, LeftOut)]


def test_the_forty_names():
    assert (len(ATTRIBUTES), ATTRIBUTES[0], ATTRIBUTES[20], ATTRIBUTES[39]) == (
        40, "5_o_Clock_Shadow", "Male", "Young",
    )  # fmt: skip
    assert [len(LAYOUTS[name].columns) for name in ("boxes", "landmarks_aligned")] == [4, 10]


@pytest.mark.parametrize("split", [False, True], ids=["flat", "split"])
@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["LF", "CRLF"])
def test_the_authors_files(tmp_path: Path, split: bool, end: str):
    found = listed(files.celeba(tmp_path, split=split, end=end))
    assert [(item.id, item.subject) for item in photos(found).values()] == [
        ("000005", "00007"), ("000002", "00012"), ("000004", "00012"),
        ("000001", "02880"), ("000003", "02880"),
    ]  # fmt: skip
    assert {name: dict(item.groups) for name, item in photos(found).items()} == {
        "000001": {"gender": "male", "age": "young"},
        "000002": {"gender": "female", "age": "young"},
        "000003": {"gender": "male", "age": "old"},
        "000004": {"gender": "male", "age": "old"},
        "000005": {"gender": "female", "age": "old"},
    }
    assert left_out(found) == []


def test_the_names_are_split_on_any_white_space(tmp_path: Path):
    root = files.celeba(tmp_path)
    text = (root / "list_attr_celeba.txt").read_text()
    header, row = text.splitlines()[1:3]
    assert header.endswith("Young ")
    assert "  1" in row
    assert len(header.split(" ")) == 41, "what a naive split makes of it"
    table = read_annotations(root / "list_attr_celeba.txt", "attributes")
    assert set(map(len, table.numbers.values())) == {40}
    assert table.numbers["000001.jpg"][20] == table.numbers["000001.jpg"][39] == 1
    assert sum(table.numbers["000001.jpg"]) == 3 - 37


def test_kaggles_copy_has_no_identities_and_says_so(tmp_path: Path):
    root = files.kaggle_celeba(tmp_path)
    with pytest.raises(DefinitionError, match=r"identity_CelebA\.txt.*people: one_per_photo"):
        listed(root)
    found = photos(listed(root, people="one_per_photo"))
    assert [item.subject for item in found.values()] == list(found) == [f"00000{n}" for n in range(1, 6)]
    assert "img_align_celeba/img_align_celeba" in found["000001"].path
    assert found["000001"].groups == {"gender": "male", "age": "young"}
    files.put(root / "identity_CelebA.txt", "".join(f"{name} {n}\n" for name, n in files.PEOPLE.items()))
    assert len({item.subject for item in photos(listed(root)).values()}) == 3


def test_a_partition_counts_the_others(tmp_path: Path):
    found = listed(files.celeba(tmp_path), partition="test")
    assert list(photos(found)) == ["000003"]
    said = {item.detail for item in found if isinstance(item, LeftOut) and item.reason == "other_partition"}
    assert said == {"2 photos of the partition train", "2 photos of the partition valid"}
    (tmp_path / "list_eval_partition.txt").unlink()
    with pytest.raises(DefinitionError, match="partition: all"):
        listed(tmp_path, partition="test")
    assert len(photos(listed(tmp_path))) == 5


def test_a_box_without_size_leaves_its_photo_out_and_boxes_are_applied_to_none(tmp_path: Path):
    root = files.celeba(tmp_path)
    path = root / "list_bbox_celeba.txt"
    path.write_text(path.read_text().replace("000004.jpg    95  71 226 313", "000004.jpg   320 828   0   0"))
    found = listed(root)
    assert left_out(found) == [("000004.jpg", "zero_box")]
    assert len(photos(found)) == 4, "a box of 313 rows in a photo of 218 is no fault: it is of another photo"
    assert "000004" in photos(listed(root, zero_boxes="keep"))


def test_people_whose_photos_differ(tmp_path: Path):
    root = files.celeba(tmp_path)
    notes = [item.text for item in listed(root) if isinstance(item, Note)]
    assert notes == [
        "gender: the photos of 1 of 3 people differ; each photo keeps its own label (`conflicts: per_image`)",
        "age: the photos of 2 of 3 people differ; each photo keeps its own label (`conflicts: per_image`)",
    ]
    tied = photos(listed(root, conflicts="majority"))
    assert tied["000002"].groups == tied["000004"].groups == {}, "one photo says this, the other that"
    extra = files.attribute_row("000006.jpg", male=True, young=False)
    attributes = root / "list_attr_celeba.txt"
    attributes.write_text(attributes.read_text().replace("5\n", "6\n", 1) + extra + "\n")
    with (root / "identity_CelebA.txt").open("a") as file:
        file.write("000006.jpg 12\n")
    files.put(root / "img_align_celeba" / "000006.jpg", "six")
    settled = photos(listed(root, conflicts="majority"))
    assert settled["000002"].groups == settled["000006"].groups == {"gender": "male", "age": "old"}


def _replace(name: str, old: str, new: str) -> Callable[[Path], object]:
    return lambda root: (root / name).write_text((root / name).read_text().replace(old, new))


ATTR, IDENTITY = "list_attr_celeba.txt", "identity_CelebA.txt"
POINTS = "list_landmarks_align_celeba.txt"


@pytest.mark.parametrize(
    ("spoil", "expected"),
    [
        (lambda root: (root / "img_align_celeba/000002.jpg").unlink(), [("000002.jpg", "missing_file")]),
        (_replace(IDENTITY, "000002.jpg 12\n", ""), [("000002.jpg", "no_identity")]),
        (_replace(IDENTITY, "000002.jpg 12", "000002.jpg twelve"), [("000002.jpg", "malformed_row")]),
        (_replace(IDENTITY, "000002.jpg 12", "000002.jpg"), [("000002.jpg", "malformed_row")]),
        (_replace(IDENTITY, "000002.jpg 12", "000002.jpg 0"), [("000002.jpg", "malformed_row")]),
        (_replace(ATTR, "000002.jpg -1", "000002.jpg 0"), [("000002.jpg", "malformed_row")]),
        (_replace(ATTR, "000002.jpg -1", "000002.jpg"), [("000002.jpg", "malformed_row")]),
        (
            _replace(IDENTITY, "000002.jpg 12\n", "000002.jpg 12\n000002.jpg 13\n"),
            [("identity_CelebA.txt:3", "duplicate_row")],
        ),
        (lambda root: files.put(root / "img_align_celeba/999999.jpg", "x"), [("999999.jpg", "not_in_list")]),
        (_replace(POINTS, "000003.jpg 69", "000003.jpg"), [("000003.jpg", "malformed_row")]),
    ],
)  # fmt: skip
def test_a_fault_of_a_row_leaves_its_photo_out(
    tmp_path: Path, spoil: Callable[[Path], object], expected: list[tuple[str, str]]
):
    root = files.celeba(tmp_path)
    spoil(root)
    assert left_out(listed(root)) == expected


def test_a_malformed_row_names_file_and_line(tmp_path: Path):
    root = files.celeba(tmp_path)
    _replace(ATTR, "000002.jpg -1", "000002.jpg 7")(root)
    [item] = [item for item in listed(root) if isinstance(item, LeftOut)]
    assert item.detail == "list_attr_celeba.txt:4: a value is neither -1 nor 1"


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (_replace(ATTR, "Arched_Eyebrows ", ""), "39 names, 40 are needed"),
        (_replace(ATTR, "Arched_Eyebrows ", "Arched "), "not among them: Arched"),
        (_replace(ATTR, "Male Mouth", "Mouth Male"), "list_attr_celeba.txt:2"),
        (_replace(ATTR, "5\n", "202599\n"), "202599 rows are said to be there, 5 are"),
        (_replace(ATTR, "5\n", ""), "the first line must be the number"),
        (lambda root: (root / ATTR).write_bytes(b"\xff\xfe\x00 nothing"), "cannot be read"),
        (lambda root: (root / ATTR).unlink(), "no list_attr_celeba.txt.*mmlab"),
        (
            lambda root: (root / "img_align_celeba").rename(root / "img"),
            "no folder 'img_align_celeba'.*unpack",
        ),
    ],
)
def test_a_fault_of_a_file_is_an_error(tmp_path: Path, spoil: Callable[[Path], object], message: str):
    root = files.celeba(tmp_path)
    spoil(root)
    with pytest.raises(DefinitionError, match=message):
        listed(root)


def test_a_file_name_that_is_no_utf8_can_be_stored(tmp_path: Path):
    root = files.celeba(tmp_path)
    (root / "img_align_celeba" / os.fsdecode(b"caf\xe9.jpg")).write_bytes(b"x")
    [item] = [item for item in listed(root) if isinstance(item, LeftOut)]
    assert (item.source, item.reason) == ("img_align_celeba/caf\\udce9.jpg", "not_in_list")
    assert item.model_dump_json()


def test_which_attributes_are_groups_is_data(tmp_path: Path):
    root = files.celeba(tmp_path)
    found = photos(
        listed(root, groups={"smile": {"attribute": "Smiling", "present": "smiling", "absent": "not"}})
    )
    assert {tuple(item.groups.items()) for item in found.values()} == {(("smile", "smiling"),)}
    with pytest.raises(DefinitionError, match=r"no attribute 'Smile'.*allowed: 5_o_Clock_Shadow"):
        listed(root, groups={"smile": {"attribute": "Smile", "present": "yes", "absent": "no"}})


def test_in_the_wild_photos_have_a_folder_and_landmarks_of_their_own(tmp_path: Path):
    root = files.celeba(tmp_path, folder="img_celeba")
    with pytest.raises(DefinitionError, match="img_align_celeba"):
        listed(root)
    assert {Path(item.path).parent.name for item in photos(listed(root, images="wild")).values()} == {
        "img_celeba"
    }
