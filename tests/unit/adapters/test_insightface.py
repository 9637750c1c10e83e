from __future__ import annotations

import base64
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from builders import encoded, noise
from PIL import Image

from adapters.datasets.packaged_faces import PICTURES, picture_bytes
from adapters.datasets.source import SourcePhoto
from adapters.embedders.insightface import InsightFaceEmbedder, identity_of
from adapters.imaging.decode import decode_rgb
from domain.keys import fingerprint
from domain.loading import load
from domain.records import FaceReading
from domain.suites import FacePack


def vector(reading: FaceReading, face: int = 0) -> np.ndarray:
    return np.frombuffer(base64.b64decode(reading.faces[face].embedding), "<f4")


def cosine(a: FaceReading, b: FaceReading) -> float:
    return float(vector(a).astype(float) @ vector(b).astype(float))


@pytest.fixture(scope="module")
def group() -> bytes:
    """The group photo that insightface ships for its own smoke test."""
    return picture_bytes(PICTURES[0])


@pytest.fixture(scope="module")
def readings(embedder: InsightFaceEmbedder, faces: list[SourcePhoto]) -> list[FaceReading]:
    return embedder.read([photo.data for photo in faces])


def test_seven_people_with_one_face_each(readings: list[FaceReading]):
    assert [len(reading.faces) for reading in readings] == [1] * 7
    assert {reading.rung for reading in readings} == {"320"}
    assert max(cosine(a, b) for a, b in combinations(readings, 2)) < 0.35


def test_a_photo_is_the_same_as_itself(embedder: InsightFaceEmbedder, faces: list[SourcePhoto], readings):
    again = embedder.read([faces[0].data])[0]
    assert again == readings[0]
    assert cosine(again, readings[0]) == pytest.approx(1, abs=1e-5)


def test_a_reading_does_not_depend_on_what_else_is_in_its_batch(
    embedder: InsightFaceEmbedder, faces: list[SourcePhoto], readings: list[FaceReading], group: bytes
):
    images = [photo.data for photo in faces]
    alone = [embedder.read([image])[0] for image in images]
    assert alone == readings
    assert embedder.read(images[::-1])[::-1] == alone
    for size in (2, 3, 5):
        assert embedder.read(images[:size]) == alone[:size]
    mixed = embedder.read([group, images[0], b"no image", encoded(noise(64, 64)), images[1]])
    assert mixed[1] == alone[0]
    assert mixed[4] == alone[1]
    assert mixed[0] == embedder.read([group])[0]
    assert embedder.read(images * 3) == alone * 3


def test_the_faces_of_a_group_are_the_people_cut_out_of_it(
    embedder: InsightFaceEmbedder, readings: list[FaceReading], group: bytes
):
    reading = embedder.read([group])[0]
    assert len(reading.faces) == 6
    areas = [(x2 - x1) * (y2 - y1) for x1, y1, x2, y2 in (face.box for face in reading.faces)]
    assert areas == sorted(areas, reverse=True)
    alike = np.array([[vector(reading, k) @ vector(cut) for cut in readings[:6]] for k in range(6)])
    for face, person in zip(reading.faces, alike.argmax(1), strict=True):
        (left, top, right, bottom), (x1, y1, x2, y2) = PICTURES[0].cuts[person][1], face.box
        assert left <= (x1 + x2) / 2 <= right
        assert top <= (y1 + y2) / 2 <= bottom
    assert sorted(alike.argmax(1)) == list(range(6))
    assert alike.max(1).min() > 0.6


@pytest.mark.parametrize(
    ("form", "options"),
    [
        ("JPEG", {"quality": 75}),
        ("WEBP", {"quality": 80}),
        ("PNG", {}),
        ("TIFF", {}),
        ("AVIF", {"quality": 80}),
    ],
)
def test_another_file_format_is_still_the_person(
    embedder: InsightFaceEmbedder, faces: list[SourcePhoto], readings, form: str, options: dict
):
    copies = [encoded(decode_rgb(photo.data), form, **options) for photo in faces]
    assert min(map(cosine, embedder.read(copies), readings)) >= 0.95


