"""A store in a local directory: the embedded default, no server, no credentials.

Every write goes to a hidden temporary file, is flushed to the disk and then appears under its key at
once, so that a kill leaves either the whole object or none.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import stat
import uuid
from collections.abc import Generator, Iterator
from pathlib import Path

from adapters.base import ObjectAddress
from domain.errors import StoreError
from domain.keys import PROBE, check_key, is_of_probe

_NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS}


class LocalStore:
    """Objects as files below one directory."""

    def __init__(self, root: Path, *, fsync: bool = True) -> None:
        self.root = root.resolve()
        self._fsync = fsync

    def put_new(self, key: str, data: bytes) -> bool:
        """Write an object unless its key exists; of several writers exactly one gets True."""
        path = self._path(key)
        with self._errors(key, "write"):
            if _size(path) is not None:
                return False
            temporary = self._write_temporary(path, data)
            try:
                return self._link(temporary, path)
            finally:
                temporary.unlink(missing_ok=True)

    def put(self, key: str, data: bytes) -> None:
        """Write or replace an object: pointers only."""
        path = self._path(key)
        with self._errors(key, "write"):
            temporary = self._write_temporary(path, data)
            try:
                temporary.replace(path)
            finally:
                temporary.unlink(missing_ok=True)
            self._sync_directory(path.parent)

    def get(self, key: str) -> bytes | None:
        """The bytes of an object, or None only when it is definitely absent."""
        path = self._path(key)
        with self._errors(key, "read"):
            try:
                return path.read_bytes()
            except FileNotFoundError:
                return None

    def head(self, key: str) -> int | None:
        """The size of an object in bytes, or None only when it is definitely absent."""
        path = self._path(key)
        with self._errors(key, "read"):
            return _size(path)

    def list(self, prefix: str) -> Iterator[str]:
        """Keys below a prefix that ends at a `/`, sorted."""
        top = self._path(prefix.removesuffix("/"))
        with self._errors(prefix, "list"):
            found = [
                Path(folder, name).relative_to(self.root).as_posix()
                for folder, _, names in os.walk(top, onerror=_unless_absent)
                for name in names
                if not name.startswith(".")
            ]
        yield from sorted(found)

    def delete(self, key: str) -> None:
        """Remove an object; a missing one is fine."""
        path = self._path(key)
        with self._errors(key, "delete"):
            path.unlink(missing_ok=True)

    def probe(self) -> list[str]:
        """What this directory cannot do; raises StoreError when it cannot be written or read at all."""
        key = f"{PROBE}/{uuid.uuid4().hex}"
        problems: list[str] = []
        first = self.put_new(key, b"1")
        try:
            if not first or self.put_new(key, b"2") or self.get(key) != b"1":
                problems.append("writing an object only if it is absent is not honoured")
            if list(self.list(PROBE)).count(key) != 1:
                problems.append("a new object is not listed")
        finally:
            self.delete(key)
        return problems

    def address(self, key: str) -> ObjectAddress:
        """Where polars finds an object by itself."""
        return ObjectAddress(str(self._path(key)))

    def _path(self, key: str) -> Path:
        path = self.root / check_key(key)
        try:
            inside = path.resolve().is_relative_to(self.root)
        except RuntimeError as error:  # links in a circle
            raise StoreError(f"{key!r} leads through links in a circle", key=key) from error
        if not inside:
            raise StoreError(f"{key!r} leads out of the store through a link", key=key)
        return path

    def _write_temporary(self, path: Path, data: bytes) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.parent / f".{uuid.uuid4().hex}.tmp"
        try:
            with temporary.open("xb") as file:
                file.write(data)
                if self._fsync:
                    file.flush()
                    os.fsync(file.fileno())
        except OSError:
            temporary.unlink(missing_ok=True)
            raise
        return temporary

    def _link(self, temporary: Path, path: Path) -> bool:
        try:
            os.link(temporary, path)
        except FileExistsError:
            return False
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            if not _rename_new(temporary, path):
                return False
        self._sync_directory(path.parent)
        return True

    def _sync_directory(self, path: Path) -> None:
        if self._fsync:
            descriptor = os.open(path, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)

    @contextlib.contextmanager
    def _errors(self, key: str, verb: str) -> Generator[None]:
        try:
            yield
        except OSError as error:
            cannot = f"cannot {verb} {key!r} in the store {self.root}"
            if is_of_probe(key):
                cannot = f"the store {self.root} cannot be used"
            raise StoreError(f"{cannot}: {_problem(error, self.root / key)}", key=key) from error


def _problem(error: OSError, path: Path) -> str:
    """What stands in the way of an object, and what to do."""
    if isinstance(error, NotADirectoryError | FileExistsError):
        in_place = [above for above in path.parents if above.exists() and not above.is_dir()]
        if in_place:
            return (
                f"{in_place[0]} is a file, where a directory is needed; move it away, or name another "
                "directory in FACEDRIFT_STORE"
            )
    return f"{error.strerror or error}; check that the directory exists, is writable and has free space"


def _size(path: Path) -> int | None:
    """The size of a file, or None when nothing is there."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, "something that is not a file is in the object's place")
    return found.st_size


def _unless_absent(error: OSError) -> None:
    """For `os.walk`, which would skip a directory that it cannot read."""
    if not isinstance(error, FileNotFoundError | NotADirectoryError):
        raise error


def _rename_new(temporary: Path, path: Path) -> bool:
    """For file systems without hard links: renames under a lock, which the system frees after a kill."""
    with (path.parent / ".lock").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if path.exists():
            return False
        temporary.replace(path)
    return True
