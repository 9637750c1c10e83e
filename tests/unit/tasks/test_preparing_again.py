"""Preparing the same photos again does nothing, and more photos cost only themselves."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from builders import encoded, noise
from fakes.remembering import RememberingEmbedder

from adapters.datasets.folder import FolderDataset
from adapters.datasets.source import SourcePhoto
from adapters.imaging.decode import VERSION, decode_rgb
from adapters.stores.local import LocalStore
from domain import keys
from domain.photos import Dataset
from tasks import preparing_photos
from tasks.preparing_pages import write_dataset

Prepare = Callable[..., Dataset]


@pytest.fixture
def folder(tmp_path: Path, faces: list[SourcePhoto]) -> Path:
    root = tmp_path / "photos"
    files = {
        "anna/1.png": faces[0].data,
        "anna/2.jpg": encoded(decode_rgb(faces[0].data), "JPEG", quality=90),
        "bea.png": faces[1].data,
        "cut.png": faces[2].data[:5000],
        "none.png": encoded(noise(64, 64)),
    }
    for name, data in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(data)
    return root


@pytest.fixture
def decoded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The contents that were decoded, by their sha256."""
    seen: list[str] = []
    for name in ("decode_with_facts", "decode_rgb"):
        real = getattr(preparing_photos, name)

        def noted(data: bytes, real: Callable[[bytes], object] = real) -> object:
            seen.append(keys.sha256(data))
            return real(data)

        monkeypatch.setattr(preparing_photos, name, noted)
    return seen


def objects(store: LocalStore) -> dict[str, tuple[int, int]]:
    """Every object with its size and time of writing."""
    found = (Path(top, name) for top, _, names in os.walk(store.root) for name in names)
    return {str(path): (path.stat().st_size, path.stat().st_mtime_ns) for path in found}


def test_the_same_photos_again(
    run_prepare: Prepare, folder: Path, photo_store: LocalStore, remembering: RememberingEmbedder, decoded
):
    first = write_dataset(run_prepare(FolderDataset(folder)), photo_store)
    assert len(decoded) == 7  # five files, one of which is mirrored: decoded for that, and its mirror image
    assert len(remembering.asked) == 5
    before = objects(photo_store)
    decoded.clear()
    remembering.asked.clear()
    assert write_dataset(run_prepare(FolderDataset(folder)), photo_store) == first
    assert objects(photo_store) == before
    assert (decoded, remembering.asked) == ([], [])


def test_a_photo_more_costs_itself_only(
    run_prepare: Prepare,
    folder: Path,
    photo_store: LocalStore,
    remembering: RememberingEmbedder,
    decoded: list[str],
    faces: list[SourcePhoto],
):
    first = run_prepare(FolderDataset(folder))
    key = write_dataset(first, photo_store)
    before = objects(photo_store)
    decoded.clear()
    remembering.asked.clear()
    copy = encoded(decode_rgb(faces[1].data), "WEBP", quality=90)
    (folder / "bea").mkdir()
    (folder / "bea.png").rename(folder / "bea" / "1.png")
    (folder / "bea" / "2.webp").write_bytes(copy)
    second = run_prepare(FolderDataset(folder))
    assert decoded == remembering.asked == [keys.sha256(copy)]
    assert [photo.id for photo in second.references("bea")] == ["bea-2"]  # it needs no mirror image any more
    assert write_dataset(second, photo_store) != key
    after = objects(photo_store)
    assert {name: after[name] for name in before} == before


def test_bytes_that_left_the_store_come_back(
    run_prepare: Prepare, folder: Path, photo_store: LocalStore, decoded: list[str]
):
    first = run_prepare(FolderDataset(folder))
    photo = first.by_id["anna-1"]
    photo_store.delete(keys.image(photo.image_sha256, photo.extension))
    decoded.clear()
    assert run_prepare(FolderDataset(folder)) == first
    assert photo_store.get(keys.image(photo.image_sha256, photo.extension)) is not None
    assert decoded == []


def test_what_is_unusable_is_remembered_and_its_bytes_are_not_kept(
    run_prepare: Prepare, folder: Path, photo_store: LocalStore
):
    run_prepare(FolderDataset(folder))
    sha = keys.sha256((folder / "cut.png").read_bytes())
    assert photo_store.get(keys.photo(VERSION, sha)) is not None
    assert photo_store.get(keys.image(sha, "png")) is None


def test_a_killed_preparation_goes_on(
    run_prepare: Prepare, folder: Path, remembering: RememberingEmbedder, monkeypatch: pytest.MonkeyPatch
):
    """What was read before the kill is not read again."""
    real, calls = remembering.read, list[int]()

    def read(images: list[bytes]) -> object:
        calls.append(len(images))
        if len(calls) > 1:
            raise KeyboardInterrupt
        return real(images)

    with monkeypatch.context() as patch:
        patch.setattr("tasks.preparing.BATCH", 1)
        patch.setattr(remembering, "read", read)
        with pytest.raises(KeyboardInterrupt):
            run_prepare(FolderDataset(folder))
    done = list(remembering.asked)
    assert len(done) == 1
    remembering.asked.clear()
    run_prepare(FolderDataset(folder))
    assert not set(done) & set(remembering.asked)
