"""Key locks, progress lines, units of a batch, and snapshot files."""

from __future__ import annotations

import asyncio
import io
import logging
import math

import polars as pl
import pytest
from prefect.client.schemas.actions import ArtifactCreate as ArtifactRequest

from domain.errors import (
    AmbiguousError,
    FatalError,
    IncompleteError,
    MetricError,
    QuotaError,
    StoreError,
    TransientError,
    UnresolvedError,
)
from domain.suites import Rules
from tasks.key_locks import KeyLocks
from tasks.one_by_one import one_by_one
from tasks.policies import is_transient
from tasks.progress import Progress, artifact_key
from tasks.scoring import files_of
from tasks.threads import on_threads


def test_one_holder_a_key_and_no_lock_left_over() -> None:
    locks, inside, most = KeyLocks(), 0, 0

    async def use(key: str) -> None:
        nonlocal inside, most
        async with locks.hold(key):
            inside += 1
            most = max(most, inside)
            await asyncio.sleep(0.001)
            inside -= 1

    async def same() -> None:
        await asyncio.gather(*(use("a") for _ in range(8)))

    asyncio.run(same())
    assert most == 1
    assert not locks._locks


def test_progress_says_count_rate_failures_cost_and_time_left() -> None:
    now = [100.0]
    progress = Progress("edits", 40, clock=lambda: now[0])
    now[0] = 110.0
    asyncio.run(progress.add(20, failed=2, cost_usd=1.5))
    assert progress.line() == "edits 20/40 · 2.0/s · 2 failed · $1.50 · 10 s left"
    now[0] = 120.0
    asyncio.run(progress.add(20))
    assert progress.line() == "edits 40/40 · 2.0/s · 2 failed · $1.50"


def test_progress_without_a_known_total_tells_no_time_left(caplog: pytest.LogCaptureFixture) -> None:
    now = [100.0]
    progress = Progress("photos looked at", None, clock=lambda: now[0])
    with caplog.at_level(logging.INFO, "facedrift.progress"):
        progress.count()
        assert caplog.messages == []
        now[0] = 110.0
        progress.count(19)
    assert caplog.messages == ["photos looked at 20 · 2.0/s"]


@pytest.mark.parametrize(
    ("error", "again"),
    [
        (TransientError("busy", retry_after_s=0.0), True),
        (AmbiguousError("lost"), True),
        (UnresolvedError("lost as often as allowed"), False),
        (FatalError("key"), False),
        (QuotaError("used up"), False),
        (QuotaError("back soon", retry_after_s=0.0), True),
        (QuotaError("back tomorrow", retry_after_s=90_000.0), False),
        (StoreError("full"), False),
        (KeyError("bug"), False),
    ],
)
def test_only_what_may_go_well_is_tried_again(
    error: Exception, again: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Failed:
        data = error

    class TaskRun:
        run_count = 1

    monkeypatch.setenv("FACEDRIFT_RETRY_WAITS_S", "[0.0]")
    assert asyncio.run(is_transient(None, TaskRun(), Failed())) is again  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["edits by gemini-2.5-flash-image", "Ünïcode", "a__b", "grok-2.0"])
def test_artifact_keys_are_what_prefect_takes(name: str) -> None:
    key = artifact_key("progress", name)
    assert ArtifactRequest(key=key, type="progress").key == key


def test_one_bad_unit_of_a_batch_costs_no_other() -> None:
    seen: list[int] = []

    def work(unit: int) -> bool:
        if unit == 2:
            raise StoreError("the image is gone")
        seen.append(unit)
        return unit != 3

    with pytest.raises(IncompleteError, match="1 left out: the image is gone") as caught:
        one_by_one(range(5), work)
    assert seen == [0, 1, 3, 4]
    assert caught.value.done == 3
    assert one_by_one([1, 3], work) == 1


@pytest.mark.parametrize("count", [0, 1, 5, 700])
def test_items_on_threads_come_back_in_order(count: int) -> None:
    assert on_threads(lambda item: item * 2, iter(range(count))) == [item * 2 for item in range(count)]


def test_an_error_on_a_thread_is_raised() -> None:
    def read(item: int) -> int:
        if item == 20:
            raise StoreError(f"{item} cannot be read")
        return item

    with pytest.raises(StoreError, match="20 cannot be read"):
        on_threads(read, range(100))


def test_the_files_of_equal_tables_are_equal_and_hold_no_nan() -> None:
    table = pl.DataFrame(
        {"model": ["a", "b"], "sc": [0.5, None], "state_hats": [["beret hat"], None]},
        schema={"model": pl.String, "sc": pl.Float64, "state_hats": pl.List(pl.String)},
    )
    files = files_of({"steps": table}, Rules().model_dump())
    assert files == files_of({"steps": table.clone()}, Rules().model_dump())
    assert files["steps.csv"].decode().splitlines() == ["model,sc,state_hats", "a,0.5,beret hat", "b,,?"]
    read = pl.read_parquet(io.BytesIO(files["steps.parquet"]))
    assert read.equals(table)
    with pytest.raises(MetricError, match="not finite"):
        files_of({"steps": table.with_columns(pl.lit(math.nan).alias("sc"))}, Rules().model_dump())
