"""Tables of photos in three forms, and CelebSET's list, which is one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import dataset_files as files
import polars as pl
import pytest

from adapters.datasets.celebset import CelebsetDataset
from adapters.datasets.files import FoundPhoto, Listed, Note
from adapters.datasets.manifest import ManifestDataset
from adapters.datasets.source import SourcePhoto
from domain.dataset_options import CelebsetOptions, ManifestOptions
from domain.errors import DefinitionError
from domain.photos import LeftOut

KINDS = ("csv", "parquet", "jsonl")


def listed(path: Path, **options: Any) -> list[Listed]:
    return list(ManifestDataset.build(path, ManifestOptions.model_validate(options)).files())


def photos(found: list[Listed]) -> list[FoundPhoto]:
    return [item for item in found if isinstance(item, FoundPhoto)]


def left_out(found: list[Listed]) -> list[tuple[str, str]]:
    return [(item.source, item.reason) for item in found if isinstance(item, LeftOut)]


@pytest.mark.parametrize("kind", KINDS)
def test_three_forms_say_the_same(tmp_path: Path, kind: str):
    found = photos(listed(files.manifest(tmp_path, kind)))
    assert [(item.id, item.subject, item.role, dict(item.groups), item.licence) for item in found] == [
        ("a-1", "ann", "base", {"age": "55", "fitzpatrick": "V"}, "CC0-1.0"),
        ("a-2", "ann", None, {}, "CC0-1.0"),
        ("b-1", "bea", "base", {"age": "27", "fitzpatrick": "III"}, "CC0-1.0"),
        ("b-2", "bea", "reference", {"age": "27", "fitzpatrick": "III"}, "not stated in the table"),
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_faults_of_rows_name_file_and_line(tmp_path: Path, kind: str):
    rows: list[dict[str, Any]] = [
        {"image": "ok.jpg", "person": "A", "role": "Base"},
        {"image": "../out.jpg", "person": "A", "role": ""},
        {"image": "/etc/hostname", "person": "A", "role": ""},
        {"image": "https://example.org/a.jpg", "person": "A", "role": ""},
        {"image": "gone.jpg", "person": "A", "role": ""},
        {"image": "ok.jpg", "person": "A", "role": ""},
        {"image": "ok2.jpg", "person": "unknown", "role": ""},
        {"image": "ok2.jpg", "person": "A", "role": "refrence"},
        {"image": None, "person": "A", "role": ""},
        {"image": "sub/../ok.jpg", "person": "A", "role": ""},
        {"image": ".", "person": "A", "role": ""},
        {"image": "folder", "person": "A", "role": ""},
    ]
    path = files.manifest(tmp_path, kind, rows, photos=False)
    (tmp_path / "folder").mkdir()
    for name in ("ok.jpg", "ok2.jpg"):
        files.put(tmp_path / name, name)
    found = listed(path)
    first = 2 if kind == "csv" else 1
    assert [(item.source, item.role) for item in photos(found)] == [("ok.jpg", "base")]
    assert sorted(left_out(found), key=lambda pair: int(pair[0].rpartition(":")[2])) == [
        (f"photos.{kind}:{first + number}", reason)
        for number, reason in enumerate(
            (
                "outside_folder", "outside_folder", "remote_url", "missing_file", "duplicate_row",
                "no_person", "unknown_role", "malformed_row", "duplicate_row", "outside_folder", "unreadable",
            ),
            start=1,
        )
    ]  # fmt: skip
    [remote] = [item for item in found if isinstance(item, LeftOut) and item.reason == "remote_url"]
    assert "never downloaded" in remote.detail


def test_a_csv_keeps_its_line_numbers(tmp_path: Path):
    text = '\ufeffimage,person,note\r\nok.jpg,A,"two\r\nlines"\r\n\r\n,,\r\nshort.jpg\r\nlong.jpg,A,x,y\r\n'
    path = files.put(tmp_path / "photos.csv", text)
    files.put(tmp_path / "ok.jpg", "x")
    found = listed(path)
    assert [dict(item.groups) for item in photos(found)] == [{"note": "two\r\nlines"}]
    assert left_out(found) == [("photos.csv:6", "malformed_row"), ("photos.csv:7", "malformed_row")]


def test_jsonl_rows_that_are_none(tmp_path: Path):
    rows = [
        '{"image": "ok.jpg", "person": "A", "tags": ["x"]}',
        "{",
        "[]",
        '{"image": "ok.jpg", "person": 7, "is": true}',
        r'{"image": "\ud800.jpg", "person": 7}',
    ]
    path = files.put(tmp_path / "photos.jsonl", "\n".join(rows))
    files.put(tmp_path / "ok.jpg", "x")
    found = listed(path)
    assert [(item.subject, dict(item.groups)) for item in photos(found)] == [("7", {"is": "true"})]
    assert sorted(left_out(found)) == [
        *((f"photos.jsonl:{n}", "malformed_row") for n in (1, 2, 3)),
        ("photos.jsonl:5", "missing_file"),
    ]
    assert all(item.model_dump_json() for item in found if isinstance(item, LeftOut)), "it can be stored"


def test_a_column_name_that_is_no_utf8_can_be_stored_and_printed(tmp_path: Path):
    path = files.put(
        tmp_path / "photos.jsonl", r'{"image": "ok.jpg", "person": "A", "a\ud800": "x", "b\ud800": [1]}'
    )
    files.put(tmp_path / "ok.jpg", "x")
    [item] = [item for item in listed(path) if isinstance(item, LeftOut)]
    assert item.detail == "b\\ud800 is not one value"
    path.write_text(r'{"image": "ok.jpg", "person": "A", "a\ud800": "x"}')
    [photo] = photos(listed(path))
    assert photo.groups == {"a\\ud800": "x"}
    notes = [item.text for item in listed(path, groups=[]) if isinstance(item, Note)]
    assert notes == ["columns not used: a\\ud800"]


def test_parquet_numbers_are_text_as_in_csv(tmp_path: Path):
    frame = pl.DataFrame({"image": ["ok.jpg"], "person": [1], "age": [20.0], "monk": [3], "score": [0.25]})
    frame.write_parquet(tmp_path / "t.parquet")
    files.put(tmp_path / "ok.jpg", "x")
    [photo] = photos(listed(tmp_path / "t.parquet"))
    assert photo.groups == {"age": "20", "monk": "3", "score": "0.25"}


def test_columns_can_be_renamed_chosen_and_respelt(tmp_path: Path):
    path = files.put(
        tmp_path / "t.csv", "file,who,sex,alter,etc\n1.jpg,A,w,20,x\n2.jpg,A,,,\n3.jpg,A,Female,30,y\n"
    )
    for number in (1, 2, 3):
        files.put(tmp_path / f"{number}.jpg", "x")
    options = {
        "columns": {"image": "file", "person": "who", "gender": "sex"},
        "groups": ["gender", "alter"],
        "spellings": {"gender": {"w": "female", "m": "male"}},
        "licence": "CC BY 4.0",
    }
    found = listed(path, **options)
    assert [dict(item.groups) for item in photos(found)] == [
        {"gender": "female", "alter": "20"}, {}, {"gender": "female", "alter": "30"},
    ]  # fmt: skip
    assert {item.licence for item in photos(found)} == {"CC BY 4.0"}
    assert [item.text for item in found if isinstance(item, Note)] == ["columns not used: etc"]


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("image,who\n", {}, "no column 'person'.*allowed: image, who"),
        ("image,person\n", {"groups": ["age"]}, "t.csv:1: the table has no column 'age'.*options.groups"),
        ("image,person\n", {"columns": {"age": "alter"}}, "no column 'alter'.*options.columns.age"),
        ("image,person,image\n", {}, "columns named twice: image"),
        ("image,person,a=b\n", {}, "'a=b' cannot name a column of groups"),
        ("image,person,all\n", {}, "'all' cannot name a column of groups"),
        ("image,person,\n", {}, "'' cannot name a column of groups"),
        ('image,person\n"open', {}, "cannot be read"),
        ("", {}, r"t\.csv: the table is empty"),
        (" \n\n", {}, r"t\.csv: the table is empty"),
        (
            "image,person,skin\n1.jpg,A,L\n1.jpg,A,Lihgt\n1.jpg,A,\n",
            {"spellings": {"skin": {"L": "light"}}},
            r"t.csv:3: column 'skin' holds 'Lihgt' \(line 3\).*allowed: light, l",
        ),
    ],
)
def test_a_fault_of_the_table_is_an_error(tmp_path: Path, text: str, options: dict[str, Any], message: str):
    path = files.put(tmp_path / "t.csv", text)
    with pytest.raises(DefinitionError, match=message):
        listed(path, **options)


def test_other_files_are_no_tables(tmp_path: Path):
    with pytest.raises(DefinitionError, match=r"'t\.xlsx' is no table.*\.csv"):
        listed(files.put(tmp_path / "t.xlsx", "x"))
    with pytest.raises(DefinitionError, match="cannot be read"):
        listed(files.put(tmp_path / "t.parquet", "x"))


def test_two_names_never_share_an_id(tmp_path: Path):
    rows = [
        {"image": name, "person": who}
        for name, who in (("a b.jpg", "X y"), ("a-b.jpg", "x-y"), ("a b.png", "X y"))
    ]
    found = photos(listed(files.manifest(tmp_path, "csv", rows)))
    assert len({item.id for item in found}) == 3
    assert len({item.subject for item in found}) == 2


LIST = """image,identity,gender,skin,age,smile,role
01/a.jpg,Ann,F,D,55,1,base
01/b.jpg,Ann,f,,,0,reference
02/c.jpg,Bob,Male,light,25,,
"""


def test_celebset_is_a_list_over_imdb_wiki(tmp_path: Path):
    files.put(tmp_path / "celebset.csv", LIST)
    for name in ("01/a.jpg", "01/b.jpg", "02/c.jpg"):
        files.put(tmp_path / "imdb_crop" / name, name)
    source = CelebsetDataset(tmp_path, CelebsetOptions(images="imdb_crop"))
    found = [item for item in source.read() if isinstance(item, SourcePhoto)]
    assert [(item.subject, item.role, dict(item.groups), item.data) for item in found] == [
        ("ann", "base", {"gender": "female", "skin": "dark", "age": "55", "smile": "yes"}, b"01/a.jpg"),
        ("ann", "reference", {"gender": "female", "smile": "no"}, b"01/b.jpg"),
        ("bob", None, {"gender": "male", "skin": "light", "age": "25"}, b"02/c.jpg"),
    ]
    with pytest.raises(DefinitionError, match=r"celebset\.csv.*No public download"):
        CelebsetDataset(tmp_path / "imdb_crop", CelebsetOptions())
    with pytest.raises(DefinitionError, match=r"options.images"):
        CelebsetDataset(tmp_path, CelebsetOptions(images="wiki_crop"))


def test_celebset_takes_the_names_that_a_list_has(tmp_path: Path):
    text = LIST.replace("identity", "who").replace("skin", "tone").replace(",D,", ",V,").replace("light", "I")
    files.put(tmp_path / "mine.csv", text)
    for name in ("01/a.jpg", "01/b.jpg", "02/c.jpg"):
        files.put(tmp_path / name, name)
    options = CelebsetOptions.model_validate(
        {
            "manifest": "mine.csv",
            "columns": {"person": "who", "skin": "tone"},
            "spellings": {"skin": {"V": "dark", "I": "light"}},
        }
    )
    found = [item for item in CelebsetDataset(tmp_path, options).files() if isinstance(item, FoundPhoto)]
    assert [item.groups.get("skin") for item in found] == ["dark", None, "light"]
    assert [item.groups["gender"] for item in found] == ["female", "female", "male"], "defaults stay"
