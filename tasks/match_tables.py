"""The matches of a run as a table in the store, and the record that names it."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator

import polars as pl

from adapters.base import ObjectStore
from domain import keys
from domain.errors import StoreError
from domain.matches import Match, MatchSet
from tasks import ledger, parts

SCHEMA = pl.Schema({"id": pl.String, **{name: pl.String for name in Match.model_fields}})
"""A match a row, in the order of the queue; `gold` is null but where the answer is known."""


def encode(matches: Iterable[Match]) -> bytes:
    """The table of matches as the bytes of a Parquet file, the same for the same matches."""
    names = tuple(Match.model_fields)
    rows = [(match.id, *(getattr(match, name) for name in names)) for match in matches]
    return parts.encode(pl.DataFrame(rows, SCHEMA, orient="row"))


def match_set(suite: str, run_id: str, store: ObjectStore) -> MatchSet | None:
    """What was made of a run's finished chains; None when nothing was yet."""
    return ledger.read(store, keys.match_set(suite, run_id), MatchSet)


def expect_match_set(suite: str, run_id: str, store: ObjectStore) -> MatchSet:
    """The same; raises StoreError that says how to make it."""
    found = match_set(suite, run_id, store)
    if found is None:
        raise StoreError(
            f"no matches were made of the run {run_id!r}; make them with: facedrift matches make {suite}",
            key=keys.match_set(suite, run_id),
        )
    return found


def read_matches(matches: MatchSet, store: ObjectStore) -> pl.DataFrame:
    """The matches of a set, in the order of the queue; see `SCHEMA`."""
    data = store.get(matches.table)
    if data is None or keys.sha256(data)[:16] != matches.digest:
        what = "is gone from" if data is None else "is damaged in"
        raise StoreError(
            f"the table {matches.table!r} {what} the store; delete the record of the matches to have them "
            "made again",
            key=matches.table,
        )
    return pl.read_parquet(io.BytesIO(data))


def matches_of(table: pl.DataFrame) -> Iterator[Match]:
    """The rows of a table that was read, as matches; they were checked when they were made."""
    for row in table.drop("id").iter_rows(named=True):
        yield Match.model_construct(**row)


def named_matches(table: pl.DataFrame) -> Iterator[tuple[str, Match]]:
    """The same, each with its id."""
    return zip(table["id"].to_list(), matches_of(table), strict=True)
