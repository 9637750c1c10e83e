"""Everyday photos from files to a manifest: cropped for their faces, screened, measured, each once."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import polars as pl
import pytest
from builders import encoded, noise
from everyday_files import table
from fakes.remembering import RememberingEmbedder
from PIL import Image

from adapters.datasets.everyday_photos import EverydayPhotos
from adapters.datasets.packaged_everyday import PackagedEveryday
from adapters.datasets.packaged_faces import ASTRONAUT, GROUP, picture_bytes
from adapters.embedders.insightface import identity_of
from adapters.imaging.decode import decode_rgb
from adapters.stores.local import LocalStore
from domain import keys
from domain.dataset_choice import DatasetChoice
from domain.dataset_options import EverydayOptions, PackagedEverydayOptions
from domain.errors import DefinitionError
from domain.photos import CropArea, Dataset, PhotoPreparation
from domain.records import FaceRecord
from domain.suites import FacePack
from tasks import ledger
from tasks.preparing import prepare
from tasks.preparing_pages import photo_table, write_dataset

Row = dict[str, str]


@pytest.fixture(scope="module")
def astronaut() -> np.ndarray:
    return decode_rgb(picture_bytes(ASTRONAUT))


@pytest.fixture(scope="module")
def group() -> np.ndarray:
    return decode_rgb(picture_bytes(GROUP))


@pytest.fixture
def run(
    tmp_path: Path, remembering: RememberingEmbedder, face_pack: FacePack, photo_store: LocalStore
) -> Callable[..., Dataset]:
    """Prepares pictures, each with what its row says; `options` are those of the suite's dataset."""

    def prepared(
        pictures: dict[str, np.ndarray | bytes], rows: dict[str, Row] | None = None, **options: Any
    ) -> Dataset:
        root = tmp_path / "photos"
        root.mkdir(exist_ok=True)
        for name, picture in pictures.items():
            data = picture if isinstance(picture, bytes) else encoded(picture)
            (root / f"{name}.png").write_bytes(data)
        table(root, [{"file": f"{name}.png"} | (rows or {}).get(name, {}) for name in pictures])
        choice = DatasetChoice(id="set", adapter="everyday_photos", path=str(root), options=options)
        source = EverydayPhotos(root, EverydayOptions.model_validate(options))
        return prepare(choice, source, remembering, identity_of(face_pack), photo_store)

    return prepared


def cut(x: int, y: int, width: int, height: int) -> Row:
    return dict(zip(("crop_x", "crop_y", "crop_w", "crop_h"), map(str, (x, y, width, height)), strict=True))


def reason(found: Dataset) -> tuple[str, str]:
    [item] = found.left_out
    return item.reason, item.detail


def test_the_packaged_photos_pass_and_are_measured(
    remembering: RememberingEmbedder, face_pack: FacePack, photo_store: LocalStore
):
    """Looked at by a person: who is on each, and how much of them."""
    choice = DatasetChoice(id="demo", adapter="packaged_everyday")
    source = PackagedEveryday.build(Path(), PackagedEverydayOptions())
    found = prepare(choice, source, remembering, identity_of(face_pack), photo_store)
    measured = {
        photo.id: (
            photo.groups["people"],
            photo.groups["face_size"],
            photo.groups["photo_shape"],
            photo.groups["view"],
        )
        for photo in found.photos
    }
    assert measured == {
        "astronaut": ("1", "medium", "square", "half"),
        "group-left": ("2", "medium", "portrait", "half"),
        "group-middle": ("2", "large", "landscape", "close"),
        "group-right": ("1", "large", "portrait", "half"),
        "group-three": ("3", "large", "landscape", "close"),
        "group-four": ("4", "large", "landscape", "close"),
    }
    assert found.left_out == ()
    assert all(photo.notes == ("enlarged",) for photo in found.photos)


