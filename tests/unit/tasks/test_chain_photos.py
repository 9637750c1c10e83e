"""Which photos chains are for."""

from __future__ import annotations

from pathlib import Path

import pytest
from chain_photos import GROUPS, a_dataset_of

from domain import keys
from domain.errors import DefinitionError, StoreError
from tasks import wiring
from tasks.chain_photos import base_photos, carrying, dataset_key, measured


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FACEDRIFT_STORE", str(tmp_path / "store"))
    return tmp_path


def test_a_dataset_is_found_by_its_id_while_there_is_one():
    with pytest.raises(DefinitionError, match="prepare its photos first"):
        dataset_key("everyday")
    store = wiring.store()
    store.put_new(keys.listing("everyday", "a" * 64), b"{}")
    first = a_dataset_of(store)
    store.put_new(keys.dataset_page(first, "photos.csv"), b"")
    assert dataset_key("everyday") == dataset_key(first) == first
    second = a_dataset_of(store, version="2")
    with pytest.raises(DefinitionError, match="2 ways") as caught:
        dataset_key("everyday")
    assert set(caught.value.allowed) == {first, second}
    with pytest.raises(StoreError):
        base_photos("datasets/everyday/none.json")
    with pytest.raises(DefinitionError, match="no key"):
        base_photos("datasets/../x y")
    with pytest.raises(DefinitionError, match="no id"):
        dataset_key("every day")


def test_named_photos_keep_their_order_and_come_once():
    key = a_dataset_of(wiring.store())
    found = base_photos(key, ("stairs-3", "market-1", "stairs-3"))
    assert [photo.id for photo in found] == ["stairs-3", "market-1"]
    assert len(base_photos(key)) == 3


def test_what_is_measured_comes_from_the_dataset_or_from_a_table(home: Path):
    a_dataset_of(wiring.store(), ("a-1", "b-2"), {"b-2": {"people": "1", "gender": "female"}})
    assert measured("everyday") == {"a-1": GROUPS, "b-2": {"people": "1"}}
    table = home / "photos.csv"
    table.write_text("\ufeffid,people,view,licence\na-1,2, half ,CC0\nb-2,,,CC0\n", encoding="utf-8")
    assert measured(str(table)) == {"a-1": {"people": "2", "view": "half"}, "b-2": {}}


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("people\n2\n", 2, "names no photo"),
        ("photo\na-1\na-1\n", 3, "two rows"),
        ("photo\n \n", 2, "no photo"),
    ],
)
def test_a_bad_table_is_told_by_its_line(home: Path, text: str, line: int, said: str):
    (home / "photos.csv").write_text(text)
    with pytest.raises(DefinitionError, match=said) as caught:
        measured(str(home / "photos.csv"))
    assert caught.value.line == line


def test_a_table_that_is_not_there_is_told(home: Path):
    with pytest.raises(DefinitionError, match="cannot be read"):
        measured(str(home / "nowhere.csv"))


def test_a_rehearsal_gets_its_photos_from_the_real_store(home: Path, monkeypatch: pytest.MonkeyPatch):
    key = a_dataset_of(wiring.store())
    carry = carrying(key, ("bench-2",))
    monkeypatch.setenv("FACEDRIFT_STORE", str(home / "other"))
    carry()
    carry()
    [photo] = base_photos(key, ("bench-2",))
    assert wiring.store().head(keys.image(photo.image_sha256, "png"))
    assert len(list((home / "other" / "images").rglob("*.png"))) == 1
