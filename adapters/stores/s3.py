"""A store in a bucket of AWS or of anything else that speaks S3, by boto3; safe for many threads.

Every object carries the name of the call that wrote it, so that `put_new` whose answer was lost and
which was sent again can tell its own object from another writer's.
"""

from __future__ import annotations

import contextlib
import random
import time
import uuid
from collections.abc import Generator, Iterator
from functools import cached_property
from typing import Any

from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    IncompleteReadError,
    ReadTimeoutError,
    ResponseStreamingError,
)

from adapters.base import ObjectAddress
from adapters.stores.s3_client import open_client, polars_options
from adapters.stores.s3_errors import Translator, code_of, status_of, was_sent_again
from adapters.stores.s3_parts import Upload, put_in_parts
from adapters.stores.settings import MIB, BucketPlace
from domain.keys import check_key

WRITER = "writer"
"""Name of the metadata that holds who wrote an object."""
CONFLICT_WAITS_S = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6)
READS = 3
"""Times that an object is asked for when its bytes stop on the way."""
CONTENT_TYPES = {
    "css": "text/css; charset=utf-8",
    "csv": "text/csv; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "jpeg": "image/jpeg",
    "jpg": "image/jpeg",
    "js": "text/javascript; charset=utf-8",
    "json": "application/json",
    "md": "text/markdown; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
    "pdf": "application/pdf",
    "png": "image/png",
    "svg": "image/svg+xml",
    "tex": "application/x-tex",
    "txt": "text/plain; charset=utf-8",
    "webp": "image/webp",
}


