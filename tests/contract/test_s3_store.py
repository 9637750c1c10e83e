"""What is particular to a store in a bucket, on real servers; the laws are in test_stores.py."""

from __future__ import annotations

import contextlib
import io
import os
import threading
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import polars as pl
import pytest
from servers.lost_replies import Wire, wire_to
from servers.s3_endpoint import S3Server
from servers.seaweedfs import seaweedfs

from adapters.stores.s3 import CONTENT_TYPES, S3Store
from adapters.stores.s3_parts import Upload
from adapters.stores.s3_probe import CONDITION, PARTS, RACE, RACE_IN_PARTS, Probe
from domain.errors import StoreError
from tasks.scanning import scan_object

SIX_MIB = 6 << 20


@pytest.fixture
def prefix() -> str:
    return f"own/{uuid.uuid4().hex}"


@pytest.fixture
def store(seaweed: S3Server, prefix: str) -> S3Store:
    return S3Store(seaweed.place(prefix))


@pytest.fixture
def wire(seaweed: S3Server) -> Iterator[Wire]:
    with wire_to(seaweed.port) as wire:
        yield wire


def test_two_prefixes_of_a_bucket_do_not_see_each_other(seaweed: S3Server, prefix: str):
    one, other = S3Store(seaweed.place(f"{prefix}/a")), S3Store(seaweed.place(f"{prefix}/a-rehearsal"))
    assert one.put_new("outcomes/x.json", b"1")
    assert other.put_new("outcomes/x.json", b"2")
    assert list(one.list("outcomes")) == list(other.list("outcomes")) == ["outcomes/x.json"]
    one.delete("outcomes/x.json")
    assert other.get("outcomes/x.json") == b"2"
    assert S3Store(seaweed.place(prefix)).get("a-rehearsal/outcomes/x.json") == b"2"


def test_the_whole_bucket_can_be_the_store(seaweed: S3Server):
    store = S3Store(seaweed.place())
    key = f"whole/{uuid.uuid4().hex}"
    assert store.put_new(key, b"x")
    assert list(store.list("whole")) == [key]
    store.delete(key)


def test_keys_with_dots_and_signs(store: S3Store):
    keys = [f"a/suite=x+y/model=gpt-1.5/{name}" for name in ("part-0.1.parquet", "v1.2.json", "=+-._x")]
    for key in keys:
        assert store.put_new(key, key.encode())
    assert list(store.list("a")) == sorted(keys)
    assert [store.get(key) for key in keys] == [key.encode() for key in keys]


def test_more_keys_than_a_page_holds_are_listed_sorted(store: S3Store):
    keys = [f"many/{number:04d}" for number in range(1_100)]
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda key: store.put(key, b"x"), keys))
    assert list(store.list("many")) == keys


def test_of_a_scanned_table_only_what_is_asked_for_comes_over_the_wire(
    seaweed: S3Server, wire: Wire, prefix: str
):
    store = S3Store(seaweed.place(prefix, endpoint_url=wire.url))
    table = pl.DataFrame({"step": range(4_000), "noise": [os.urandom(1_000) for _ in range(4_000)]})
    out = io.BytesIO()
    table.write_parquet(out)
    store.put_new("tables/a.parquet", out.getvalue())
    before = wire.carried_bytes
    assert scan_object(store, "tables/a.parquet").select(pl.col("step").sum()).collect().item() == 7_998_000
    assert 0 < wire.carried_bytes - before < len(out.getvalue()) / 10


@pytest.mark.parametrize("name", ["a.png", "a.json", "a.html", "a.parquet", "pointer"])
def test_a_browser_is_told_what_an_object_is(store: S3Store, name: str):
    store.put_new(f"x/{name}", b"x")
    told = store.client.head_object(Bucket=store.place.bucket, Key=store.name(f"x/{name}"))["ContentType"]
    assert told == CONTENT_TYPES.get(name.partition(".")[2], "application/octet-stream")


def test_an_object_in_parts_is_written_once_and_a_failed_one_leaves_none(seaweed: S3Server, prefix: str):
    store = S3Store(seaweed.place(prefix, multipart_mib=1, part_mib=5))
    data = os.urandom(SIX_MIB)
    assert store.put_new("big/a", data)
    assert not store.put_new("big/a", data[::-1])
    assert not store._put_new(store.name("big/a"), data[::-1]), "also where nothing was there before it began"
    assert store.get("big/a") == data
    store.put("big/a", data[::-1])
    assert store.get("big/a") == data[::-1]
    about = store.client.head_object(Bucket=store.place.bucket, Key=store.name("big/a"))
    assert about["ETag"].endswith('-2"')
    left = store.client.list_multipart_uploads(Bucket=store.place.bucket, Prefix=store.name("big"))
    assert left.get("Uploads", []) == []


