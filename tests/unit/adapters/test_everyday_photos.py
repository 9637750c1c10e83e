"""A table of photos: what each row must say, and what is said of one that does not."""

from __future__ import annotations

from pathlib import Path

import pytest
from dataset_files import put
from everyday_files import table

from adapters.datasets.everyday_photos import EverydayPhotos
from adapters.datasets.files import FoundPhoto
from adapters.datasets.source import SourcePhoto
from domain.dataset_options import EverydayOptions
from domain.errors import DefinitionError
from domain.photos import CropArea, LeftOut


def listed(root: Path, **options: object) -> list[object]:
    return list(EverydayPhotos(root, EverydayOptions.model_validate(options)).files())


def fault(root: Path, row: dict[str, str], **options: object) -> tuple[str, str, str]:
    """Of a row between two good ones, which both stay."""
    for name in ("a.jpg", "b.jpg", "c.jpg"):
        put(root / name, name)
    table(root, [{"file": "a.jpg"}, row, {"file": "c.jpg"}])
    first, found, last = listed(root, **options)
    assert isinstance(found, LeftOut)
    assert isinstance(first, FoundPhoto)
    assert isinstance(last, FoundPhoto)
    assert (first.id, last.id) == ("a", "c")
    return found.source, found.reason, found.detail


def test_a_row_says_everything_of_a_photo(tmp_path: Path):
    put(tmp_path / "market" / "Stall 1.JPG", b"one")
    put(tmp_path / "b.jpg", b"two")
    crop = {"crop_x": "10", "crop_y": "0", "crop_w": "1248", "crop_h": "832"}
    rows = [
        {"file": "market/Stall 1.JPG", "author": "Ann B.", "source": "https://example.org/x", "view": "Half"}
        | crop,
        {"file": "b.jpg", "id": "second", "licence": "cc0", "author": "", "source": ""},
    ]
    table(tmp_path, rows)
    first, second = EverydayPhotos(tmp_path, EverydayOptions()).read()
    assert isinstance(first, SourcePhoto)
    assert isinstance(second, SourcePhoto)
    assert (first.id, first.subject, first.data, first.role) == (
        "market-stall-1",
        "market-stall-1",
        b"one",
        "base",
    )
    assert (first.source, first.licence, first.groups) == (
        "https://example.org/x",
        "CC-BY-4.0",
        {"view": "half"},
    )
    assert first.credit is not None
    assert (first.credit.row, first.credit.author) == ("photos.csv:2", "Ann B.")
    assert first.credit.crop == CropArea(x=10, y=0, width=1248, height=832)
    assert (second.id, second.licence, second.source, second.groups) == ("second", "CC0-1.0", "b.jpg", {})
    assert second.credit is not None
    assert second.credit.crop is None


@pytest.mark.parametrize(
    ("row", "reason", "said"),
    [
        ({"file": ""}, "malformed_row", "the row names no file"),
        ({"file": "gone.jpg"}, "missing_file", "gone.jpg: No such file"),
        ({"file": "../a.jpg"}, "outside_folder", "not below the folder"),
        ({"file": "https://example.org/a.jpg"}, "remote_url", "never downloaded"),
        (
            {"file": "b.jpg", "id": "Not An Id"},
            "malformed_row",
            "b.jpg: id: 'Not An Id' cannot be an id; allowed:",
        ),
        ({"file": "b.jpg", "id": "a"}, "duplicate_id", "id: 'a' is also on line 2"),
        (
            {"file": "b.jpg", "view": "portrait"},
            "malformed_row",
            "view: 'portrait'; allowed: close, half, full",
        ),
        ({"file": "b.jpg", "licence": ""}, "licence", "b.jpg: no licence is stated; allowed: CC0-1.0"),
        (
            {"file": "b.jpg", "licence": "CC BY-NC 4.0"},
            "licence",
            "b.jpg: the licence 'CC BY-NC 4.0' is not admitted; allowed: CC0-1.0",
        ),
        ({"file": "b.jpg", "author": ""}, "licence", "b.jpg: no author is stated, and CC-BY-4.0 asks for it"),
        (
            {"file": "b.jpg", "licence": "CC BY-SA 3.0", "source": ""},
            "licence",
            "b.jpg: no source is stated, and CC-BY-SA-3.0",
        ),
        (
            {"file": "b.jpg", "licence": "MIT", "view": "far", "crop_x": "1"},
            "licence",
            "; a crop needs crop_x, crop_y, crop_w, crop_h, or none of them; view: 'far'",
        ),
        (
            {"file": "b.jpg", "crop_x": "1"},
            "malformed_row",
            "b.jpg: no crop_y, crop_w, crop_h is stated; a crop needs",
        ),
    ],
)
def test_a_row_that_is_left_out(tmp_path: Path, row: dict[str, str], reason: str, said: str):
    where, found, detail = fault(tmp_path, row)
    assert (where, found) == ("photos.csv:3", reason)
    assert said in detail


