"""One set of laws for every store. A new one is added to `STORES` and passes them all."""

from __future__ import annotations

import errno
import io
import os
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adapters.base import HasAddresses, ObjectStore
from adapters.stores.local import LocalStore
from adapters.stores.s3 import S3Store
from tasks.scanning import scan_object

Opener = Callable[[], ObjectStore]
"""Opens the same place anew, as another process would."""


def on_seaweed(request: pytest.FixtureRequest) -> Opener:
    """A prefix of its own in the bucket of a real server."""
    server = request.getfixturevalue("seaweed")
    place = server.place(f"laws/{uuid.uuid4().hex}")
    return lambda: S3Store(place)


STORES: dict[str, Callable[[Path, pytest.FixtureRequest], Opener]] = {
    "local": lambda folder, _: lambda: LocalStore(folder / "store"),
    "local, no fsync": lambda folder, _: lambda: LocalStore(folder / "store", fsync=False),
    "local, no hard links": lambda folder, _: lambda: LocalStore(folder / "store"),
    "S3": lambda _, request: on_seaweed(request),
}
BAD_KEYS = [
    "",
    "/a",
    "a/",
    "a//b",
    "..",
    "a/../b",
    "../a",
    ".a",
    "a/.b",
    "a\\b",
    "a b",
    "ä",
    "a\0",
    "a" * 600,
]


def no_links(*_: object, **__: object) -> None:
    raise OSError(errno.EPERM, "Operation not permitted")


