"""The London set in its own layout, small and, where the photos are, real."""

from __future__ import annotations

import csv
import shutil
from pathlib import Path
from typing import Any

import dataset_files as files
import pytest

from adapters.datasets.files import FoundPhoto, Listed, Note
from adapters.datasets.london import LondonDataset
from adapters.datasets.source import SourcePhoto
from domain.dataset_options import LondonOptions
from domain.errors import DefinitionError
from domain.photos import LeftOut


def listed(root: Path, **options: Any) -> list[Listed]:
    return list(LondonDataset(root, LondonOptions.model_validate(options)).files())


def photos(found: list[Listed]) -> list[FoundPhoto]:
    return [item for item in found if isinstance(item, FoundPhoto)]


def left_out(found: list[Listed]) -> list[tuple[str, str]]:
    return [(item.source, item.reason) for item in found if isinstance(item, LeftOut)]


def test_neutral_photos_are_edited_and_smiling_ones_are_references(tmp_path: Path):
    found = listed(files.london(tmp_path))
    assert [(item.id, item.subject, item.role) for item in photos(found)] == [
        ("001-neutral_front", "001", "base"), ("001-smiling_front", "001", "reference"),
        ("002-neutral_front", "002", "base"), ("002-smiling_front", "002", "reference"),
        ("003-neutral_front", "003", "base"), ("003-smiling_front", "003", "reference"),
    ]  # fmt: skip
    assert [dict(item.groups) for item in photos(found)][::2] == [
        {"age": "24", "gender": "female", "ethnicity": "white"},
        {"gender": "male", "ethnicity": "east_asian/white"},
        {"age": "38", "gender": "female", "ethnicity": "black"},
    ]
    assert left_out(found) == [
        *((f"neutral_front/00{n}_03.tem", "not_a_photo") for n in (1, 2, 3)),
        *((f"neutral_leftprofile/00{n}_01.jpg", "view_not_chosen") for n in (1, 2, 3)),
    ]


def test_other_views_are_a_choice(tmp_path: Path):
    root = files.london(tmp_path)
    found = photos(listed(root, base="smiling_front", references=["neutral_left_profile", "neutral_front"]))
    assert [(item.id, item.role) for item in found[:3]] == [
        ("001-smiling_front", "base"),
        ("001-neutral_left_profile", "reference"),
        ("001-neutral_front", "reference"),
    ]  # fmt: skip
    with pytest.raises(
        DefinitionError, match=r"neutral_right_profile.*options.references.*allowed: neutral_front"
    ):
        listed(root, references=["neutral_right_profile"])


@pytest.mark.parametrize(
    "name", ["smiling_left3quarter", "Smiling Left Three-Quarter", "smiling_left_three_quarter"]
)
def test_a_view_is_recognised_however_its_folder_is_written(tmp_path: Path, name: str):
    root = files.london(tmp_path)
    files.put(root / name / "001_07.jpg", "x")
    assert "001-smiling_left_three_quarter" in {
        item.id for item in photos(listed(root, references=["smiling_left_three_quarter"]))
    }
    files.put(root / "smilingleft3quarter" / "001_07.jpg", "x")
    with pytest.raises(DefinitionError, match="are both smiling_left_three_quarter"):
        listed(root)


def test_what_the_table_does_not_say(tmp_path: Path):
    table = (
        files.LONDON_HEAD + "1,24,female,white\n9,30,male,white\n001,25,male,white\nx,1,male,white\n002,33\n"
    )
    root = files.london(tmp_path, table)
    (root / "notes").mkdir()
    found = listed(root)
    assert [item.text for item in found if isinstance(item, Note)] == [
        "in no group, for they are not in the table: 002, 003",
        "1 people of the table have no photo of a chosen view: 009",
        "folders that are no view: notes",
    ]
    assert left_out(found)[:3] == [
        ("london_faces_info.csv:4", "duplicate_row"),
        ("london_faces_info.csv:5", "malformed_row"),
        ("london_faces_info.csv:6", "malformed_row"),
    ]
    assert [dict(item.groups) for item in photos(found)][::2] == [
        {"age": "24", "gender": "female", "ethnicity": "white"}, {}, {},
    ]  # fmt: skip