@pytest.mark.parametrize(
    ("crop", "reason", "said"),
    [
        (
            ("1.5", "0", "600", "400"),
            "malformed_row",
            "crop_x: '1.5'; allowed: whole pixels of the upright photo from 0",
        ),
        (("0", "-1", "600", "400"), "malformed_row", "crop_y: '-1'; allowed: whole pixels"),
        (
            ("0", "0", "0", "400"),
            "malformed_row",
            "crop_w: '0'; allowed: whole pixels of the upright photo from 1",
        ),
        (("0", "0", "600", "all"), "malformed_row", "crop_h: 'all'"),
        (
            ("0", "0", "640", "480"),
            "crop_off_shape",
            "crop_w, crop_h: 640×480 is not within 1 % of a shape (1248×832, 832×1248, 1024×1024); "
            "the nearest that it holds is 640×427 (landscape)",
        ),
        (("0", "0", "1100", "1000"), "crop_off_shape", "the nearest that it holds is 1000×1000 (square)"),
        (("0", "0", "300", "400"), "crop_off_shape", "the nearest that it holds is 267×400 (portrait)"),
    ],
)
def test_a_crop_that_is_none(tmp_path: Path, crop: tuple[str, ...], reason: str, said: str):
    row = {"file": "b.jpg"} | dict(zip(("crop_x", "crop_y", "crop_w", "crop_h"), crop, strict=True))
    _, found, detail = fault(tmp_path, row)
    assert found == reason
    assert said in detail


def test_other_licences_are_admitted_where_the_suite_lists_them(tmp_path: Path):
    row = {"file": "b.jpg", "licence": "Public  Domain", "author": "", "source": ""}
    _, reason, detail = fault(tmp_path, row, licences=["GFDL"])
    assert reason == "licence"
    assert detail.endswith("; GFDL")
    found = listed(tmp_path, licences=["public domain"])[1]
    assert isinstance(found, FoundPhoto)
    assert found.licence == "public domain"


def test_a_row_of_another_length_is_left_out(tmp_path: Path):
    put(tmp_path / "a.jpg", b"x")
    put(tmp_path / "photos.csv", "file,licence\na.jpg,CC0,more\na.jpg,CC0\n")
    left, found = listed(tmp_path)
    assert isinstance(left, LeftOut)
    assert (left.source, left.reason) == ("photos.csv:2", "malformed_row")
    assert isinstance(found, FoundPhoto)


def test_two_files_with_one_name_have_two_ids(tmp_path: Path):
    for name in ("a b.jpg", "a-b.jpg"):
        put(tmp_path / name, name)
    table(tmp_path, [{"file": "a b.jpg"}, {"file": "a-b.jpg"}])
    ids = [item.id for item in listed(tmp_path) if isinstance(item, FoundPhoto)]
    assert ids[0] == "a-b"
    assert ids[1].startswith("a-b-")