def test_a_photo_is_its_own_subject_and_its_original_is_kept(
    run: Callable[..., Dataset], astronaut: np.ndarray, photo_store: LocalStore
):
    found = run({"anna": astronaut}, {"anna": {"author": "Ann", "licence": "CC BY-SA 4.0"}})
    [photo] = found.photos
    assert (photo.id, photo.subject, photo.role, photo.licence) == ("anna", "anna", "base", "CC-BY-SA-4.0")
    assert found.references("anna") == ()
    assert photo.original is not None
    assert photo.original.author == "Ann"
    assert (photo.original.width, photo.original.height) == (512, 512)
    kept = ledger.read_image(photo_store, photo.original.sha256, photo.original.extension)
    assert kept == encoded(astronaut)
    made = Image.open(io.BytesIO(ledger.read_image(photo_store, photo.image_sha256, "png")))
    assert made.size == (photo.width, photo.height) == (1024, 1024)
    x1, y1, x2, y2 = photo.box
    assert (x1 + x2) / 2 == pytest.approx(2 * 224.5, abs=8), "the face of the original, twice as large"
    assert (y1 + y2) / 2 == pytest.approx(2 * 120, abs=8)
    assert isinstance(found.preparation, PhotoPreparation)
    assert found.preparation.screening.min_face_share == 0.10
    assert photo.fss0 is None


def test_the_crop_moves_to_a_face_at_the_edge(run: Callable[..., Dataset], astronaut: np.ndarray):
    """A 2:1 panorama of the astronaut at the far right: a crop in the middle would cut the face off."""
    wide = np.concatenate([noise(1024, 512), noise(512, 512)[:, :212], astronaut[:, 150:362]], axis=1)
    found = run({"anna": wide})
    [photo] = found.photos
    assert photo.original is not None
    assert (photo.original.crop.width, photo.original.crop.height) == (768, 512)
    assert photo.original.crop.x > (wide.shape[1] - 768) // 2
    assert 0 < photo.box[0] < photo.box[2] < photo.width


def test_faces_too_far_apart_are_cut_off(run: Callable[..., Dataset], astronaut: np.ndarray):
    wide = np.concatenate([astronaut, noise(1024, 512), astronaut], axis=1)
    with pytest.raises(DefinitionError, match="face_cut_off"):
        run({"both": wide})
    found = run({"both": wide, "anna": astronaut})
    assert reason(found) == (
        "face_cut_off",
        "2 of 2 faces would be cut off; place a crop by hand, or leave the photo out",
    )
    placed = run({"both": wide, "anna": astronaut[::1, :-1]}, {"both": cut(0, 0, 512, 512)})
    assert {photo.id: photo.groups["people"] for photo in placed.photos} == {"both": "1", "anna": "1"}


def test_a_crop_placed_by_hand_that_cuts_through_a_face(
    run: Callable[..., Dataset], group: np.ndarray, astronaut: np.ndarray
):
    """The edge at 520 goes through the face from 466 to 575."""
    found = run({"group": group, "anna": astronaut}, {"group": cut(200, 100, 320, 320)})
    assert reason(found) == ("face_cut_off", "1 of 6 faces would be cut off; place the crop otherwise")


def test_a_crop_outside_of_the_photo(run: Callable[..., Dataset], group: np.ndarray, astronaut: np.ndarray):
    found = run({"group": group, "anna": astronaut}, {"group": cut(1000, 0, 600, 400)})
    assert reason(found) == (
        "crop_outside",
        "photos.csv:2: the crop ends at 1600, 400, outside of the upright photo, 1280×886",
    )


def small(astronaut: np.ndarray) -> np.ndarray:
    """Her face, 116 of 512 high, has 62 of 832."""
    canvas = np.asarray(Image.fromarray(noise(78, 52)).resize((1248, 832), Image.Resampling.BICUBIC)).copy()
    canvas[200:474, 400:674] = np.asarray(
        Image.fromarray(astronaut).resize((274, 274), Image.Resampling.LANCZOS)
    )
    return canvas


