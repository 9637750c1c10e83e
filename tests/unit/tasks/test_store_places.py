"""What follows from where the store is."""

from __future__ import annotations

from pathlib import Path

import pytest

from adapters.stores.local import LocalStore
from tasks import wiring
from tasks.publishing import stored_at
from tasks.rehearsing import rehearsal_store, standin_state


@pytest.mark.parametrize(
    ("store", "rehearsals", "state"),
    [
        ("/data/store", "/data/store-rehearsal", "/data/store-rehearsal-standin"),
        ("/data/store-rehearsal", "/data/store-rehearsal", "/data/store-rehearsal-standin"),
        ("s3://bench/a/b", "s3://bench/a/b-rehearsal", ".facedrift/standins/bench_a_b-rehearsal"),
        ("s3://bench/b-rehearsal", "s3://bench/b-rehearsal", ".facedrift/standins/bench_b-rehearsal"),
        ("s3://bench", "s3://bench/facedrift-rehearsal", ".facedrift/standins/bench_facedrift-rehearsal"),
    ],
)
def test_rehearsals_have_a_store_of_their_own(
    monkeypatch: pytest.MonkeyPatch, store: str, rehearsals: str, state: str
):
    monkeypatch.setenv("FACEDRIFT_STORE", store)
    assert (rehearsal_store(), standin_state()) == (rehearsals, Path(state))


def test_where_an_object_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("FACEDRIFT_STORE", str(tmp_path))
    assert stored_at("a/b") == str(tmp_path / "a/b")
    monkeypatch.setenv("FACEDRIFT_STORE", "s3://bench/a/")
    assert stored_at("a/b") == "s3://bench/a/a/b"


def test_one_store_is_opened_a_place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("FACEDRIFT_STORE", str(tmp_path / "one"))
    one = wiring.store()
    assert isinstance(one, LocalStore)
    assert wiring.store() is one
    monkeypatch.setenv("FACEDRIFT_STORE", str(tmp_path / "two"))
    assert wiring.store() is not one
