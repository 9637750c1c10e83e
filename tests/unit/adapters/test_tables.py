"""Tables that are none, or nearly: what is said of them names the line and what to do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import dataset_files as files
import pytest

from adapters.datasets.celebset import CelebsetDataset
from adapters.datasets.files import FoundPhoto, Listed, Note
from adapters.datasets.manifest import ManifestDataset
from domain.dataset_options import CelebsetOptions, ManifestOptions
from domain.errors import DefinitionError
from domain.photos import LeftOut


def listed(path: Path, **options: Any) -> list[Listed]:
    return list(ManifestDataset.build(path, ManifestOptions.model_validate(options)).files())


def refused(path: Path, **options: Any) -> DefinitionError:
    with pytest.raises(DefinitionError) as caught:
        listed(path, **options)
    return caught.value


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ('[{"image": "1.jpg", "person": "A"}]', 1, "not an object of columns"),
        ('{\n  "image": "1.jpg",\n  "person": "A"\n}\n', 1, "not JSON"),
        ("\nimage,person\n1.jpg,A\n", 2, "not JSON"),
        ("", None, "the table is empty"),
        ("\n  \n", None, "the table is empty"),
        ("{}\n", None, "the table is empty"),
    ],
)
def test_a_jsonl_file_that_is_none(tmp_path: Path, text: str, line: int | None, said: str):
    error = refused(files.put(tmp_path / "t.jsonl", text))
    assert (error.line, said in error.message) == (line, True)


@pytest.mark.parametrize(
    ("name", "data", "line", "said"),
    [
        ("t.csv", b"image;person\n1.jpg;A\n", 1, "separated by ';'; a .csv file needs ','"),
        ("t.csv", b"image\tperson\n", 1, "separated by '\\\\t'; a .csv file needs ','"),
        ("t.tsv", b"image,person\n", 1, "separated by ','; a .tsv file needs a tab"),
        ("t.csv", b"image,person\n1.jpg,A\n2.jpg,Ren\xe9\n", 3, "not UTF-8; save it as UTF-8"),
        ("t.csv", "image,person\n".encode("utf-16"), 1, "not UTF-8; save it as UTF-8"),
        ("t.jsonl", b'{"image": "1.jpg", "person": "A"}\n{"image": "\xe9"}\n', 2, "save it as UTF-8"),
        ("t.csv", b'image,person\n1.jpg,A\n2.jpg,"B\n3.jpg,C\n', 3, "a quote is opened and not closed"),
        ("t.csv", b'image,person\n1.jpg,"A"x\n', 2, "text follows a closing quote"),
        ("t.csv", b"image,person\n1.jpg,A\n" + b"x" * 200_000 + b",B\n", 3, "longer than 131,072 characters"),
    ],
)
def test_a_csv_file_that_cannot_be_read(tmp_path: Path, name: str, data: bytes, line: int, said: str):
    error = refused(files.put(tmp_path / name, data), spellings={})
    assert (error.line, error.file) == (line, str(tmp_path / name))
    assert said.replace("\\\\", "\\") in error.message


def test_a_table_without_rows_is_noted(tmp_path: Path):
    path = files.put(tmp_path / "t.csv", "image,person\n")
    assert [item.text for item in listed(path) if isinstance(item, Note)] == ["t.csv has no rows"]


@pytest.mark.parametrize(
    ("options", "field", "said"),
    [
        (
            {"columns": {"persn": "person"}},
            "columns.persn",
            "calls the column 'person' 'persn', so that none is",
        ),
        ({"spellings": {"sknn": {"L": "light"}}}, "spellings.sknn", "'sknn', which is no label of the table"),
        ({"spellings": {"role": {"b": "base"}}}, "spellings.role", "'role', which is no label"),
        ({"spellings": {"person": {"a": "b"}}}, "spellings.person", "'person', which is no label"),
        (
            {"spellings": {"skin": {"L": "light"}}, "groups": []},
            "spellings.skin",
            "'skin', which is no label",
        ),
    ],
)
def test_options_that_would_mean_nothing(tmp_path: Path, options: dict[str, Any], field: str, said: str):
    error = refused(files.put(tmp_path / "t.csv", "image,person,skin\n1.jpg,A,L\n"), **options)
    assert (error.field, said in error.message) == (f"dataset.options.{field}", True)


def test_a_column_that_is_named_wins_over_one_of_that_name(tmp_path: Path):
    path = files.put(tmp_path / "t.csv", "image,who,person\n1.jpg,A,B\n")
    files.put(tmp_path / "1.jpg", "x")
    found = listed(path, columns={"person": "who"})
    assert [item.subject for item in found if isinstance(item, FoundPhoto)] == ["a"]
    assert [item.text for item in found if isinstance(item, Note)] == ["columns not used: person"]
    with pytest.raises(ValueError, match="'who' is called both 'person' and 'name'"):
        listed(path, columns={"person": "who", "name": "who"})


def test_celebset_may_lack_what_it_usually_has_and_no_more(tmp_path: Path):
    files.put(tmp_path / "celebset.csv", "image,identity\n1.jpg,A\n")
    files.put(tmp_path / "1.jpg", "x")
    assert len(list(CelebsetDataset(tmp_path, CelebsetOptions()).files())) == 1
    with pytest.raises(DefinitionError, match="'tone', which is no label"):
        CelebsetDataset(tmp_path, CelebsetOptions(spellings={"tone": {"L": "light"}}))


def test_a_link_that_leads_out_of_the_folder_is_not_followed(tmp_path: Path):
    root = tmp_path / "here"
    files.put(tmp_path / "out" / "1.jpg", "x")
    files.put(root / "in" / "1.jpg", "x")
    (root / "file.jpg").symlink_to(tmp_path / "out" / "1.jpg")
    (root / "folder").symlink_to(tmp_path / "out")
    (root / "inside.jpg").symlink_to(root / "in" / "1.jpg")
    rows = "file.jpg,A\nfolder/1.jpg,A\ninside.jpg,A\nin/1.jpg,B\n"
    files.put(root / "t.csv", f"image,person\n{rows}")
    (tmp_path / "link").symlink_to(root)
    for place in (root, tmp_path / "link"):
        found = listed(place / "t.csv")
        assert [item.source for item in found if isinstance(item, FoundPhoto)] == ["inside.jpg", "in/1.jpg"]
        assert [(item.source, item.reason) for item in found if isinstance(item, LeftOut)] == [
            ("t.csv:2", "outside_folder"), ("t.csv:3", "outside_folder"),
        ]  # fmt: skip


def test_a_long_value_is_shown_by_its_beginning(tmp_path: Path):
    path = files.put(tmp_path / "t.csv", f"image,person,skin\n1.jpg,A,{'x' * 100_000}\n")
    assert len(str(refused(path, spellings={"skin": {"L": "light"}}))) < 500