@pytest.mark.parametrize(("orientation", "turn"), [(3, 2), (6, 1), (8, -1)])
@pytest.mark.parametrize("form", ["JPEG", "PNG", "WEBP"])
def test_a_photo_stored_sideways_is_still_the_person(
    embedder: InsightFaceEmbedder, faces: list[SourcePhoto], readings, orientation: int, turn: int, form: str
):
    exif = Image.Exif()
    exif[0x0112] = orientation
    for number in (0, 6):
        stored = np.ascontiguousarray(np.rot90(decode_rgb(faces[number].data), turn))
        [reading] = embedder.read(
            [encoded(stored, form, exif=exif, **({"quality": 92} if form != "PNG" else {}))]
        )
        assert cosine(reading, readings[number]) >= 0.95
        assert (reading.width, reading.height) == (readings[number].width, readings[number].height)


def test_images_without_a_face(embedder: InsightFaceEmbedder):
    blank = [np.full((400, 300, 3), value, np.uint8) for value in (0, 128, 255)]
    odd = [np.zeros((1, 1, 3), np.uint8), np.zeros((1, 5000, 3), np.uint8), noise(320, 240)]
    for image, reading in zip(blank + odd, embedder.read([encoded(i) for i in blank + odd]), strict=True):
        assert (reading.status, reading.faces, reading.rung) == ("read", (), None)
        assert (reading.height, reading.width) == image.shape[:2]


@pytest.mark.parametrize(
    ("data", "reason"),
    [(b"", "empty"), (b"<html>", "not_an_image"), (encoded(noise(64, 64), "JPEG")[:-900], "truncated")],
)
def test_what_does_not_decode_says_so(embedder: InsightFaceEmbedder, data: bytes, reason: str):
    [reading] = embedder.read([data])
    assert reading.status == "unreadable"
    assert reading.detail is not None
    assert reading.detail.startswith(f"{reason}: ")
    assert reading.faces == ()


def test_nothing_to_read(embedder: InsightFaceEmbedder):
    assert embedder.read([]) == []


def test_the_identity_holds_all_that_changes_a_reading(face_pack: FacePack):
    identity = identity_of(face_pack)
    assert identity.files == {file.name: file.sha256 for file in face_pack.files}
    assert fingerprint(identity) != fingerprint(identity_of(load(FacePack, "buffalo_l")))
    for change in ({"version": "0"}, {"ladder": ("640",)}, {"pack": "other"}, {"files": {}}):
        assert fingerprint(identity.model_copy(update=change)) != fingerprint(identity)


def auc(same: np.ndarray, different: np.ndarray) -> float:
    """How often a pair of one person scores above a pair of two (Mann-Whitney)."""
    below = np.searchsorted(np.sort(different), same, "left")
    up_to = np.searchsorted(np.sort(different), same, "right")
    return float((below + up_to).mean() / 2 / different.size)


def test_people_are_told_apart_on_real_photos(
    embedder: InsightFaceEmbedder, face_pack: FacePack, real_photos: Path
):
    files = [file for file in sorted(real_photos.glob("[!_]*/*.jpg")) if file.parent.name != "_groups"]
    readings = [embedder.read([file.read_bytes()])[0] for file in files]
    single = [(f.parent.name, vector(r)) for f, r in zip(files, readings, strict=True) if len(r.faces) == 1]
    people = np.array([person for person, _ in single])
    assert len(single) >= 0.97 * len(files)
    assert len(set(people)) >= 20
    cosines = np.stack([v for _, v in single]) @ np.stack([v for _, v in single]).T
    first, second = np.triu_indices(len(single), 1)
    is_same = people[first] == people[second]
    same, different = cosines[first, second][is_same], cosines[first, second][~is_same]
    assert auc(same, different) >= 0.9995
    assert (same > face_pack.same_person_above).mean() >= 0.98
    assert (different < face_pack.different_person_below).mean() >= 0.999
    assert same.mean() > 0.7
    assert abs(different.mean()) < 0.05


def test_the_floor_of_the_test_itself():
    assert auc(np.array([0.9, 0.8]), np.array([0.1, 0.2])) == 1
    assert auc(np.array([0.5]), np.array([0.5])) == 0.5
    assert auc(np.array([0.1]), np.array([0.2, 0.0])) == 0.5