@pytest.mark.parametrize("name", ["photos.csv", "list.yaml", "list.yml", "list.tsv", "list.jsonl"])
def test_every_kind_of_table_says_the_same(tmp_path: Path, name: str):
    for photo in ("a.jpg", "b.jpg"):
        put(tmp_path / photo, photo)
    kinds = {
        "csv": "file,licence,author,crop_x\na.jpg,CC0,,\nb.jpg,CC0,Ann,7\n",
        "tsv": "file\tlicence\tauthor\tcrop_x\na.jpg\tCC0\t\t\nb.jpg\tCC0\tAnn\t7\n",
        "jsonl": '{"file": "a.jpg", "licence": "CC0"}\n'
        '{"file": "b.jpg", "licence": "CC0", "author": "Ann", "crop_x": 7}\n',
        "yaml": "- file: a.jpg\n  licence: CC0\n- {file: b.jpg, licence: CC0, author: Ann, crop_x: 7}\n",
    }
    kinds["yml"] = kinds["yaml"]
    put(tmp_path / name, kinds[name.rpartition(".")[2]])
    found, left = listed(tmp_path, table=name)
    assert isinstance(found, FoundPhoto)
    assert (found.id, found.licence) == ("a", "CC0-1.0")
    assert isinstance(left, LeftOut)
    line = {"photos.csv": 3, "list.tsv": 3, "list.jsonl": 2}.get(name, 3)
    assert left.source == f"{name}:{line}"
    assert "no crop_y, crop_w, crop_h is stated" in left.detail


@pytest.mark.parametrize(
    ("text", "name", "said", "line"),
    [
        ("file,licence,veiw\na.jpg,CC0,half\n", "photos.csv", "no column is called 'veiw'", 1),
        ("file,author\na.jpg,Ann\n", "photos.csv", "no column 'licence'", 1),
        ("", "photos.csv", "the table is empty", None),
        ("file: a.jpg\n", "list.yaml", "no list of photos", None),
        ("- file: a.jpg\n  - no\n", "list.yaml", "not YAML", 2),
        ("x", "list.txt", "no table of photos", None),
    ],
)
def test_a_table_that_is_none(tmp_path: Path, text: str, name: str, said: str, line: int | None):
    put(tmp_path / name, text)
    with pytest.raises(DefinitionError, match=said) as caught:
        listed(tmp_path, table=name)
    assert caught.value.file == str(tmp_path / name)
    assert caught.value.line == line


def test_a_folder_without_a_table(tmp_path: Path):
    with pytest.raises(DefinitionError, match=r"no table 'photos.csv'.*file, author, source and licence"):
        listed(tmp_path)


def test_items_of_a_yaml_list_that_are_no_rows(tmp_path: Path):
    put(tmp_path / "a.jpg", b"x")
    put(
        tmp_path / "list.yaml",
        "- a.jpg\n- {file: [a.jpg], licence: CC0}\n- {file: a.jpg, file: b.jpg, licence: CC0}\n"
        "- {file: a.jpg, licence: CC0, author: null}\n",
    )
    *left, found = listed(tmp_path, table="list.yaml")
    assert [(item.source, item.detail) for item in left if isinstance(item, LeftOut)] == [
        ("list.yaml:1", "not a set of `name: value`"),
        ("list.yaml:2", "file is not one value"),
        ("list.yaml:3", "a.jpg: file is stated twice"),
    ]
    assert isinstance(found, FoundPhoto)
    assert found.credit is not None
    assert found.credit.author == ""


def test_the_table_in_the_documentation_is_one(tmp_path: Path):
    text = (Path(__file__).parents[3] / "docs" / "identity-drift.md").read_text(encoding="utf-8")
    put(tmp_path / "photos.csv", text.partition("```csv\n")[2].partition("```")[0])
    for name in ("stall.jpg", "two at a table.jpg", "harbour.png"):
        put(tmp_path / "originals" / name, name)
    found = [item for item in listed(tmp_path) if isinstance(item, FoundPhoto)]
    assert [(photo.id, photo.licence) for photo in found] == [
        ("market-stall", "CC-BY-SA-4.0"),
        ("originals-two-at-a-table", "CC-BY-4.0"),
        ("harbour", "CC0-1.0"),
    ]
    assert found[1].credit is not None
    assert found[1].credit.crop == CropArea(x=620, y=80, width=2400, height=1600)
