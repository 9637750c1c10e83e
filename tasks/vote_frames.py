"""Stored matches and votes as tables: what a ranking reads."""

from __future__ import annotations

import io
from dataclasses import dataclass

import polars as pl

from adapters.base import ObjectStore
from domain import keys
from domain.errors import StoreError
from domain.matches import MatchSet
from domain.votes import Vote
from tasks import ledger


@dataclass(frozen=True)
class VotesRead:
    """The votes on the matches of a set, and what was left out of them."""

    votes: pl.DataFrame
    """`match`, `choice`, `annotator`, `at`, `source`, `left`, `ms`, `is_gold`."""
    other_matches: int
    """Votes on matches that are none of this set."""
    duplicates: int
    """Further votes of the same annotator on the same match."""
    digest: str
    """Names these votes, whichever parts hold them."""


def expect_match_set(suite: str, run_id: str, store: ObjectStore) -> MatchSet:
    """What was made of a run's finished chains; raises StoreError where nothing was yet."""
    key = keys.match_set(suite, run_id)
    found = ledger.read(store, key, MatchSet)
    if found is None:
        raise StoreError(f"no matches were made of the run {run_id!r}; make them first", key=key)
    return found


def read_matches(matches: MatchSet, store: ObjectStore) -> pl.DataFrame:
    """The matches of a set: the fields of `Match` with `id`; raises StoreError where they are gone."""
    data = store.get(matches.table)
    if data is None:
        raise StoreError("the matches are gone from the store; make them again", key=matches.table)
    return pl.read_parquet(io.BytesIO(data))


def read_votes(suite: str, matches: MatchSet, store: ObjectStore) -> VotesRead:
    """The votes on the matches of a set, one of each annotator on a match, in the order of their ids."""
    table = read_matches(matches, store).select(
        pl.col("id").alias("match"), pl.col("gold").is_not_null().alias("is_gold")
    )
    schema = {name: pl.Int64 if name == "ms" else pl.String for name in ("id", *Vote.model_fields)}
    parts = [
        pl.read_parquet(io.BytesIO(data)) for key in store.list(keys.votes(suite)) if (data := store.get(key))
    ]
    there = pl.concat([pl.DataFrame(schema=schema), *parts]).unique("id")
    ours = there.join(table, on="match", how="inner").sort("at", "id", nulls_last=True)
    once = ours.unique(["source", "annotator", "match"], keep="first", maintain_order=True).sort("id")
    return VotesRead(
        votes=once.select("match", "choice", "annotator", "at", "source", "left", "ms", "is_gold"),
        other_matches=there.height - ours.height,
        duplicates=ours.height - once.height,
        digest=keys.sha256("\n".join(once["id"]).encode()),
    )
