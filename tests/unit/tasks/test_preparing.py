from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from builders import encoded, noise

from adapters.datasets.folder import FolderDataset
from adapters.datasets.packaged_faces import PICTURES, PackagedFaces, picture_bytes
from adapters.datasets.source import SourcePhoto
from adapters.embedders.insightface import identity_of
from adapters.imaging.decode import decode_rgb
from adapters.stores.local import LocalStore
from domain import keys
from domain.errors import DefinitionError
from domain.photos import Dataset, LeftOut
from domain.suites import FacePack
from tasks import ledger

Prepare = Callable[..., Dataset]


@pytest.fixture
def photos(tmp_path: Path, faces: list[SourcePhoto]) -> Path:
    """A folder as people have it."""
    root = tmp_path / "photos"
    jpeg = encoded(decode_rgb(faces[0].data), "JPEG", quality=90)
    files = {
        "anna/1.png": faces[0].data,
        "anna/2.jpg": jpeg,
        "anna/3.txt": b"a note",
        "anna/4.jpg": jpeg[: len(jpeg) // 2],
        "anna/5.webp": encoded(decode_rgb(faces[0].data), "WEBP", quality=80),
        "anna/.hidden.png": faces[1].data,
        "Zoë/1.png": faces[1].data,
        "zo/1.png": faces[2].data,
        "bea/deep/inside/1.png": faces[3].data,
        "bea/deep/2.png": encoded(noise(300, 300)),
        "bea/group.jpg": picture_bytes(PICTURES[0]),
        "copy/1.png": faces[3].data,
        "carla.png": faces[4].data,
        "empty.jpg": b"",
        "page.jpg": b"<html>404</html>",
    }
    for name, data in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(data)
    (root / "anna" / "1-gone.png").symlink_to(root / "nowhere")
    return root


def test_the_usable_ones_are_prepared_and_every_other_is_named(
    run_prepare: Prepare, photos: Path, photo_store: LocalStore
):
    found = run_prepare(FolderDataset(photos))
    roles = {photo.source: (photo.role, photo.subject) for photo in found.photos}
    zoe, zo = roles["Zoë/1.png"][1], roles["zo/1.png"][1]
    assert zoe != zo
    assert roles == {
        "anna/1.png": ("base", "anna"),
        "anna/2.jpg": ("reference", "anna"),
        "anna/5.webp": ("reference", "anna"),
        "Zoë/1.png": ("base", zoe),
        "Zoë/1.png (mirrored)": ("reference", zoe),
        "zo/1.png": ("base", zo),
        "zo/1.png (mirrored)": ("reference", zo),
        "bea/deep/inside/1.png": ("base", "bea"),
        "bea/deep/inside/1.png (mirrored)": ("reference", "bea"),
        "carla.png": ("base", "carla"),
        "carla.png (mirrored)": ("reference", "carla"),
    }
    assert {item.source: item.reason for item in found.left_out} == {
        "anna/1-gone.png": "unreadable",
        "anna/3.txt": "not_an_image",
        "anna/4.jpg": "truncated",
        "bea/deep/2.png": "no_face",
        "bea/group.jpg": "several_faces",
        "copy/1.png": "duplicate",
        "empty.jpg": "empty",
        "page.jpg": "not_an_image",
    }
    assert {item.detail for item in found.left_out if item.reason == "several_faces"} == {
        "6 faces found, exactly one is needed"
    }
    files = {p.relative_to(photos).as_posix() for p in photos.rglob("*") if not p.is_dir()} - {
        "anna/.hidden.png"
    }
    kept = {photo.source for photo in found.photos if not photo.derived_from}
    assert kept | {item.source for item in found.left_out} == files
    assert len(kept) + len(found.left_out) == len(files)


def test_every_photo_and_its_reading_are_in_the_store(
    run_prepare: Prepare, photos: Path, photo_store: LocalStore, face_pack: FacePack
):
    found = run_prepare(FolderDataset(photos))
    embedder = keys.fingerprint(identity_of(face_pack))
    assert found.embedder_fingerprint == embedder
    for photo in found.photos:
        data = ledger.read_image(photo_store, photo.image_sha256, photo.extension)
        height, width = decode_rgb(data).shape[:2]
        assert (photo.width, photo.height) == (width, height)
        record = ledger.faces(photo_store, embedder, photo.image_sha256)
        assert record is not None
        assert record.reading.faces[0].box == photo.box
        if not photo.derived_from:
            assert data == (photos / photo.source).read_bytes()


def test_a_file_that_cannot_be_read_does_not_part_a_subject(run_prepare: Prepare, faces: list[SourcePhoto]):
    class Source:
        def read(self) -> Iterator[SourcePhoto | LeftOut]:
            jpeg = encoded(decode_rgb(faces[0].data), "JPEG", quality=90)
            yield LeftOut(source="a/0", reason="unreadable", detail="no")
            yield SourcePhoto("a-1", "a", faces[0].data, "a/1", "x")
            yield LeftOut(source="a/2", reason="unreadable", detail="no")
            yield SourcePhoto("a-3", "a", jpeg, "a/3", "x")

    found = run_prepare(Source())
    assert [(photo.id, photo.role) for photo in found.photos] == [("a-1", "base"), ("a-3", "reference")]
    assert [item.source for item in found.left_out] == ["a/0", "a/2"]


def test_a_mirror_image_is_marked_as_derived(
    run_prepare: Prepare, faces: list[SourcePhoto], photo_store: LocalStore
):
    found = run_prepare(PackagedFaces())
    assert len(found.photos) == 14
    mirrored = found.by_id["astronaut-mirrored"]
    assert mirrored.derived_from == "astronaut"
    pixels = decode_rgb(ledger.read_image(photo_store, mirrored.image_sha256, mirrored.extension))
    assert np.array_equal(pixels, decode_rgb(faces[6].data)[:, ::-1])


@pytest.mark.parametrize(
    ("files", "reasons"),
    [
        ({}, "it is empty"),
        (
            {"a.txt": b"x", "b.txt": b"y", "c.jpg": b""},
            "1 × empty, 2 × not_an_image (a.txt: not_an_image; b.txt: not_an_image; c.jpg: empty)",
        ),
        (
            {"a.png": encoded(noise(200, 200)), "b.png": encoded(noise(200, 200, 1))},
            "2 × no_face (a.png: no_face; b.png: no_face)",
        ),
    ],
)
def test_nothing_usable_counts_the_reasons(
    run_prepare: Prepare, tmp_path: Path, files: dict[str, bytes], reasons: str
):
    (tmp_path / "photos").mkdir()
    for name, data in files.items():
        (tmp_path / "photos" / name).write_bytes(data)
    with pytest.raises(DefinitionError, match="no photo of 'mine' can be used") as caught:
        run_prepare(FolderDataset(tmp_path / "photos"))
    assert caught.value.message.endswith(f"can be used: {reasons}")


class TestTheLeastFss0:
    @pytest.fixture
    def mixed(self, tmp_path: Path, faces: list[SourcePhoto]) -> Path:
        """`same` has two photos of one person, `mixed` of two people, `alone` a single one."""
        root = tmp_path / "photos"
        files = {
            "alone/1.png": faces[4].data,
            "mixed/1.png": faces[2].data,
            "mixed/2.png": faces[3].data,
            "same/1.png": faces[0].data,
            "same/2.jpg": encoded(decode_rgb(faces[0].data), "JPEG", quality=90),
        }
        for name, data in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_bytes(data)
        return root

    def test_zero_keeps_all(self, run_prepare: Prepare, mixed: Path):
        found = run_prepare(FolderDataset(mixed), min_fss0=0.0)
        assert keys.fingerprint(found) == keys.fingerprint(run_prepare(FolderDataset(mixed)))
        assert [photo.id for photo in found.base] == ["alone-1", "mixed-1", "same-1"]
        assert found.left_out == ()

    def test_a_base_photo_below_is_left_out_with_its_value(self, run_prepare: Prepare, mixed: Path):
        found = run_prepare(FolderDataset(mixed), min_fss0=0.5)
        assert [photo.id for photo in found.base] == ["alone-1", "same-1"]
        [left] = found.left_out
        assert (left.source, left.reason) == ("mixed/1.png", "fss0_below_threshold")
        value = float(left.detail.removeprefix("FSS₀ is ").partition(",")[0])
        assert -0.2 < value < 0.35
        assert left.detail.endswith(", at least 0.5 is needed")
        assert [photo.id for photo in found.references("mixed")] == ["mixed-2"]

    def test_a_mirror_image_goes_with_its_photo(self, run_prepare: Prepare, mixed: Path):
        found = run_prepare(FolderDataset(mixed), min_fss0=0.99)
        assert Counter(item.reason for item in found.left_out) == {"fss0_below_threshold": 2}
        assert [photo.id for photo in found.base] == ["same-1"]
        assert not any(photo.derived_from for photo in found.photos)

    def test_nobody_left_is_said(self, run_prepare: Prepare, mixed: Path):
        with pytest.raises(DefinitionError, match="3 × fss0_below_threshold"):
            run_prepare(FolderDataset(mixed), min_fss0=1.0)
