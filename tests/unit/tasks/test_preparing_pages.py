from __future__ import annotations

import io
from pathlib import Path

import polars as pl
import pytest
from builders import a_photo, encoded, noise

from adapters.imaging.thumbnails import thumbnail
from adapters.stores.local import LocalStore
from domain import keys
from domain.photos import Dataset, GroupChoice, LeftOut, Preparation
from tasks import ledger
from tasks.preparing_pages import write_dataset


@pytest.fixture
def found(photo_store: LocalStore) -> Dataset:
    """Two people; of one photo nothing is kept to show."""
    pixels = noise(90, 120)
    sha = keys.sha256(encoded(pixels))
    photo_store.put_new(keys.thumbnail("2", sha), thumbnail(pixels))
    return Dataset(
        id="mine",
        embedder_fingerprint="e" * 64,
        photos=(
            a_photo(
                image_sha256=sha,
                fss0=0.97,
                near_duplicates=("anna-2",),
                groups={"gender": "female", "skin": "dark"},
            ),
            a_photo(id="anna-2", role="reference", groups={"gender": "female"}, notes=("first_of_several",)),
            a_photo(id="bo_1", subject="bo", fss0=0.5, licence="MIT | free"),
            a_photo(id="bo_1-mirrored", subject="bo", role="reference", derived_from="bo_1"),
        ),
        left_out=(
            LeftOut(source="anna/x_y.txt", reason="not_an_image", detail="no", subject="anna"),
            LeftOut(source="pipe", reason="unreadable", detail="not a file"),
        ),
        preparation=Preparation(
            decoder="2",
            min_fss0=0.4,
            near_duplicate_above=0.95,
            exclude_near_duplicates=False,
            mirror_alone=True,
            per_group=GroupChoice(columns=("gender",), n=7, seed=3),
            not_chosen={"female": 12},
        ),
    )


def page(key: str, name: str, store: LocalStore) -> bytes:
    data = store.get(keys.dataset_page(key, name))
    assert data is not None
    return data


def test_the_manifest_reads_as_it_was_written(found: Dataset, photo_store: LocalStore):
    key = write_dataset(found, photo_store)
    assert key == keys.dataset("mine", keys.fingerprint(found))
    assert ledger.read(photo_store, key, Dataset) == found


def test_the_table_of_photos(found: Dataset, photo_store: LocalStore):
    table = pl.read_parquet(
        io.BytesIO(page(write_dataset(found, photo_store), "photos.parquet", photo_store))
    )
    assert table["id"].to_list() == ["anna-1", "anna-2", "bo_1", "bo_1-mirrored"]
    assert table["group_gender"].to_list() == ["female", "female", None, None]
    assert table["group_skin"].to_list() == ["dark", None, None, None]
    assert table["fss0"].to_list() == [0.97, None, 0.5, None]
    assert table["near_duplicates"].to_list() == [["anna-2"], [], [], []]
    assert table["box"].to_list()[0] == [10.0, 10.0, 40.0, 40.0]


def test_the_table_of_what_was_left_out(found: Dataset, photo_store: LocalStore):
    table = pl.read_parquet(
        io.BytesIO(page(write_dataset(found, photo_store), "left_out.parquet", photo_store))
    )
    assert table.rows() == [
        ("anna/x_y.txt", "not_an_image", "no", "anna"),
        ("pipe", "unreadable", "not a file", None),
    ]


def test_the_summary(found: Dataset, photo_store: LocalStore):
    text = page(write_dataset(found, photo_store), "summary.md", photo_store).decode()
    for line in (
        "2 base photos, which are edited, and 2 reference photos of 2 people; 2 files left out.",
        "- at most 7 base photos of gender, seed 3",
        "- usable, but beyond that number: 12 of female",
        "Of 2 base photos 1 have a near-duplicate among their references.",
        "| 2 | 0.500 | 0.547 | 0.735 | 0.923 | 0.970 | 0.735 |",
        "| gender: female | 1 |",
        "| none stated | 1 |",
        "| CC0-1.0 | 3 |",
        r"| MIT \| free | 1 |",
        r"| anna/x\_y.txt | not\_an\_image | no |",
        "| anna | 1 | 1 | 1 | 0.970 | 1 |",
        "| bo | 1 | 1 | 0 | 0.500 | 0 |",
        "Contact sheets: 1, with 4 of 4 photos.",
    ):
        assert line in text.splitlines() or line in text, line


def test_a_contact_sheet_is_beside_it(found: Dataset, photo_store: LocalStore):
    assert page(write_dataset(found, photo_store), "contact-sheet-001.jpg", photo_store)[:2] == b"\xff\xd8"


def test_the_manifest_is_written_last_and_once(found: Dataset, photo_store: LocalStore, tmp_path: Path):
    order: list[str] = []

    class Noting(LocalStore):
        def put_new(self, key: str, data: bytes) -> bool:
            order.append(key)
            return super().put_new(key, data)

    store = Noting(photo_store.root, fsync=False)
    key = write_dataset(found, store)
    assert order[-1] == key
    assert len(order) == 5
    write_dataset(found, store)
    assert len(order) == 5


def test_an_old_manifest_has_a_summary_too(photo_store: LocalStore):
    old = Dataset(id="old", embedder_fingerprint="e" * 64, photos=(a_photo(),))
    text = page(write_dataset(old, photo_store), "summary.md", photo_store).decode()
    assert "1 base photos" in text
    assert "## FSS₀" not in text
    assert "None." in text