@pytest.mark.parametrize(
    ("name", "row", "expected", "said"),
    [
        ("nobody", {}, "no_face", "no face found, one to four are needed"),
        ("group", {}, "too_many_faces", "6 faces found, at most 4 are allowed"),
        ("small", {}, "face_too_small", "the largest face has 7."),
        (
            "group",
            cut(860, 0, 250, 250),
            "not_frontal",
            "the largest face is turned by 64° to a side (at most 40°) and 7° down",
        ),
        ("blurred", {}, "blurred", "the sharpness in the median part is 0.1"),
        ("cut_short", {}, "truncated", "damaged or cut short"),
        ("text", {}, "not_an_image", "not an image"),
    ],
)
def test_every_rejection_has_its_reason(
    run: Callable[..., Dataset], group: np.ndarray, astronaut: np.ndarray,
    name: str, row: Row, expected: str, said: str,
):  # fmt: skip
    pictures: dict[str, np.ndarray | bytes] = {
        "nobody": noise(600, 400),
        "group": group,
        "small": small(astronaut),
        "blurred": np.asarray(cv2.GaussianBlur(astronaut, (0, 0), 2.0)),
        "cut_short": encoded(astronaut)[:50_000],
        "text": b"a note about a photo",
    }
    found = run({name: pictures[name], "anna": astronaut}, {name: row})
    assert [photo.id for photo in found.photos] == ["anna"]
    code, detail = reason(found)
    assert code == expected
    assert said in detail


def test_a_photo_that_would_be_enlarged_much_is_left_out_where_the_suite_says_so(
    run: Callable[..., Dataset], group: np.ndarray, astronaut: np.ndarray
):
    rows = {"group": cut(0, 90, 885, 590)}
    found = run({"group": group, "anna": astronaut}, rows, screening={"max_enlargement": 1.5})
    assert [photo.id for photo in found.photos] == ["group"]
    assert reason(found) == (
        "too_small_original",
        "512×512 would be enlarged by 2.00, at most 1.5 is allowed",
    )


def test_all_faults_of_a_photo_are_named_and_the_first_is_the_reason(
    run: Callable[..., Dataset], group: np.ndarray, astronaut: np.ndarray
):
    blurred = np.asarray(cv2.GaussianBlur(group, (0, 0), 3.0))
    code, detail = reason(run({"group": blurred, "anna": astronaut}))
    assert code == "too_many_faces"
    assert "at most 4 are allowed; the sharpness" in detail


def test_the_same_picture_twice_is_one_photo(run: Callable[..., Dataset], astronaut: np.ndarray):
    again = encoded(astronaut, "TIFF")
    found = run({"anna": astronaut, "bea": again})
    assert [photo.id for photo in found.photos] == ["anna"]
    assert reason(found) == ("duplicate", "the same picture as anna")


def test_a_view_that_is_stated_wins(run: Callable[..., Dataset], astronaut: np.ndarray):
    found = run({"anna": astronaut}, {"anna": {"view": "close"}})
    assert found.photos[0].groups["view"] == "close"


def test_thresholds_are_data_of_the_suite(
    run: Callable[..., Dataset], group: np.ndarray, astronaut: np.ndarray
):
    strict = run(
        {"group": group, "anna": astronaut}, {"group": cut(0, 90, 885, 590)}, screening={"max_faces": 3}
    )
    assert reason(strict) == ("too_many_faces", "4 faces found, at most 3 are allowed")
    assert isinstance(strict.preparation, PhotoPreparation)
    assert strict.preparation.screening.max_faces == 3