class EveryoneWins(Probe):
    """As it looks on an endpoint that looks for the object first and then writes."""

    def _put(self, key: str, data: bytes, *, is_new: bool = False) -> bool:
        return super()._put(key, data, is_new=is_new) or "race" in key

    def _completes(self, upload: Upload) -> bool:
        return super()._completes(upload) or True


def test_a_race_that_more_than_one_wins_is_named(seaweed: S3Server, prefix: str):
    store = S3Store(seaweed.place(prefix, multipart_mib=1))
    assert EveryoneWins(store).problems() == [RACE, RACE_IN_PARTS]
    assert list(store.list("probe")) == []


@pytest.mark.parametrize("size", [2_000, SIX_MIB])
def test_a_write_whose_answer_is_lost_is_known_as_ones_own(
    seaweed: S3Server, wire: Wire, prefix: str, size: int
):
    store = S3Store(seaweed.place(prefix, endpoint_url=wire.url, multipart_mib=1, part_mib=5))
    verb = b"PUT" if size == 2_000 else b"POST"  # a multipart write ends with a POST that names its upload
    done = b"" if size == 2_000 else b"uploadId="

    def once(request: bytes, answer: bytes) -> bool:
        line = request.partition(b"\r\n")[0]
        return wire.lost == 0 and line.startswith(verb) and done in line and b" 200 " in answer[:14]

    wire.lose = once
    data = os.urandom(size)
    assert store.put_new("lost/a", data) is True
    assert wire.lost == 1
    assert store.get("lost/a") == data
    assert store.put_new("lost/a", data) is False


def test_another_writers_object_is_not_taken_for_ones_own(seaweed: S3Server, wire: Wire, prefix: str):
    store = S3Store(seaweed.place(prefix, endpoint_url=wire.url))
    assert store.put_new("lost/a", b"same bytes")
    wire.lose = lambda request, answer: wire.lost == 0 and request.startswith(b"PUT")
    assert store.put_new("lost/a", b"same bytes") is False
    assert wire.lost == 1


def test_acknowledged_objects_outlive_a_kill_of_the_server(tmp_path: Path):
    with seaweedfs(tmp_path) as server:
        store = S3Store(server.place("kept", max_attempts=1))
        acked: dict[str, bytes] = {}
        enough = threading.Event()

        def write(writer: int) -> None:
            with contextlib.suppress(StoreError):
                for number in range(10_000):
                    key, data = f"kill/{writer}-{number}", os.urandom(3_000)
                    if store.put_new(key, data):
                        acked[key] = data
                    if len(acked) > 150:
                        enough.set()

        with ThreadPoolExecutor(8) as pool:
            writers = [pool.submit(write, number) for number in range(8)]
            assert enough.wait(60)
            server.kill()
            for writer in writers:
                writer.result()
        server.start()
        again = S3Store(server.place("kept"))
        assert len(acked) > 150
        assert [key for key, data in acked.items() if again.get(key) != data] == []
        assert set(again.list("kill")) >= set(acked)
        assert again.probe() == []


def test_a_server_that_ignores_conditions_is_found_out_and_left_clean(rclone_server: S3Server):
    store = S3Store(rclone_server.place("probed"))
    assert store.probe() == [CONDITION]
    assert "If-None-Match" in CONDITION
    assert S3Store(rclone_server.place("probed", multipart_mib=1)).probe() == [CONDITION, PARTS]
    assert list(store.list("probe")) == []


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"access_key_id": "NOBODY"}, "the access key is unknown to http://127.0.0.1:"),
        ({"secret_access_key": "another-secret"}, "the secret key does not belong to the access key"),
        ({"bucket": "no-such-bucket"}, "there is no bucket 'no-such-bucket' at http://127.0.0.1:"),
        ({"endpoint_url": "http://127.0.0.1:9"}, "http://127.0.0.1:9 cannot be reached"),
    ],
)
def test_what_is_wrong_is_said_by_every_way_to_look(seaweed: S3Server, wrong: dict[str, str], said: str):
    store = S3Store(seaweed.place("x", **wrong))
    for call in (lambda: store.get("a"), lambda: store.head("a"), lambda: list(store.list("a")), store.probe):
        with pytest.raises(StoreError) as caught:
            call()
        assert said in str(caught.value)
        assert "another-secret" not in repr(caught.value)
