"""Typed records in the store: the ledger that says what is done. Reading is strict.

Only a definite "not there" is a miss. Whatever else goes wrong while reading is a StoreError, so that
a store that stumbles never looks like work that is missing.
"""

from __future__ import annotations

import math
from typing import Any, TypeVar, cast

from pydantic import BaseModel, ValidationError

from adapters.base import ObjectStore
from domain import keys
from domain.errors import StoreError
from domain.records import CheckRecord, FaceRecord, ImageRef, JudgementRecord, OutcomeRecord, StateRecord

Record = TypeVar("Record", bound=BaseModel)

_REMEDY = "restore it, or delete the outcomes that name it and tables/steps/ to have it made again"


def read(store: ObjectStore, key: str, kind: type[Record]) -> Record | None:
    """The record under a key, or None when there is none."""
    data = store.get(key)
    if data is None:
        return None
    try:
        return kind.model_validate_json(data)
    except ValidationError as error:
        raise StoreError(
            f"the record {key!r} is damaged or of another version: {error.errors()[0]['msg']}; "
            "delete it to have it made again",
            key=key,
        ) from error


def write_new(store: ObjectStore, key: str, record: BaseModel) -> bool:
    """Write a record unless there is one; a number that is not finite, as a provider may send, is null."""
    return store.put_new(key, keys.canonical_json(_finite(record.model_dump(mode="json"))))


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _finite(item) for name, item in cast(dict[str, Any], value).items()}
    if isinstance(value, list):
        return [_finite(item) for item in cast(list[Any], value)]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def read_image(store: ObjectStore, sha256: str, extension: str) -> bytes:
    """Bytes of an image that a record names; checked against their name."""
    key = keys.image(sha256, extension)
    data = store.get(key)
    if data is None:
        raise StoreError(f"the image {key!r} is gone from the store; {_REMEDY}", key=key)
    if keys.sha256(data) != sha256:
        raise StoreError(f"the image {key!r} does not match its name; {_REMEDY}", key=key)
    return data


def write_image(store: ObjectStore, data: bytes, ref: ImageRef) -> None:
    """Store bytes under their sha256; the same bytes are stored once."""
    store.put_new(keys.image(ref.sha256, ref.extension), data)


def outcome(store: ObjectStore, key: str) -> OutcomeRecord | None:
    """How an attempt at a step ended, if it did."""
    return read(store, keys.outcome(key), OutcomeRecord)


def expect_outcome(store: ObjectStore, key: str) -> OutcomeRecord:
    """The outcome of an attempt that is known to have ended."""
    found = outcome(store, key)
    if found is None:
        raise StoreError(f"the outcome {key!r} was there and is gone; run again", key=keys.outcome(key))
    return found


def faces(store: ObjectStore, embedder: str, sha256: str) -> FaceRecord | None:
    """What an embedder found in an image."""
    return read(store, keys.faces(embedder, sha256), FaceRecord)


def judgement(store: ObjectStore, judge: str, key: str) -> JudgementRecord | None:
    """What a judge answered about an edit."""
    return read(store, keys.judgement(judge, key), JudgementRecord)


def state(store: ObjectStore, tracker: str, sha256: str) -> StateRecord | None:
    """What a tracker saw in an image."""
    return read(store, keys.state(tracker, sha256), StateRecord)


def check(store: ObjectStore, checker: str, key: str) -> CheckRecord | None:
    """What a step checker said about an edit."""
    return read(store, keys.check(checker, key), CheckRecord)


def expect_check(store: ObjectStore, checker: str, key: str) -> CheckRecord:
    """What a step checker is known to have said about an edit."""
    found = check(store, checker, key)
    if found is None:
        raise StoreError(f"the check {key!r} was there and is gone; run again", key=keys.check(checker, key))
    return found