@pytest.fixture(params=STORES)
def opener(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Opener:
    if "no hard links" in request.param:
        monkeypatch.setattr(os, "link", no_links)
    return STORES[request.param](tmp_path, request)


@pytest.fixture
def store(opener: Opener) -> ObjectStore:
    return opener()


def test_put_new_writes_once(store: ObjectStore):
    assert store.put_new("a/b.json", b"first") is True
    assert store.put_new("a/b.json", b"second") is False
    assert store.get("a/b.json") == b"first"


def test_put_replaces(store: ObjectStore):
    store.put("a/pointer", b"one")
    store.put("a/pointer", b"the other")
    assert store.get("a/pointer") == b"the other"
    assert store.put_new("a/pointer", b"third") is False


def test_another_process_sees_what_was_written(opener: Opener):
    opener().put_new("a/b", b"x")
    opener().put("a/c", b"yy")
    assert (opener().get("a/b"), opener().head("a/c")) == (b"x", 2)
    assert opener().put_new("a/b", b"z") is False


def test_what_was_never_written_is_absent(store: ObjectStore):
    assert store.get("a/b") is None
    assert store.head("a/b") is None
    store.put_new("a/bc", b"x")
    assert store.get("a/b") is None
    assert store.head("a/b") is None
    assert store.get("a/bcd") is None


def test_an_empty_object_is_not_an_absent_one(store: ObjectStore):
    assert store.put_new("a/empty", b"")
    assert store.get("a/empty") == b""
    assert store.head("a/empty") == 0
    assert store.put_new("a/empty", b"x") is False


def test_a_large_object(store: ObjectStore):
    data = os.urandom(1 << 20) * 6
    store.put_new("images/big", data)
    assert store.head("images/big") == 6 << 20
    assert store.get("images/big") == data


def test_list_is_sorted_and_narrow(store: ObjectStore):
    keys = ["t/m=b/2", "t/m=a/9", "t/m=a/10", "t/m=a/sub/1", "t/m=ab/1", "u/1", "t/m=a.json"]
    for key in keys:
        store.put_new(key, b"x")
    assert list(store.list("t/m=a/")) == ["t/m=a/10", "t/m=a/9", "t/m=a/sub/1"]
    assert list(store.list("t/m=a")) == ["t/m=a/10", "t/m=a/9", "t/m=a/sub/1"]
    assert list(store.list("t")) == sorted(key for key in keys if key.startswith("t/"))
    assert list(store.list("absent/")) == []
    assert list(store.list("u/1")) == []


def test_delete_is_idempotent(store: ObjectStore):
    store.put_new("a/b", b"x")
    store.delete("a/b")
    store.delete("a/b")
    store.delete("never/there")
    assert store.get("a/b") is None
    assert list(store.list("a")) == []
    assert store.put_new("a/b", b"again") is True


@pytest.mark.parametrize("key", BAD_KEYS)
def test_bad_keys_are_refused_by_every_call(store: ObjectStore, key: str):
    calls = [
        lambda: store.put_new(key, b"x"),
        lambda: store.put(key, b"x"),
        lambda: store.get(key),
        lambda: store.head(key),
        lambda: store.delete(key),
    ]
    for call in calls:
        with pytest.raises(ValueError, match="not a valid object key"):
            call()
    if key != "a/":
        with pytest.raises(ValueError, match="not a valid object key"):
            list(store.list(key))


def test_of_racing_writers_exactly_one_wins(store: ObjectStore):
    keys = [f"race/{number}" for number in range(20)]
    start = threading.Barrier(8)
    wins: dict[str, list[bytes]] = {key: [] for key in keys}

    def write(writer: int) -> None:
        start.wait()
        for key in keys:
            data = bytes([writer]) * 2000
            if store.put_new(key, data):
                wins[key].append(data)

    threads = [threading.Thread(target=write, args=[number]) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {key: len(winners) for key, winners in wins.items()} == dict.fromkeys(keys, 1)
    assert all(store.get(key) == winners[0] for key, winners in wins.items())
    assert list(store.list("race")) == sorted(keys)


def test_readers_of_a_pointer_never_see_half_of_it(store: ObjectStore):
    store.put("runs/newest", b"0" * 4096)
    stop = threading.Event()
    seen: set[bytes | None] = set()

    def read() -> None:
        while not stop.is_set():
            seen.add(store.get("runs/newest"))

    reader = threading.Thread(target=read)
    reader.start()
    for number in range(60):
        store.put("runs/newest", bytes([48 + number % 10]) * 4096)
    stop.set()
    reader.join()
    assert None not in seen
    assert all(len(set(data)) == 1 and len(data) == 4096 for data in seen if data is not None)


def test_probe_finds_nothing_wrong_and_leaves_nothing_behind(store: ObjectStore):
    assert store.probe() == []
    assert list(store.list("probe")) == []


def test_polars_reads_what_the_store_wrote_and_writes_what_it_reads(store: ObjectStore):
    assert isinstance(store, HasAddresses)
    table = pl.DataFrame({"model": ["a", "b"], "oer": [0.25, None]})
    out = io.BytesIO()
    table.write_parquet(out)
    store.put_new("tables/steps/model=a+b/part-1.parquet", out.getvalue())
    scanned = scan_object(store, "tables/steps/model=a+b/part-1.parquet")
    assert scanned.collect().equals(table)
    assert scanned.select("oer").filter(pl.col("oer") > 0).collect().rows() == [(0.25,)]

    for name, write in (("written", table.write_parquet), ("sunk", table.lazy().sink_parquet)):
        where = store.address(f"tables/steps/{name}.parquet")
        write(where.url, storage_options=where.storage_options, credential_provider=None)
        data = store.get(f"tables/steps/{name}.parquet")
        assert data is not None
        assert pl.read_parquet(io.BytesIO(data)).equals(table)
    assert len(list(store.list("tables"))) == 3


@given(data=st.binary(max_size=3000))
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_come_back(store: ObjectStore, data: bytes):
    store.put("bytes/any", data)
    assert store.get("bytes/any") == data
    assert store.head("bytes/any") == len(data)


WRITER = """
import sys
from pathlib import Path
from adapters.stores.local import LocalStore
if sys.argv[2] == "no links":
    import errno, os
    def refuse(*_, **__):
        raise OSError(errno.EPERM, "Operation not permitted")
    os.link = refuse
store = LocalStore(Path(sys.argv[1]))
print("ready", flush=True)
for number in range(100_000):
    data = f"{number:08d}".encode() * 40_000
    store.put_new(f"kill/{number:08d}", data)
    store.put("kill/newest", data)
"""


@pytest.fixture(params=["links", "no links"])
def killed_store(request: pytest.FixtureRequest, tmp_path: Path) -> LocalStore:
    """A store whose writer was killed in the middle of its work."""
    command = [sys.executable, "-c", WRITER, str(tmp_path / "store"), request.param]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"ready\n"
        store = LocalStore(tmp_path / "store")
        deadline = time.monotonic() + 60
        while len(list(store.list("kill"))) < 12 and time.monotonic() < deadline:
            time.sleep(0.003)
        writer.send_signal(signal.SIGKILL)
    assert writer.returncode == -signal.SIGKILL
    return store


def test_a_killed_writer_leaves_whole_objects_only(killed_store: LocalStore):
    keys = list(killed_store.list("kill"))
    assert len(keys) >= 12
    for key in keys:
        data = killed_store.get(key)
        assert data is not None
        assert len(data) == 320_000
        assert data == data[:8] * 40_000
        assert key in ("kill/newest", f"kill/{data[:8].decode()}")
    following = f"kill/{len(keys):08d}"
    assert killed_store.put_new(following, b"next") or killed_store.head(following) == 320_000
    assert killed_store.probe() == []