class S3Store:
    """Objects below one prefix of a bucket."""

    def __init__(self, place: BucketPlace) -> None:
        """Open it; raises StoreError without credentials, DefinitionError for settings of no use."""
        self.place = place
        self.client, self._credentials = open_client(place.settings)
        meta = self.client.meta
        self._say = Translator(place.bucket, meta.endpoint_url, meta.region_name)

    def __str__(self) -> str:
        return str(self.place)

    def put_new(self, key: str, data: bytes) -> bool:
        """Write an object unless its key exists; of several writers exactly one gets True."""
        name = self.name(key)
        with self.errors("write", key):
            if self._in_parts(data) and self._size(name) is not None:
                return False  # rather than after sending all of it
            return self._put_new(name, data)

    def put(self, key: str, data: bytes) -> None:
        """Write or replace an object: pointers only."""
        name = self.name(key)
        with self.errors("write", key):
            self._send(name, data, uuid.uuid4().hex, {})

    def get(self, key: str) -> bytes | None:
        """The bytes of an object, or None only when it is definitely absent."""
        name = self.name(key)
        with self.errors("read", key):
            return self._get(name)

    def head(self, key: str) -> int | None:
        """The size of an object in bytes, or None only when it is definitely absent."""
        name = self.name(key)
        with self.errors("read", key):
            return self._size(name)

    def list(self, prefix: str) -> Iterator[str]:
        """Keys below a prefix that ends at a `/`, sorted."""
        top = self.name(prefix.removesuffix("/")) + "/"
        cut = len(self.name("x")) - 1
        with self.errors("list", prefix):
            pages = self.client.get_paginator("list_objects_v2").paginate(
                Bucket=self.place.bucket, Prefix=top
            )
            found = [item.get("Key", "")[cut:] for page in pages for item in page.get("Contents", ())]
        yield from sorted(
            key for key in found if not key.rpartition("/")[2].startswith(".") and key[-1:] != "/"
        )

    def delete(self, key: str) -> None:
        """Remove an object; a missing one is fine."""
        name = self.name(key)
        with self.errors("delete", key):
            try:
                self.client.delete_object(Bucket=self.place.bucket, Key=name)
            except ClientError as error:
                if code_of(error) != "NoSuchKey":
                    raise

    def probe(self) -> list[str]:
        """What this endpoint cannot do; raises StoreError when the bucket cannot be used at all."""
        from adapters.stores.s3_probe import Probe

        return Probe(self).problems()

    def address(self, key: str) -> ObjectAddress:
        """Where polars finds an object by itself."""
        url = f"s3://{self.place.bucket}/{self.name(key)}"
        options = polars_options(self.client, self._credentials, self.place.settings, self.place.bucket)
        return ObjectAddress(url, options)

    def name(self, key: str) -> str:
        """The name of a key in the bucket; raises ValueError for what is no key."""
        return self.place.full(check_key(key))

    def _put_new(self, name: str, data: bytes) -> bool:
        writer, unsure = uuid.uuid4().hex, False
        for wait_s in (*CONFLICT_WAITS_S, None):
            try:
                self._send(name, data, writer, {"IfNoneMatch": "*"})
            except ClientError as error:
                unsure = unsure or was_sent_again(error)
                if status_of(error) == 412 or (code_of(error) == "NoSuchUpload" and unsure):
                    return unsure and self._is_ours(name, data, writer)
                if status_of(error) != 409 or wait_s is None:
                    raise
                time.sleep(wait_s * random.uniform(0.5, 1.0))
            else:
                return True
        raise AssertionError("the last try returns or raises")

    def _send(self, name: str, data: bytes, writer: str, condition: dict[str, Any]) -> None:
        extra = {**self.extra, "ContentType": content_type(name), "Metadata": {WRITER: writer}}
        if self._in_parts(data):
            upload = Upload(self.client, self.place.bucket, name, extra)
            put_in_parts(upload, data, self.place.settings.part_mib * MIB, condition)
        else:
            self.client.put_object(Bucket=self.place.bucket, Key=name, Body=data, **extra, **condition)

    @cached_property
    def extra(self) -> dict[str, Any]:
        """What every object is written with."""
        settings = self.place.settings
        extra = {"ServerSideEncryption": settings.sse, "SSEKMSKeyId": settings.sse_kms_key_id}
        return {name: value for name, value in extra.items() if value}

    def _in_parts(self, data: bytes) -> bool:
        return 0 < self.place.settings.multipart_mib * MIB < len(data)

    def _is_ours(self, name: str, data: bytes, writer: str) -> bool:
        """Whether an object is what a call wrote whose answer was lost."""
        about = self.client.head_object(Bucket=self.place.bucket, Key=name)
        writers = {key.lower(): value for key, value in about["Metadata"].items()}
        return writers[WRITER] == writer if WRITER in writers else self._get(name) == data

    def _get(self, name: str) -> bytes | None:
        for left in reversed(range(READS)):
            body = self._open(name)
            if body is None:
                return None
            try:
                return body["Body"].read()
            except (IncompleteReadError, ReadTimeoutError, ResponseStreamingError):
                if not left:
                    raise
        raise AssertionError("the last try returns or raises")

    def _open(self, name: str) -> Any:
        try:
            return self.client.get_object(Bucket=self.place.bucket, Key=name)
        except ClientError as error:
            if code_of(error) == "NoSuchKey" and status_of(error) == 404:
                return None
            raise

    def _size(self, name: str) -> int | None:
        try:
            return self.client.head_object(Bucket=self.place.bucket, Key=name)["ContentLength"]
        except ClientError as error:
            if status_of(error) >= 500:
                raise
        found = self._open(name)  # an answer to HEAD has no body: only this one says what is missing
        if found is None:
            return None
        found["Body"].close()
        return found["ContentLength"]

    @contextlib.contextmanager
    def errors(self, verb: str, key: str) -> Generator[None]:
        """Turns what boto3 raises into StoreErrors."""
        try:
            yield
        except ClientError as error:
            raise self._say.refused(error, verb, key) from error
        except BotoCoreError as error:
            raise self._say.unreached(error, verb, key) from error


def content_type(name: str) -> str:
    """What a browser is told that an object is."""
    return CONTENT_TYPES.get(name.rpartition(".")[2].lower(), "application/octet-stream")
