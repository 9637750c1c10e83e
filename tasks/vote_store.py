"""The votes of a suite: Parquet parts that are only added to, each vote once.

A part's name is the digest of its rows, and a vote's id the digest of all that it says, so that collecting
the same source again, in another order or after a crash, adds nothing. Of two votes of one annotator on one
match the first counts: the one that was stored first, and where two collections ran at once, the earlier of
the two by its time.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from adapters.base import ObjectStore
from domain import keys
from domain.errors import StoreError
from domain.matches import MatchSet
from domain.votes import FoundVote, SimulatedRule, Vote
from tasks import match_tables, parts
from tasks.threads import on_threads

SCHEMA = pl.Schema(
    {
        "id": pl.String,
        "match": pl.String,
        "choice": pl.String,
        "annotator": pl.String,
        "at": pl.String,
        "source": pl.String,
        "source_id": pl.String,
        "left": pl.String,
        "ms": pl.Int64,
        "country": pl.String,
        "user_score": pl.Float64,
    }
)
"""A vote a row: its id and the fields of `domain.votes.Vote`."""
READ = (
    "match", "choice", "annotator", "at", "source", "left", "ms", "country", "user_score", "is_gold",
)  # fmt: skip


@dataclass(frozen=True)
class VotesRead:
    """The votes on the matches of a set, and what was left out of them."""

    votes: pl.DataFrame
    """`match`, `choice`, `annotator`, `at`, `source`, `left`, `ms`, `country`, `user_score`, `is_gold`."""
    other_matches: int
    """Votes on matches that are none of this set."""
    duplicates: int
    """Further votes of the same annotator on the same match."""
    digest: str
    """Names these votes, whichever parts hold them."""
    simulated_left_out: int = 0
    """Votes of simulated crowds, which do not count beside people's."""


Row = tuple[str | int | float | None, ...]
"""A vote in the order of `SCHEMA`: a fifth of the memory that the vote itself takes."""
FIELDS = tuple(SCHEMA)[1:]


def row_of(vote: Vote) -> Row:
    """A vote as a row."""
    return (vote.id, *(getattr(vote, name) for name in FIELDS))


def encode(rows: Iterable[Row]) -> bytes:
    """Votes as the bytes of a part, the same for the same votes in any order."""
    return parts.encode(pl.DataFrame(rows, SCHEMA, orient="row").unique("id").sort("id"))


def stored(suite: str, store: ObjectStore) -> pl.DataFrame:
    """Every vote of a suite once, in the order of the parts' keys; raises StoreError for a damaged part."""
    names = list(store.list(keys.votes(suite)))
    frames = on_threads(lambda key: _read(store, key), names)
    return pl.concat([pl.DataFrame(schema=SCHEMA), *frames]).unique("id", keep="first", maintain_order=True)


def _read(store: ObjectStore, key: str) -> pl.DataFrame:
    data = store.get(key)
    if data is None or not key.endswith(f"/{keys.sha256(data)[:32]}.parquet"):
        raise StoreError(
            f"the votes {key!r} are gone or damaged; restore them from a copy of the store, or delete the "
            "object and collect its votes again",
            key=key,
        )
    found = pl.read_parquet(io.BytesIO(data))
    if found.schema != SCHEMA:
        raise StoreError(f"the votes {key!r} are of another version of facedrift", key=key)
    return found


def add(suite: str, votes: Sequence[Vote], store: ObjectStore) -> str | None:
    """Store new votes as a part; its key, or None when there are none."""
    return add_rows(suite, [row_of(vote) for vote in votes], store)


def add_rows(suite: str, rows: Sequence[Row], store: ObjectStore) -> str | None:
    """The same, of votes as rows."""
    if not rows:
        return None
    data = encode(rows)
    key = keys.votes_part(suite, keys.sha256(data))
    parts.write(store, key, data)
    return key


class Known:
    """What of a suite's votes is stored, so that a source adds only what is new."""

    def __init__(self, there: pl.DataFrame) -> None:
        self._ids = set(there["id"].to_list())
        self._voters = set(there.select("source", "annotator", "match").iter_rows())
        self.fresh: list[Row] = []

    def take(self, found: FoundVote) -> str | None:
        """Add a vote when it is new; else `known`, or `duplicate_voter` for a second vote on one match."""
        vote = found.vote
        row = row_of(vote)
        name = str(row[0])
        if name in self._ids:
            return "known"
        voter = (vote.source, vote.annotator, vote.match)
        if voter in self._voters:
            return "duplicate_voter"
        self._ids.add(name)
        self._voters.add(voter)
        self.fresh.append(row)
        return None


def read_votes(
    suite: str, matches: MatchSet, store: ObjectStore, simulated: SimulatedRule = "unless_people"
) -> VotesRead:
    """The votes on the matches of a set, one of each annotator on a match, in the order of their ids.

    Votes of simulated crowds count only where the rule lets them and the suite has no vote of a person, on
    whatever match.

    Raises:
        StoreError: a part of the votes, or the table of matches, is damaged or gone.
    """
    table = match_tables.read_matches(matches, store).select(
        pl.col("id").alias("match"), pl.col("gold").is_not_null().alias("is_gold")
    )
    there = stored(suite, store)
    on_these = there.join(table, on="match", how="inner").sort("at", "id", nulls_last=True)
    is_simulated = pl.col("source") == "simulated"
    leaves_out = simulated == "never" or not there.filter(~is_simulated).is_empty()
    ours = on_these.filter(~is_simulated) if leaves_out else on_these
    once = ours.unique(["source", "annotator", "match"], keep="first", maintain_order=True).sort("id")
    return VotesRead(
        votes=once.select(READ),
        other_matches=there.height - on_these.height,
        duplicates=ours.height - once.height,
        digest=keys.sha256("\n".join(once["id"]).encode()),
        simulated_left_out=on_these.height - ours.height,
    )


def count_votes(suite: str, matches: Sequence[str], store: ObjectStore) -> NDArray[np.int64]:
    """How many votes each of some matches has, by their ids."""
    counts = stored(suite, store).group_by("match").len()
    found = pl.DataFrame({"match": matches}, {"match": pl.String}).join(
        counts, on="match", how="left", maintain_order="left"
    )
    return found["len"].fill_null(0).cast(pl.Int64).to_numpy()
