"""What is particular to the local store; the laws are in tests/contract/test_stores.py."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from adapters.stores.local import LocalStore
from domain.errors import StoreError

CALLS: dict[str, Callable[[LocalStore, str], object]] = {
    "put_new": lambda store, key: store.put_new(key, b"x"),
    "put": lambda store, key: store.put(key, b"x"),
    "get": lambda store, key: store.get(key),
    "head": lambda store, key: store.head(key),
}


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path / "store")


@pytest.mark.parametrize("below", ["", "mine/here"])
def test_a_store_whose_place_a_file_has_says_which_file(tmp_path: Path, below: str):
    (tmp_path / "store").write_bytes(b"a file")
    store = LocalStore(tmp_path / "store" / below)
    with pytest.raises(StoreError) as caught:
        store.probe()
    assert str(caught.value) == (
        f"the store {store.root} cannot be used: {tmp_path / 'store'} is a file, where a directory is "
        "needed; move it away, or name another directory in FACEDRIFT_STORE"
    )


@pytest.mark.parametrize("call", CALLS)
def test_a_file_in_place_of_a_folder_is_named(store: LocalStore, call: str):
    store.put_new("a", b"x")
    with pytest.raises(StoreError, match=rf"'a/b' in the store .*: {store.root / 'a'} is a file"):
        CALLS[call](store, "a/b")


def test_a_full_disk_is_said_of_the_store_that_is_tried(store: LocalStore, monkeypatch: pytest.MonkeyPatch):
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StoreError) as caught:
        store.probe()
    assert str(caught.value) == (
        f"the store {store.root} cannot be used: No space left on device; check that the directory exists, "
        "is writable and has free space"
    )


@pytest.mark.parametrize("call", CALLS)
def test_a_file_in_place_of_a_directory(store: LocalStore, call: str):
    store.put_new("a", b"x")
    with pytest.raises(StoreError, match=r"cannot (read|write) 'a/b' in the store") as caught:
        CALLS[call](store, "a/b")
    assert caught.value.key == "a/b"


@pytest.mark.parametrize("call", CALLS)
def test_a_directory_in_place_of_an_object(store: LocalStore, call: str):
    store.put_new("a/b", b"x")
    with pytest.raises(StoreError, match=r"cannot (read|write) 'a'"):
        CALLS[call](store, "a")
    assert store.get("a/b") == b"x"


@pytest.mark.parametrize("call", [*CALLS, "delete"])
def test_a_link_that_leads_out_is_refused(store: LocalStore, tmp_path: Path, call: str):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_bytes(b"private")
    store.put_new("ok", b"x")
    (store.root / "images").symlink_to(outside)
    (store.root / "direct").symlink_to(outside / "secret")
    for key in ("images/secret", "images/new", "direct"):
        with pytest.raises(StoreError, match="leads out of the store"):
            {**CALLS, "delete": lambda store, key: store.delete(key)}[call](store, key)
    assert [file.name for file in outside.iterdir()] == ["secret"]
    assert (outside / "secret").read_bytes() == b"private"


def test_list_does_not_follow_a_link_that_leads_out(store: LocalStore, tmp_path: Path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_bytes(b"private")
    store.put_new("images/a", b"x")
    (store.root / "images" / "more").symlink_to(outside)
    assert list(store.list("images")) == ["images/a"]


@pytest.mark.parametrize("call", [*CALLS, "delete"])
def test_links_in_a_circle(store: LocalStore, call: str):
    store.put_new("a", b"x")
    (store.root / "round").symlink_to(store.root / "about")
    (store.root / "about").symlink_to(store.root / "round")
    with pytest.raises(StoreError, match="circle"):
        {**CALLS, "delete": lambda store, key: store.delete(key)}[call](store, "round/x")


def test_the_root_itself_may_be_a_link(tmp_path: Path):
    (tmp_path / "disk").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "disk")
    LocalStore(tmp_path / "link").put_new("a/b", b"x")
    assert (tmp_path / "disk/a/b").read_bytes() == b"x"


def test_a_full_disk_is_an_error_and_leaves_no_object(store: LocalStore, monkeypatch: pytest.MonkeyPatch):
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    store.put("pointer", b"before")
    monkeypatch.setattr(os, "fsync", full)
    for write in (store.put_new, store.put):
        with pytest.raises(StoreError, match=r"No space left on device.*free space"):
            write("a/b", b"x")
    with pytest.raises(StoreError):
        store.put("pointer", b"after")
    monkeypatch.undo()
    assert store.get("a/b") is None
    assert store.get("pointer") == b"before"
    assert [path.name for path in store.root.rglob(".*")] == []


def test_a_failed_replacement_leaves_nothing_behind(store: LocalStore):
    store.put_new("a/b", b"x")
    with pytest.raises(StoreError):
        store.put("a", b"over a directory")
    assert [path.name for path in store.root.rglob(".*")] == []


def test_another_failure_of_linking_is_an_error(store: LocalStore, monkeypatch: pytest.MonkeyPatch):
    def broken(*_: object) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "link", broken)
    with pytest.raises(StoreError, match="Input/output error"):
        store.put_new("a/b", b"x")
    assert store.get("a/b") is None


def test_leftovers_of_a_kill_are_not_listed(store: LocalStore):
    store.put_new("a/b", b"x")
    (store.root / "a" / ".0123.tmp").write_bytes(b"half")
    assert list(store.list("a")) == ["a/b"]


def test_nothing_is_made_before_the_first_write(tmp_path: Path):
    store = LocalStore(tmp_path / "store")
    assert store.get("a") is None
    assert list(store.list("a")) == []
    assert not (tmp_path / "store").exists()


AS_NOBODY = """
import json, os, sys
from pathlib import Path
from adapters.stores.local import LocalStore
from domain.errors import StoreError
if os.geteuid() == 0:
    os.setuid(65534)
store, told = LocalStore(Path(sys.argv[1])), {}
calls = {
    "get": lambda: store.get("closed/a"),
    "head": lambda: store.head("closed/a"),
    "put_new": lambda: store.put_new("closed/b", b"x"),
    "put": lambda: store.put("closed/b", b"x"),
    "list": lambda: list(store.list("closed")),
    "list above": lambda: list(store.list("top")),
    "read-only put_new": lambda: store.put_new("readonly/b", b"x"),
    "read-only delete": lambda: store.delete("readonly/a"),
    "unreadable get": lambda: store.get("readonly/unreadable"),
    "read-only get": lambda: store.get("readonly/a"),
    "read-only absent": lambda: store.get("readonly/absent"),
}
for name, call in calls.items():
    try:
        told[name] = repr(call())
    except StoreError as error:
        told[name] = "StoreError"
print(json.dumps(told))
"""


def test_without_permission_nothing_looks_absent():
    """In a process of another user, since root may do everything."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        store = LocalStore(root)
        for key in ("closed/a", "readonly/a", "readonly/unreadable", "top/open/a", "top/shut/a"):
            store.put_new(key, b"x")
        (root / "readonly/unreadable").chmod(0)
        for name, mode in {".": 0o755, "closed": 0, "readonly": 0o555, "top/shut": 0}.items():
            (root / name).chmod(mode)
        done = subprocess.run([sys.executable, "-c", AS_NOBODY, folder], capture_output=True, check=False)
        for name in (".", "closed", "readonly", "top/shut"):
            (root / name).chmod(0o755)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told.pop("read-only get") == "b'x'"
    assert told.pop("read-only absent") == "None"
    assert told == dict.fromkeys(told, "StoreError")
