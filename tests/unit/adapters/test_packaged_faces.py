from __future__ import annotations

from pathlib import Path

import pytest

from adapters.datasets import packaged_faces
from adapters.datasets.packaged_faces import PackagedFaces
from adapters.datasets.source import SourcePhoto
from adapters.embedders.insightface import InsightFaceEmbedder
from adapters.imaging.decode import inspect_image
from domain.errors import DefinitionError


def test_seven_photos_with_exactly_one_face_each(faces: list[SourcePhoto], embedder: InsightFaceEmbedder):
    assert [photo.subject for photo in faces] == [*(f"group-{n}" for n in range(1, 7)), "astronaut"]
    assert [len(reading.faces) for reading in embedder.read([photo.data for photo in faces])] == [1] * 7
    assert all(inspect_image(photo.data).width == 384 for photo in faces)
    assert all(photo.licence and photo.source and not photo.groups for photo in faces)


def test_the_same_bytes_each_time(faces: list[SourcePhoto]):
    assert [photo.data for photo in PackagedFaces().read() if isinstance(photo, SourcePhoto)] == [
        photo.data for photo in faces
    ]


def test_another_version_of_the_package_is_noticed(monkeypatch: pytest.MonkeyPatch):
    picture = packaged_faces.PICTURES[1]
    changed = packaged_faces.Picture(picture.package, picture.path, "0" * 64, "x", picture.cuts)
    monkeypatch.setattr(packaged_faces, "PICTURES", (changed,))
    with pytest.raises(DefinitionError, match="is not the picture that was cut; install the locked version"):
        list(PackagedFaces().read())


def test_a_package_that_is_not_installed(monkeypatch: pytest.MonkeyPatch):
    gone = packaged_faces.Picture("no_such_package_here", "x.png", "0" * 64, "x", ())
    monkeypatch.setattr(packaged_faces, "PICTURES", (gone,))
    with pytest.raises(DefinitionError, match="'no_such_package_here' is not installed"):
        list(PackagedFaces().read())


def test_a_picture_that_the_package_no_longer_has(monkeypatch: pytest.MonkeyPatch):
    gone = packaged_faces.Picture("skimage", "data/no_such.png", "0" * 64, "x", ())
    monkeypatch.setattr(packaged_faces, "PICTURES", (gone,))
    with pytest.raises(DefinitionError, match=r"data/no_such.png of the installed skimage cannot be read"):
        list(PackagedFaces().read())


def test_nothing_is_copied_into_the_project():
    root = Path(packaged_faces.__file__).parents[2]
    assert not [p for room in ("adapters", "domain", "tests") for p in (root / room).rglob("*.jpg")]
