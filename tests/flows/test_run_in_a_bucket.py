"""The main job with everything in a bucket: the same as in a folder."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest
from fakes import editors
from servers.s3_endpoint import S3Server

from adapters.stores.s3 import S3Store
from domain.runs import RunSummary
from tasks import wiring
from tasks.publishing import page_location
from tasks.result_storage import LedgerStorage
from tasks.scoring import TABLES, read_table, scan_table

pytestmark = pytest.mark.flow

Run = Callable[..., tuple[RunSummary, bool]]


def objects(store: S3Store) -> dict[str, tuple[str, object]]:
    """Every object with what changes when it is written again, even with the same bytes."""
    pages = store.client.get_paginator("list_objects_v2").paginate(
        Bucket=store.place.bucket, Prefix=store.name("x")[:-1]
    )
    found = [item for page in pages for item in page.get("Contents", ())]
    writers = {
        item["Key"]: store.client.head_object(Bucket=store.place.bucket, Key=item["Key"])["Metadata"][
            "writer"
        ]
        for item in found
    }
    return {item["Key"]: (item["ETag"], writers[item["Key"]]) for item in found}


def test_a_run_in_a_bucket_is_that_in_a_folder_and_the_second_writes_nothing(
    home: Path, run_tiny: Run, seaweed: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, _ = editors.write_definitions(home, sessions=["hair_001"])
    in_folder, _ = run_tiny(images=1)
    tables = {name: read_table(wiring.store(), in_folder.snapshot, name) for name in TABLES}
    made = len(editors.calls(log))

    prefix = f"run/{uuid.uuid4().hex}"
    for name, value in seaweed.variables(prefix).items():
        monkeypatch.setenv(name, value)
    first, complete = run_tiny(images=1)
    store = wiring.store()
    assert isinstance(store, S3Store)
    assert complete
    assert len(editors.calls(log)) == 2 * made, "another store knows nothing of the folder"
    assert first.snapshot.digest == in_folder.snapshot.digest
    for name, table in tables.items():
        assert read_table(store, first.snapshot, name).equals(table), name
    scanned = scan_table(store, first.snapshot.suite, first.snapshot.digest, "steps")
    assert scanned.select("model").unique().collect().rows() == [("scripted",)]
    assert page_location(first.snapshot).startswith(f"s3://{store.place.bucket}/{prefix}/reports/tiny/")
    before = objects(store)
    assert {key.removeprefix(f"{prefix}/").split("/")[0] for key in before} == {
        path.name for path in (home / "store").iterdir()
    } - {"probe"}

    second, complete = run_tiny(images=1)
    assert complete
    assert len(editors.calls(log)) == 2 * made
    assert second.snapshot.digest == first.snapshot.digest
    after = objects(store)
    of_runs = f"{prefix}/runs/"
    assert {key: held for key, held in before.items() if not key.startswith(f"{of_runs}newest")} == {
        key: held for key, held in after.items() if key in before and not key.startswith(f"{of_runs}newest")
    }
    assert [key for key in after.keys() - before.keys() if not key.startswith(of_runs)] == []


def test_results_that_prefect_keeps_follow_the_store(
    seaweed: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in seaweed.variables(f"results/{uuid.uuid4().hex}").items():
        monkeypatch.setenv(name, value)
    storage = LedgerStorage()
    asyncio.run(storage.write_path("some-result", b"{}"))
    assert asyncio.run(storage.read_path("some-result")) == b"{}"
    assert wiring.store().get("results/some-result") == b"{}"
    with pytest.raises(FileNotFoundError):
        asyncio.run(storage.read_path("another"))
