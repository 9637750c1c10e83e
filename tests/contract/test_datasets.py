"""One set of laws for every dataset adapter. A new one is added to `DATASETS` and passes them all."""

from __future__ import annotations

import os
import tracemalloc
from collections.abc import Callable
from itertools import groupby
from pathlib import Path
from typing import get_args

import dataset_files as files
import pytest
from everyday_files import table

from adapters.datasets.about import ABOUT
from adapters.datasets.files import ListsFiles
from adapters.datasets.source import DatasetSource, SourcePhoto
from adapters.registry import DATASETS as REGISTERED
from adapters.registry import dataset_class
from domain.dataset_options import OPTIONS, PACKAGED, DatasetAdapter, dataset_options
from domain.photos import LeftOut, Photo

Build = Callable[[Path], Path]
"""Writes a small dataset with something that is left out; the path that a suite would name."""


def _folder(root: Path) -> Path:
    for name in ("b/1.jpg", "b/2.jpg", "a.jpg", "c/3.jpg"):
        files.put(root / name, name)
    (root / "c" / "gone.jpg").symlink_to(root / "nowhere")
    return root


def _celeba(root: Path) -> Path:
    files.celeba(root)
    (root / "img_align_celeba" / "000004.jpg").unlink()
    return root


def _imdb(root: Path) -> Path:
    faces = [{"full_path": f"{n:02d}/{n}.jpg", "celeb_id": 1 + n % 2, "no_file": n == 3} for n in range(5)]
    return files.imdb(root, faces)


def _manifest(root: Path) -> Path:
    path = files.manifest(root)
    (root / "b" / "2.jpg").unlink()
    return path


def _celebset(root: Path) -> Path:
    files.put(root / "celebset.csv", "image,identity,gender\n1.jpg,B,M\n2.jpg,A,F\n3.jpg,B,\n4.jpg,A,F\n")
    for name in ("1.jpg", "2.jpg", "3.jpg"):
        files.put(root / name, name)
    return root


def _everyday(root: Path) -> Path:
    for name in ("1.jpg", "2.jpg", "3.jpg"):
        files.put(root / name, name)
    return table(root, [{"file": f"{n}.jpg"} for n in range(1, 5)])


DATASETS: dict[DatasetAdapter, Build] = {
    "packaged_faces": lambda root: root,
    "folder": _folder,
    "manifest": _manifest,
    "celeba": _celeba,
    "imdb_wiki": _imdb,
    "celebset": _celebset,
    "london": files.london,
    "everyday_photos": _everyday,
    "packaged_everyday": lambda root: root,
}
FILES = [name for name in DATASETS if name not in PACKAGED]


def source(name: DatasetAdapter, root: Path) -> DatasetSource:
    return dataset_class(name).build(DATASETS[name](root), dataset_options(name, {}))


def outcome(item: SourcePhoto | LeftOut) -> tuple[object, ...]:
    if isinstance(item, LeftOut):
        return (item.source, item.reason, item.detail)
    return (
        item.id,
        item.subject,
        item.data,
        item.source,
        item.licence,
        tuple(item.groups.items()),
        item.role,
    )


def test_every_adapter_is_known_everywhere():
    assert set(DATASETS) == set(REGISTERED) == set(OPTIONS) == set(ABOUT) == set(get_args(DatasetAdapter))


@pytest.mark.parametrize("name", DATASETS)
def test_the_order_is_fixed(name: DatasetAdapter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path, options = DATASETS[name](tmp_path), dataset_options(name, {})
    first = [outcome(item) for item in dataset_class(name).build(path, options).read()]
    listdir, walk = os.listdir, os.walk
    monkeypatch.setattr(os, "listdir", lambda path: list(reversed(sorted(listdir(path)))))
    monkeypatch.setattr(os, "walk", lambda *a, **k: ((f, d, n[::-1]) for f, d, n in walk(*a, **k)))
    made = dataset_class(name).build(path, options)
    assert [outcome(item) for item in made.read()] == first
    assert [outcome(item) for item in made.read()] == first, "and again"


@pytest.mark.parametrize("name", DATASETS)
def test_subjects_are_together_and_ids_are_unique_and_storable(name: DatasetAdapter, tmp_path: Path):
    photos = [item for item in source(name, tmp_path).read() if isinstance(item, SourcePhoto)]
    assert len(photos) >= 3
    subjects = [subject for subject, _ in groupby(photos, key=lambda photo: photo.subject)]
    assert len(set(subjects)) == len(subjects) > 1
    assert len({photo.id for photo in photos}) == len(photos)
    for photo in photos:
        stored = {"image_sha256": "0" * 64, "extension": "jpg", "width": 1, "height": 1, "box": (0, 0, 1, 1)}
        fields = {"id": photo.id, "subject": photo.subject, "licence": photo.licence, "source": photo.source}
        assert Photo.model_validate(
            stored | fields | {"role": photo.role or "base", "groups": dict(photo.groups)}
        )
        assert all((photo.data, photo.licence, photo.source))
        assert all("=" not in group and value for group, value in photo.groups.items())


@pytest.mark.parametrize("name", FILES)
def test_what_is_left_out_is_said_with_a_stable_code(name: DatasetAdapter, tmp_path: Path):
    left = [item for item in source(name, tmp_path).read() if isinstance(item, LeftOut)]
    assert left
    assert all(
        item.reason.isidentifier() and item.reason == item.reason.lower() and item.detail for item in left
    )


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_vanishes_between_listing_and_reading_is_left_out(name: DatasetAdapter, tmp_path: Path):
    made = source(name, tmp_path)
    reading = made.read()
    seen = 0
    for item in reading:
        if isinstance(item, SourcePhoto) and not seen:
            seen = 1
            for path in tmp_path.rglob("*.jpg"):
                path.unlink()
        elif seen:
            assert isinstance(item, LeftOut)
            seen += item.reason == "unreadable"
    assert seen > 1


@pytest.mark.parametrize("name", FILES)
def test_listing_reads_no_photo(name: DatasetAdapter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    made = source(name, tmp_path)
    assert isinstance(made, ListsFiles)
    read: list[Path] = []
    monkeypatch.setattr(Path, "read_bytes", lambda path: read.append(path) or b"x")
    assert list(made.files())
    assert read == []
    list(made.read())
    assert read


@pytest.mark.parametrize("name", FILES)
def test_one_photo_at_a_time_is_in_memory(name: DatasetAdapter, tmp_path: Path):
    made = source(name, tmp_path)
    size = 4_000_000
    photos = [path for path in tmp_path.rglob("*.jpg") if path.is_file()]
    for path in photos:
        path.write_bytes(bytes(size))
    assert len(photos) >= 3
    next(made.read())
    tracemalloc.start()
    try:
        total = sum(len(item.data) for item in made.read() if isinstance(item, SourcePhoto))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert total >= 3 * size
    assert peak < 2.9 * size, "the one that is handed out and the next one"
