"""Which snapshot is the board of a suite, and what may take its place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from adapters.stores.local import LocalStore
from domain import keys
from domain.errors import StoreError
from domain.runs import RunPlan, Snapshot
from tasks.pointers import Pointer, current, is_whole, part_notice, point_to


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path, fsync=False)


@pytest.fixture
def plan(a_run: RunPlan) -> RunPlan:
    """A run of the one model of its suite."""
    models = tuple(card.id for card in a_run.cards)
    return a_run.model_copy(update={"suite": a_run.suite.model_copy(update={"models": models})})


def _run(plan: RunPlan, number: int, **asked: Any) -> RunPlan:
    request = plan.request.model_copy(update=asked)
    return plan.model_copy(update={"id": f"2026120{number}T000000-aaaaaa", "request": request})


def _publish(run: RunPlan, digest: str, store: LocalStore) -> bool:
    snapshot = Snapshot(suite=run.suite.id, digest=digest, run_id=run.id, is_new=True)
    return point_to(snapshot, run, store)


def test_the_newest_whole_run_is_the_board_and_a_part_or_an_older_one_is_not(
    plan: RunPlan, store: LocalStore
) -> None:
    suite = plan.suite.id
    assert current(suite, store) is None
    assert _publish(_run(plan, 1, images=2), "part", store), "a part is better than nothing"
    assert _publish(_run(plan, 2), "first", store)
    assert not _publish(_run(plan, 3, images=2), "part", store)
    assert not _publish(_run(plan, 3, images_dir="/mine"), "mine", store)
    assert _publish(_run(plan, 4), "second", store)
    assert not _publish(_run(plan, 2), "first", store), "an older run that is scored again"
    assert current(suite, store) == Pointer("second", _run(plan, 4).id, True)


def test_the_same_snapshot_again_writes_nothing(plan: RunPlan, store: LocalStore) -> None:
    _publish(_run(plan, 1), "first", store)
    before = store.get(keys.report_pointer(plan.suite.id))
    assert _publish(_run(plan, 2), "first", store)
    assert store.get(keys.report_pointer(plan.suite.id)) == before


def test_an_older_pointer_is_read_and_a_damaged_one_is_written_anew(plan: RunPlan, store: LocalStore) -> None:
    key = keys.report_pointer(plan.suite.id)
    store.put(key, b'{"snapshot": "old"}')
    assert current(plan.suite.id, store) == Pointer("old")
    store.put(key, b"{")
    with pytest.raises(StoreError, match="damaged"):
        current(plan.suite.id, store)
    assert _publish(_run(plan, 1), "first", store)


@pytest.mark.parametrize(
    ("asked", "whole"),
    [
        ({}, True),
        ({"images": 2}, False),
        ({"images_dir": "/mine"}, False),
        ({"test_sets": ("hair",)}, False),
        ({"sessions": ("hair_001",)}, False),
        ({"concurrency": 9}, True),
    ],
)
def test_a_part_of_a_suite_says_so(plan: RunPlan, asked: dict[str, Any], whole: bool) -> None:
    run = _run(plan, 1, **asked)
    assert is_whole(run) is whole
    assert bool(part_notice(run)) is not whole