def test_a_reading_without_landmarks_leaves_the_pose_unknown(
    run: Callable[..., Dataset], astronaut: np.ndarray, photo_store: LocalStore
):
    photo = run({"anna": astronaut}).photos[0]
    key = keys.faces(run({"anna": astronaut}).embedder_fingerprint, photo.image_sha256)
    record = FaceRecord.model_validate_json(photo_store.get(key) or b"")
    assert record.reading.faces[0].keypoints is not None
    old = record.model_dump(mode="json")
    for face in old["reading"]["faces"]:
        del face["keypoints"]
    photo_store.put(key, FaceRecord.model_validate(old).model_dump_json().encode())
    assert b"keypoints" not in (photo_store.get(key) or b"")
    with pytest.raises(DefinitionError, match="1 × pose_unknown"):
        run({"anna": astronaut})


def test_a_second_preparation_changes_no_object(
    run: Callable[..., Dataset], astronaut: np.ndarray, group: np.ndarray, photo_store: LocalStore,
    remembering: RememberingEmbedder, tmp_path: Path,
):  # fmt: skip
    pictures = {"anna": astronaut, "group": group, "nobody": noise(600, 400)}
    rows = {"group": cut(0, 90, 885, 590)}

    def held() -> dict[str, tuple[int, int]]:
        files = (path for path in (tmp_path / "store").rglob("*") if path.is_file())
        return {str(path): (path.stat().st_mtime_ns, path.stat().st_ino) for path in files}

    key = write_dataset(run(pictures, rows), photo_store)
    before, asked = held(), len(remembering.asked)
    assert asked == 6, "three originals and what was made of them"
    assert write_dataset(run(pictures, rows), photo_store) == key
    assert held() == before
    assert len(remembering.asked) == asked


def test_a_prepared_photo_that_is_gone_is_made_again(
    run: Callable[..., Dataset], astronaut: np.ndarray, photo_store: LocalStore
):
    photo = run({"anna": astronaut}).photos[0]
    key = keys.image(photo.image_sha256, "png")
    photo_store.delete(key)
    assert run({"anna": astronaut}).photos[0] == photo
    assert photo_store.head(key) is not None


def test_what_stands_beside_the_manifest(
    run: Callable[..., Dataset], astronaut: np.ndarray, photo_store: LocalStore
):
    found = run({"anna": astronaut, "nobody": noise(600, 400)}, {"anna": {"author": "Ann"}})
    key = write_dataset(found, photo_store)

    def page(name: str) -> bytes:
        data = photo_store.get(keys.dataset_page(key, name))
        assert data is not None
        return data

    assert b"| anna | Ann | https://example.org/1 | CC-BY-4.0 | enlarged to 1024" in page("attribution.md")
    assert page("attribution.csv").startswith(b"id,author,source,licence,changes\nanna,Ann,")
    summary = page("summary.md").decode()
    assert "1 photos, which are edited and are their own references (1 enlarged); 1 files left out" in summary
    assert "| people: 1 | 1 |" in summary
    assert "min\\_face\\_share: 0.1" in summary
    left = pl.read_parquet(io.BytesIO(page("left_out.parquet")))
    assert left["reason"].to_list() == ["no_face"]
    photos = pl.read_parquet(io.BytesIO(page("photos.parquet")))
    assert photos.row(0, named=True).items() >= {
        "id": "anna", "author": "Ann", "original_width": 512, "crop": [0, 0, 512, 512], "crop_placed": False,
        "group_people": "1", "group_photo_shape": "square",
    }.items()  # fmt: skip
    assert Image.open(io.BytesIO(page("contact-sheet-001.jpg"))).format == "JPEG"


def test_tables_of_other_datasets_have_no_further_columns():
    assert "author" not in photo_table(()).columns


def test_manifests_of_other_datasets_keep_their_names():
    """A field that only prepared photos have is not written where it is empty: the digest is as before."""
    from builders import a_photo

    assert "original" not in a_photo().model_dump(mode="json")
    assert CropArea(x=0, y=0, width=1, height=1).model_dump() == {"x": 0, "y": 0, "width": 1, "height": 1}
