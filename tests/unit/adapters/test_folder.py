from __future__ import annotations

import os
from itertools import pairwise
from pathlib import Path

import pytest

from adapters.datasets.folder import FolderDataset
from adapters.datasets.source import SourcePhoto
from domain.errors import DefinitionError
from domain.photos import LeftOut


def write(root: Path, *names: str) -> None:
    for number, name in enumerate(names):
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"photo %d" % number)


def read(root: Path) -> list[SourcePhoto | LeftOut]:
    return list(FolderDataset(root).read())


def photos(root: Path) -> list[tuple[str, str, str]]:
    found = read(root)
    assert all(isinstance(item, SourcePhoto) for item in found)
    return [(item.source, item.subject, item.id) for item in found if isinstance(item, SourcePhoto)]


def test_folders_are_people_and_loose_files_are_too(tmp_path: Path):
    write(tmp_path, "Bea/2.jpg", "Bea/1.png", "anna.jpg", "Bea/more/3.jpg")
    assert photos(tmp_path) == [
        ("Bea/1.png", "bea", "bea-1"),
        ("Bea/2.jpg", "bea", "bea-2"),
        ("Bea/more/3.jpg", "bea", "bea-more-3"),
        ("anna.jpg", "anna", "anna.jpg"),
    ]


def test_the_bytes_and_the_licence_are_passed_on(tmp_path: Path):
    write(tmp_path, "a/1.jpg")
    [photo] = FolderDataset(tmp_path, licence="CC0-1.0").read()
    assert isinstance(photo, SourcePhoto)
    assert (photo.data, photo.licence, dict(photo.groups)) == (b"photo 0", "CC0-1.0", {})


@pytest.mark.parametrize(
    "names",
    [
        ("a/b.jpg", "a/b.png"),
        ("a/b-c.jpg", "a-b/c.jpg"),
        ("a/1.jpg", "a-1"),
        ("A/1.jpg", "a/1.jpg"),
        ("ä/1.jpg", "ö/1.jpg"),
        ("x/Zoë.jpg", "x/zo.jpg"),
        ("x/1 .jpg", "x/1.jpg"),
    ],
)
def test_files_whose_names_look_alike_keep_apart(tmp_path: Path, names: tuple[str, str]):
    write(tmp_path, *names)
    ids = [photo_id for _, _, photo_id in photos(tmp_path)]
    assert len(set(ids)) == 2


def test_people_whose_names_look_alike_keep_apart(tmp_path: Path):
    write(tmp_path, "Zoë/1.jpg", "Zo/1.jpg", "北京/1.jpg", "上海/1.jpg")
    assert len({subject for _, subject, _ in photos(tmp_path)}) == 4


@pytest.mark.parametrize(
    "names",
    [
        ("anna/1.jpg", "anna-2/1.jpg", "anna.jpg"),
        ("anna.jpg", "anna.k.jpg", "anna.png"),
        ("Anna/1.jpg", "Bea/1.jpg", "Anna/2/3.jpg"),
    ],
)
def test_the_photos_of_one_person_come_together(tmp_path: Path, names: tuple[str, ...]):
    write(tmp_path, *names)
    subjects = [subject for _, subject, _ in photos(tmp_path)]
    changes = sum(a != b for a, b in pairwise(subjects))
    assert changes == len(set(subjects)) - 1


def test_hidden_files_are_not_looked_at(tmp_path: Path):
    write(tmp_path, "a/1.jpg", ".DS_Store", "a/._1.jpg", ".git/x.jpg", "a/.thumbs/2.jpg")
    assert [source for source, _, _ in photos(tmp_path)] == ["a/1.jpg"]


def test_a_hidden_parent_does_not_matter(tmp_path: Path):
    write(tmp_path / ".photos", "a/1.jpg")
    assert len(photos(tmp_path / ".photos")) == 1


def test_every_file_is_tried_whatever_its_name(tmp_path: Path):
    write(tmp_path, "a/notes.txt", "a/noextension", "a/b.JPEG")
    assert len(photos(tmp_path)) == 3


def test_linked_people_and_photos_are_read(tmp_path: Path):
    write(tmp_path / "elsewhere", "1.jpg", "2.jpg")
    (tmp_path / "photos" / "bea").mkdir(parents=True)
    (tmp_path / "photos" / "anna").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "photos" / "bea" / "x.jpg").symlink_to(tmp_path / "elsewhere" / "1.jpg")
    assert [source for source, _, _ in photos(tmp_path / "photos")] == [
        "anna/1.jpg",
        "anna/2.jpg",
        "bea/x.jpg",
    ]


def test_a_link_to_a_folder_above_ends(tmp_path: Path):
    write(tmp_path, "anna/1.jpg")
    (tmp_path / "anna" / "again").symlink_to(tmp_path)
    assert [source for source, _, _ in photos(tmp_path)] == ["anna/1.jpg"]


def test_what_cannot_be_read_is_reported(tmp_path: Path):
    write(tmp_path, "a/1.jpg")
    (tmp_path / "a" / "2.jpg").symlink_to(tmp_path / "gone.jpg")
    os.mkfifo(tmp_path / "a" / "3.jpg")
    left = {item.source: (item.reason, item.detail) for item in read(tmp_path) if isinstance(item, LeftOut)}
    assert left == {
        "a/2.jpg": ("unreadable", "No such file or directory"),
        "a/3.jpg": ("unreadable", "not a file"),
    }


def test_a_huge_file_is_not_read(tmp_path: Path):
    write(tmp_path, "a/1.jpg")
    os.truncate(tmp_path / "a/1.jpg", 200_000_001)
    [item] = read(tmp_path)
    assert isinstance(item, LeftOut)
    assert (item.reason, item.detail) == ("too_large", "200000001 bytes")


def test_names_that_are_not_utf8_can_be_stored(tmp_path: Path):
    folder = tmp_path / os.fsdecode(b"\xff\xfe")
    try:
        folder.mkdir()
    except OSError:
        pytest.skip("this file system takes names in UTF-8 only")
    for name in (b"\xe9.jpg", b"\xe8.jpg"):
        (folder / os.fsdecode(name)).write_bytes(b"photo " + name)
    found = photos(tmp_path)
    assert [source for source, _, _ in found] == [r"\xff\xfe/\xe8.jpg", r"\xff\xfe/\xe9.jpg"]
    assert len({photo_id for _, _, photo_id in found}) == 2


def test_an_empty_folder(tmp_path: Path):
    assert read(tmp_path) == []


@pytest.mark.parametrize("name", ["absent", "file"])
def test_no_folder(tmp_path: Path, name: str):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(DefinitionError, match="is not a folder of photos") as caught:
        FolderDataset(tmp_path / name)
    assert caught.value.field == "images"