def test_a_photo_in_the_folder_of_another_view(tmp_path: Path):
    root = files.london(tmp_path)
    files.put(root / "neutral_front" / "004_08.jpg", "x")
    assert ("neutral_front/004_08.jpg", "wrong_view") in left_out(listed(root))


def test_several_files_of_one_person_and_view_are_one_photo(tmp_path: Path):
    root = files.london(tmp_path)
    for name in ("neutral_front/024_03.jpg", "neutral_front/24_03.jpg", "neutral_front/024_03.JPG",
                 "neutral_front/024_03.jpeg", "smiling_front/24_08.jpg",
                 "neutral_front/٠٢٤_03.jpg"):  # fmt: skip
        files.put(root / name, name)
    found = listed(root)
    assert [(item.id, item.source) for item in photos(found) if item.subject == "024"] == [
        ("024-neutral_front", "neutral_front/024_03.JPG"),
        ("024-smiling_front", "smiling_front/24_08.jpg"),
    ]
    assert [source for source, reason in left_out(found) if reason == "duplicate_row"] == [
        "neutral_front/024_03.jpeg", "neutral_front/024_03.jpg", "neutral_front/24_03.jpg",
    ]  # fmt: skip
    assert ("neutral_front/٠٢٤_03.jpg", "not_a_photo") in left_out(found)


@pytest.mark.parametrize(("view", "role"), [("neutral_front", "base"), ("smiling_front", "reference")])
def test_a_view_without_a_photo_is_noted(tmp_path: Path, view: str, role: str):
    root = files.london(tmp_path)
    for path in (root / view).iterdir():
        path.unlink()
    assert f"no photo of {view}, so that there is no {role} photo of that view" in [
        item.text for item in listed(root) if isinstance(item, Note)
    ]


def test_what_is_missing_is_said(tmp_path: Path):
    root = files.london(tmp_path)
    shutil.rmtree(root / "smiling_front")
    with pytest.raises(DefinitionError, match=r"no folder of the view smiling_front.*figshare"):
        listed(root)
    files.put(root / "london_faces_info.csv", "face_id,face_age,face_gender\n")
    with pytest.raises(DefinitionError, match="no column 'face_eth'"):
        listed(root)
    (root / "london_faces_info.csv").unlink()
    with pytest.raises(DefinitionError, match=r"no london_faces_info\.csv.*figshare"):
        listed(root)


@pytest.fixture
def real_london(real_photos: Path, tmp_path: Path) -> Path:
    """Real photos laid out as the set is, by the paths that they came from."""
    with (real_photos / "SOURCES.tsv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file, delimiter="\t") if row["file"].startswith("london-")]
    for row in rows:
        target = tmp_path / Path(row["path_in_source"]).relative_to("inst")
        target.parent.mkdir(exist_ok=True)
        target.symlink_to(real_photos / row["file"])
    shutil.copy(real_photos / "london_info.csv", tmp_path)
    return tmp_path


def test_the_real_photos(real_london: Path):
    found = list(LondonDataset(real_london, LondonOptions()).read())
    people = [item for item in found if isinstance(item, SourcePhoto)]
    assert (len(people), len({item.subject for item in people})) == (38, 19)
    assert len(found) == 38, "nothing is left out"
    groups = {item.subject: dict(item.groups) for item in people}
    assert groups["036"] == {"age": "21", "gender": "male", "ethnicity": "east_asian/white"}
    assert groups["031"] == {"gender": "male", "ethnicity": "white"}, "NA is not known"
    assert sum(held["gender"] == "female" for held in groups.values()) == 9
    assert all(item.data.startswith(b"\xff\xd8") for item in people)
