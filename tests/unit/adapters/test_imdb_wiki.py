"""IMDB-WIKI from real .mat files with the faults that are known of them."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import dataset_files as files
import numpy as np
import pytest
from scipy.io import loadmat, savemat

from adapters.datasets import mat_files
from adapters.datasets.files import FoundPhoto, Listed, Note
from adapters.datasets.imdb_wiki import ImdbWikiDataset, age_when_taken
from domain.dataset_options import ImdbWikiOptions
from domain.errors import DefinitionError
from domain.photos import LeftOut


def listed(root: Path, **options: Any) -> list[Listed]:
    return list(ImdbWikiDataset(root, ImdbWikiOptions.model_validate(options)).files())


def photos(found: list[Listed]) -> list[FoundPhoto]:
    return [item for item in found if isinstance(item, FoundPhoto)]


def reasons(found: list[Listed]) -> dict[str, str]:
    return {item.source: item.reason for item in found if isinstance(item, LeftOut)}


def notes(found: list[Listed]) -> list[str]:
    return [item.text for item in found if isinstance(item, Note)]


def test_people_genders_and_ages(tmp_path: Path):
    faces = [
        {"full_path": "02/nm2_rm1_1924-9-16_1944.jpg", "celeb_id": 2, "gender": 0.0,
         "dob": files.day(1924, 9, 16), "photo_taken": 1944},
        {"full_path": "01/nm1_rm2_1899-5-10_1968.jpg", "dob": files.day(1899, 5, 10), "photo_taken": 1968},
        {"full_path": "01/nm1_rm1_1899-5-10_1970.jpg", "gender": np.nan},
    ]  # fmt: skip
    found = listed(files.imdb(tmp_path, faces))
    assert [(item.subject, item.source, dict(item.groups)) for item in photos(found)] == [
        ("fred-astaire", "01/nm1_rm1_1899-5-10_1970.jpg", {"age": "30"}),
        ("fred-astaire", "01/nm1_rm2_1899-5-10_1968.jpg", {"gender": "male", "age": "69"}),
        ("lauren-bacall", "02/nm2_rm1_1924-9-16_1944.jpg", {"gender": "female", "age": "19"}),
    ]
    assert notes(found) == ["gender: unknown of 1 of 3 photos"]
    assert photos(listed(tmp_path))[0].id == "01-nm1_rm1_1899-5-10_1970"


def test_faults_are_left_out_with_reasons(tmp_path: Path):
    faces = [
        {"full_path": "00/ok.jpg"},
        {"full_path": "00/minus.jpg", "face_score": -np.inf},
        {"full_path": "00/plus.jpg", "face_score": np.inf},
        {"full_path": "00/two.jpg", "second_face_score": 2.5},
        {"full_path": "00/year0.jpg", "dob": 31, "photo_taken": 2015},
        {"full_path": "00/unborn.jpg", "dob": files.day(2041), "photo_taken": 2010},
        {"full_path": "00/gone.jpg", "no_file": True},
        {"full_path": "00/nobody.jpg", "celeb_id": 0},
        {"full_path": "00/beyond.jpg", "celeb_id": 3},
        {"full_path": "../out.jpg"},
        {"full_path": "00/low.jpg", "face_score": 0.5},
        {"full_path": ""},
        {"full_path": "00/ok.jpg"},
    ]
    found = listed(files.imdb(tmp_path, faces), min_face_score=1.0)
    assert [item.source for item in photos(found)] == ["00/ok.jpg"]
    assert reasons(found) == {
        "00/minus.jpg": "no_face",
        "00/plus.jpg": "no_face",
        "00/two.jpg": "several_faces",
        "00/year0.jpg": "impossible_age",
        "00/unborn.jpg": "impossible_age",
        "00/gone.jpg": "missing_file",
        "00/nobody.jpg": "no_person",
        "00/beyond.jpg": "no_person",
        "../out.jpg": "outside_folder",
        "00/low.jpg": "low_face_score",
        "imdb.mat entry 12": "no_path",
        "00/ok.jpg": "duplicate_row",
    }
    assert "celeb_id: 2 lead to no name" in notes(found)
    both = listed(tmp_path, faces="any")
    assert {item.source for item in photos(both)} == {"00/ok.jpg", "00/two.jpg", "00/low.jpg"}


def test_celeb_id_counts_from_one(tmp_path: Path):
    faces = [{"full_path": f"00/{n}.jpg", "celeb_id": n} for n in (1, 2)]
    assert [item.subject for item in photos(listed(files.imdb(tmp_path, faces)))] == [
        "fred-astaire",
        "lauren-bacall",
    ]


def test_namesakes_stay_apart(tmp_path: Path):
    faces = [{"full_path": f"00/{n}.jpg", "celeb_id": n} for n in (1, 2)]
    found = photos(listed(files.imdb(tmp_path, faces, ("Kim Lee", "Kim Lee"))))
    assert len({item.subject for item in found}) == 2


def test_wiki_has_no_celeb_id_and_full_photos_have_folders_of_their_own(tmp_path: Path):
    faces = [
        {"full_path": "17/10000217_1981-05-05_2009.jpg", "name": "Sami Jauhojärvi"},
        {"full_path": "17/10000218_1981-05-05_2009.jpg", "name": ""},
    ]
    files.mat(tmp_path / "wiki" / "wiki.mat", "wiki", faces)
    for face in faces:
        files.put(tmp_path / "wiki" / face["full_path"], "x")
    found = photos(listed(tmp_path, part="wiki", images="full"))
    assert [item.subject for item in found] == ["sami-jauhoj-rvi", "10000218"]
    with pytest.raises(DefinitionError, match="wiki_crop"):
        listed(tmp_path, part="wiki")
    inside = photos(listed(tmp_path / "wiki", part="wiki", images="full"))
    assert [item.subject for item in inside] == [item.subject for item in found]


@pytest.mark.parametrize(
    ("dob", "taken", "age"),
    [
        (files.day(1980, 6, 30), 2010, 30),
        (files.day(1980, 7, 1), 2010, 29),
        (files.day(1899, 5, 10), 1968, 69),
        (0, 2014, 2013),
        (31, 2015, 2014),
        (files.day(2041), 2010, -31),
        (float("nan"), 2010, None),
    ],
)
def test_an_age_is_that_of_the_middle_of_the_year(dob: float, taken: float, age: int | None):
    assert age_when_taken(dob, taken) == age


def test_matlab_days():
    assert files.day(2000, 1, 1) == 730486, "datenum(2000, 1, 1)"


def test_files_that_are_no_such_mat(tmp_path: Path):
    files.imdb(tmp_path, [{"full_path": "00/1.jpg"}])
    path = tmp_path / "imdb_crop" / "imdb.mat"
    whole = path.read_bytes()
    for data, message in (
        (b"MATLAB 5.0 MAT-file", "get it again"),
        (whole[: len(whole) // 2], "get it again"),
    ):
        path.write_bytes(data)
        with pytest.raises(DefinitionError, match=message):
            listed(tmp_path)
    savemat(path, {"imdb": {"dob": [1]}})
    with pytest.raises(DefinitionError, match="no field photo_taken, full_path"):
        listed(tmp_path)
    savemat(path, {"wiki": {"dob": [1]}})
    with pytest.raises(DefinitionError, match="no struct 'imdb'"):
        listed(tmp_path)
    path.unlink()
    with pytest.raises(DefinitionError, match="ETH Zurich"):
        listed(tmp_path)


def _flipped(whole: bytes) -> dict[str, bytes]:
    """Damage that raised what nobody caught, or ended the process."""
    damaged = {"zlib": whole[:-60] + bytes(60)}
    for seed in range(4):
        rng, data = random.Random(seed), bytearray(whole)
        for _ in range(20):
            data[rng.randrange(128, len(data))] = rng.randrange(256)
        damaged[f"bytes {seed}"] = bytes(data)
    return damaged


def test_a_damaged_file_is_an_error_and_not_the_end(tmp_path: Path):
    files.imdb(tmp_path, [{"full_path": f"00/{n}.jpg"} for n in range(40)])
    path = tmp_path / "imdb_crop" / "imdb.mat"
    for data in _flipped(path.read_bytes()).values():
        path.write_bytes(data)
        with pytest.raises(DefinitionError, match=r"the file is damaged, or no \.mat file: .*get it again"):
            listed(tmp_path)


def test_what_ends_the_reading_process_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = files.put(tmp_path / "imdb.mat", "x")
    monkeypatch.setattr(mat_files, "CHILD", "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)")
    with pytest.raises(DefinitionError, match="ended with signal 11; get it again"):
        mat_files.read_mat_apart(path, "imdb")


def _with(tmp_path: Path, **fields: Any) -> Path:
    """imdb.mat of two photos with other fields."""
    files.imdb(tmp_path, [{"full_path": f"00/{n}.jpg", "celeb_id": n} for n in (1, 2)])
    path = tmp_path / "imdb_crop" / "imdb.mat"
    held = loadmat(str(path))["imdb"][0, 0]
    struct = {name: held[name] for name in held.dtype.names} | fields
    savemat(path, {"imdb": {name: value for name, value in struct.items() if value is not None}})
    return tmp_path


@pytest.mark.parametrize(
    "name", ["gender", "dob", "photo_taken", "face_score", "second_face_score", "celeb_id"]
)
def test_text_where_numbers_are_needed_names_the_field(tmp_path: Path, name: str):
    root = _with(tmp_path, **{name: files.cells(["1", "male"])})
    with pytest.raises(DefinitionError, match=f"entry 2 of {name} is 'male', and must be a number") as caught:
        listed(root)
    assert caught.value.field == name


def test_numbers_in_cells_are_numbers(tmp_path: Path):
    row = np.empty((1, 2), object)
    row[0, :] = [np.array([[0.0]]), np.empty((0, 0))]
    found = photos(listed(_with(tmp_path, gender=row)))
    assert [item.groups.get("gender") for item in found] == ["female", None]


def test_without_celeb_names_the_name_of_each_photo_says_who_it_is(tmp_path: Path):
    root = _with(tmp_path, celeb_names=None, name=files.cells(["Ann Lee", "Bob Ray"]))
    assert [item.subject for item in photos(listed(root))] == ["ann-lee", "bob-ray"]
    assert reasons(listed(root)) == {}
