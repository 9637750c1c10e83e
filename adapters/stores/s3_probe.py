"""What an S3 endpoint cannot do of what the store relies on, found out by doing it."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from adapters.stores.s3_errors import status_of
from adapters.stores.s3_parts import Upload, put_in_parts
from domain.keys import PROBE

if TYPE_CHECKING:
    from adapters.stores.s3 import S3Store

WRITERS = 8
RACES = 2
IF_ABSENT: dict[str, Any] = {"IfNoneMatch": "*"}
NOT_OFFERED = (400, 405, 501)
"""Statuses by which an endpoint refuses what it does not know."""
TWO_COULD_WRITE = "two runs could both pay for the same edit"
CONDITION = f"writing an object only if it is absent (If-None-Match) is not honoured, so {TWO_COULD_WRITE}"
RACE = f"of several writers at a time not exactly one is told that it was first, so {TWO_COULD_WRITE}"
IN_ONE_PIECE = "FACEDRIFT_S3_MULTIPART_MIB=0 sends every object in one piece"
PARTS = f"completing an object of several parts only if it is absent is not honoured; {IN_ONE_PIECE}"
RACE_IN_PARTS = (
    f"of several writers in parts at a time not exactly one is told that it was first; {IN_ONE_PIECE}"
)
RANGES = "a part of an object (Range) cannot be read, which polars needs"
LISTING = "new objects are not listed, or not page by page"
READING = "what was written last is not what is read next"
DELETING = "a deleted object can still be read"
ENCRYPTION = "objects are not encrypted as FACEDRIFT_S3_SSE asks"


class Probe:
    """Objects under a prefix of their own, written, raced for, listed and removed."""

    def __init__(self, store: S3Store) -> None:
        self._store = store
        self._folder = f"{PROBE}/{uuid.uuid4().hex}"
        self._written: set[str] = set()
        self._in_parts = store.place.settings.multipart_mib > 0

    def problems(self) -> list[str]:
        """One sentence for each thing that does not work; raises StoreError when nothing does."""
        self._store.get(f"{self._folder}/absent")  # a missing bucket or a wrong key ends here
        try:
            found = [sentence for sentence, works in self._checks() if not self._offers(works)]
            for basic, race, works in self._races():
                if basic not in found and not self._offers(works):
                    found.append(race)
        finally:
            for key in self._written:
                self._store.delete(key)
        if any(self._store.get(key) is not None for key in self._written):
            found.append(DELETING)
        return found

    def _checks(self) -> list[tuple[str, Callable[[], bool]]]:
        checks = [(CONDITION, self._condition), (READING, self._reading), (RANGES, self._ranges)]
        checks += [(ENCRYPTION, self._encryption), (LISTING, self._listing)]
        return [*checks, (PARTS, self._parts)] if self._in_parts else checks

    def _races(self) -> list[tuple[str, str, Callable[[], bool]]]:
        races = [(CONDITION, RACE, self._race)]
        return [*races, (PARTS, RACE_IN_PARTS, self._race_in_parts)] if self._in_parts else races

    def _offers(self, works: Callable[[], bool]) -> bool:
        with self._store.errors("write", self._folder):
            try:
                return works()
            except ClientError as error:
                if status_of(error) in NOT_OFFERED:
                    return False
                raise

    def _key(self, name: str) -> str:
        key = f"{self._folder}/{name}"
        self._written.add(key)
        return key

    def _put(self, key: str, data: bytes, *, is_new: bool = False) -> bool:
        bucket, name = self._store.place.bucket, self._store.name(key)
        extra = self._store.extra | (IF_ABSENT if is_new else {})
        try:
            self._store.client.put_object(Bucket=bucket, Key=name, Body=data, **extra)
        except ClientError as error:
            if status_of(error) in (409, 412):
                return False
            raise
        return True

    def _condition(self) -> bool:
        key = self._key("new")
        first = self._put(key, b"1", is_new=True)
        return first and not self._put(key, b"2", is_new=True) and self._store.get(key) == b"1"

    def _race(self) -> bool:
        keys = [self._key(f"race-{number}") for number in range(RACES)]
        start = Barrier(WRITERS)

        def write(writer: int) -> list[bool]:
            start.wait()
            return [self._put(key, bytes([writer]), is_new=True) for key in keys]

        return _one_winner_each(write)

    def _reading(self) -> bool:
        key = self._key("pointer")
        for text in (b"one", b"two", b"three"):
            self._put(key, text)
            if self._store.get(key) != text:
                return False
        return True

    def _ranges(self) -> bool:
        key = self._key("whole")
        self._put(key, b"0123456789")
        found = self._store.client.get_object(
            Bucket=self._store.place.bucket, Key=self._store.name(key), Range="bytes=2-4"
        )
        return found["Body"].read() == b"234"

    def _parts(self) -> bool:
        key = self._key("parts")
        for data in (b"first", b"second"):
            try:
                put_in_parts(self._upload(key), data, len(data), IF_ABSENT)
            except ClientError as error:
                if status_of(error) != 412:
                    raise
                return data == b"second" and self._store.get(key) == b"first"
        return False

    def _race_in_parts(self) -> bool:
        start, keys = Barrier(WRITERS), [self._key(f"race-in-parts-{number}") for number in range(RACES)]

        def write(writer: int) -> list[bool]:
            uploads = [self._upload(key) for key in keys]
            for upload in uploads:
                upload.send(bytes([writer]), 1)
            start.wait()
            return [self._completes(upload) for upload in uploads]

        return _one_winner_each(write)

    def _completes(self, upload: Upload) -> bool:
        try:
            upload.complete(IF_ABSENT)
        except ClientError as error:
            upload.abort()
            if status_of(error) in (409, 412):
                return False
            raise
        return True

    def _upload(self, key: str) -> Upload:
        store = self._store
        return Upload(store.client, store.place.bucket, store.name(key), store.extra)

    def _encryption(self) -> bool:
        wanted = self._store.place.settings.sse
        if wanted is None:
            return True
        key = self._key("encrypted")
        self._store.put(key, b"x")
        about = self._store.client.head_object(Bucket=self._store.place.bucket, Key=self._store.name(key))
        return about.get("ServerSideEncryption") == wanted

    def _listing(self) -> bool:
        keys = sorted({self._key(f"listed-{number}") for number in range(3)})
        for key in keys:
            self._put(key, b"x")
        top = self._store.name(f"{self._folder}/listed")
        pages = self._store.client.get_paginator("list_objects_v2").paginate(
            Bucket=self._store.place.bucket, Prefix=top, PaginationConfig={"PageSize": 2}
        )
        found = sorted(item.get("Key", "") for page in pages for item in page.get("Contents", ()))
        return found == [self._store.name(key) for key in keys]


def _one_winner_each(write: Callable[[int], list[bool]]) -> bool:
    """Whether of racing writers exactly one was told, of each object, that it was first."""
    with ThreadPoolExecutor(WRITERS) as pool:
        won = list(pool.map(write, range(WRITERS)))
    return all(sum(of_one) == 1 for of_one in zip(*won, strict=True))
