"""Parquet parts under content keys, and the pointer that lists those that count.

A part is written once and never changes; its name is the digest of its bytes, so that a damaged one is
known as such. The pointer is written last. Several processes may change one pointer at the same time.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Sequence

import polars as pl

from adapters.base import ObjectStore
from domain import keys
from domain.errors import StoreError
from tasks.threads import on_threads

MOST_PARTS = 64
"""Above so many, parts are merged into one: many small files are slow to read."""
MOST_TRIES = 20


def encode(frame: pl.DataFrame) -> bytes:
    """The bytes of a part, the same for the same rows."""
    out = io.BytesIO()
    frame.rechunk().write_parquet(out, compression="zstd")
    return out.getvalue()


def write(store: ObjectStore, key: str, data: bytes) -> None:
    """Write a part; what is there already is kept unless it is damaged."""
    if not store.put_new(key, data) and store.get(key) != data:
        store.put(key, data)


def read(store: ObjectStore, key: str, schema: pl.Schema, columns: Sequence[str]) -> pl.DataFrame | None:
    """Columns of a part; None when it is not there, damaged or of another schema, and so worth nothing."""
    data = store.get(key)
    if data is None or f"part-{keys.sha256(data)[:16]}.parquet" != key.rpartition("/")[2]:
        return None
    try:
        if pl.read_parquet_schema(io.BytesIO(data)) != schema:
            return None
        return pl.read_parquet(io.BytesIO(data), columns=list(columns))
    except pl.exceptions.PolarsError:
        return None


def read_all(
    store: ObjectStore, listed: Iterable[str], schema: pl.Schema, columns: Sequence[str]
) -> tuple[pl.DataFrame, set[str]]:
    """The rows of several parts, and which of these are worth nothing."""
    names = sorted(listed)
    found = on_threads(lambda key: read(store, key, schema, columns), names)
    empty = pl.DataFrame(schema={name: schema[name] for name in columns})
    whole = [frame for frame in found if frame is not None]
    return pl.concat([empty, *whole]), {n for n, frame in zip(names, found, strict=True) if frame is None}


def update(store: ObjectStore, key: str, change: Callable[[bytes | None], bytes | None]) -> None:
    """Bring a pointer to where `change` leaves it as it is; None and equal bytes say that it does.

    Two writers may overwrite each other. Each looks again after it has written, so that what one of them
    took away is put back by the one whose it is.

    Raises:
        StoreError: others keep changing it.
    """
    for _ in range(MOST_TRIES):
        before = store.get(key)
        after = change(before)
        if after is None or after == before:
            return
        store.put(key, after)
    raise StoreError(f"{key!r} is changed by too many writers at once; run again", key=key)
