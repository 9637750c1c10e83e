"""Tables that polars reads where they are, so that a column of a large one is not the whole of it."""

from __future__ import annotations

import io

import polars as pl

from adapters.base import HasAddresses, ObjectStore
from domain.errors import StoreError


def scan_object(store: ObjectStore, key: str) -> pl.LazyFrame:
    """A Parquet object, of which only what is asked for is read where the store has addresses.

    What polars meets on its way is polars' own error. Raises StoreError when the object is absent and had
    to be read at once.
    """
    if isinstance(store, HasAddresses):
        found = store.address(key)
        options = None if found.storage_options is None else dict(found.storage_options)
        return pl.scan_parquet(found.url, storage_options=options, credential_provider=None, glob=False)
    data = store.get(key)
    if data is None:
        raise StoreError(f"{key!r} is not in the store", key=key)
    return pl.scan_parquet(io.BytesIO(data))
