"""Real photos as everyday photos, each looked at by a person: which are used, and why others are not."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import pytest
from everyday_files import table
from fakes.remembering import RememberingEmbedder

from adapters.datasets.everyday_photos import EverydayPhotos
from adapters.embedders.insightface import identity_of
from adapters.stores.local import LocalStore
from domain.dataset_choice import DatasetChoice
from domain.dataset_options import EverydayOptions
from domain.photos import Dataset
from domain.suites import FacePack
from tasks.preparing import prepare

OTHERS = ("MIT", "public domain")
"""Licences that this folder needs besides those that are always admitted."""
BLURRED = {
    "ms-family1-dad-01",
    "ms-family1-dad-02",
    "ms-family1-dad-03",
    "ms-family1-dad-04",
    "ms-family1-mom-01",
    "ms-family1-mom-02",
    "ms-family1-mom-03",
    "ms-family2-lady-02",
    "ms-family2-lady-03",
    "ms-family2-lady-04",
    "ms-family2-man-01",
    "ms-family2-man-04",
    "groups-detection4",
}
"""Small crops of 106 to 232 pixels that are enlarged four to eight times, and a group in a restaurant whose
largest face, of a woman in front, is out of focus."""
PEOPLE = {
    "groups-detection5": "3",
    "groups-identification1": "4",
    "groups-test-image-person-group": "2",
}
"""Counted by eye; all other photos show one person."""


@pytest.fixture
def found(
    real_photos: Path,
    tmp_path: Path,
    remembering: RememberingEmbedder,
    face_pack: FacePack,
    photo_store: LocalStore,
) -> Dataset:
    listed = real_photos / "SOURCES.tsv"
    if not listed.is_file():
        pytest.skip("another folder of photos than the one that was looked at")
    root, rows = tmp_path / "photos", list[dict[str, str]]()
    with listed.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            (root / row["file"]).parent.mkdir(parents=True, exist_ok=True)
            (root / row["file"]).write_bytes((real_photos / row["file"]).read_bytes())
            licence = row["licence"].split(":")[0].split(" (")[0]
            said = {"author": row["source"], "source": row["source"], "licence": licence}
            rows.append({"file": row["file"]} | said)
    table(root, rows)
    options = {"licences": list(OTHERS)}
    choice = DatasetChoice(id="real", adapter="everyday_photos", path=str(root), options=options)
    source = EverydayPhotos(root, EverydayOptions.model_validate(options))
    return prepare(choice, source, remembering, identity_of(face_pack), photo_store)


@pytest.mark.slow
def test_they_are_used_and_left_out_as_a_person_would(found: Dataset):
    assert len(found.photos) == 57
    assert {item.subject: item.reason for item in found.left_out} == dict.fromkeys(BLURRED, "blurred")
    groups = {photo.id: photo.groups["people"] for photo in found.photos}
    assert {name: count for name, count in groups.items() if count != "1"} == PEOPLE
    assert Counter(photo.groups["photo_shape"] for photo in found.photos) == {
        "square": 41,
        "portrait": 13,
        "landscape": 3,
    }
    views = {photo.id: photo.groups["view"] for photo in found.photos}
    assert {name for name, view in views.items() if view != "close"} == {
        "barack-obama-01",
        "eileen-collins-01",
    }
    assert {photo.licence for photo in found.photos} == {"CC-BY-4.0", "CC0-1.0", "MIT", "public domain"}
    enlarged = {photo.id for photo in found.photos if photo.notes}
    assert not any(name.startswith("london") for name in enlarged)
    assert {"lisa-debruine-01", "groups-identification1"} <= enlarged
