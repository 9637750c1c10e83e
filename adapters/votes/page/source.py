"""The page's votes as records."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from adapters.votes.page.database import Database
from domain.votes import Vote

_AT_ONCE = 1000


@dataclass(frozen=True)
class PageVote:
    """A vote with its number; numbers grow in the order in which votes were committed."""

    number: int
    vote: Vote


class PageVotes:
    """Reads the votes of one suite; none is ever changed or taken back."""

    def __init__(self, database: Database, suite: str) -> None:
        self._database = database
        self._suite = suite

    def read(self, after: int = 0) -> Iterator[PageVote]:
        """The votes behind a number, in order; raises StoreError."""
        while True:
            with self._database.reading() as read:
                rows = read.rows(
                    "SELECT x.number, s.match, x.choice, v.name, x.voted_ms, s.id, s.left_side, x.ms "
                    "FROM vote_votes x JOIN vote_servings s ON s.id = x.serving JOIN vote_voters v "
                    "ON v.number = s.voter WHERE v.suite = ? AND x.number > ? ORDER BY x.number LIMIT ?",
                    self._suite, after, _AT_ONCE,
                )  # fmt: skip
            for number, match, choice, name, voted_ms, serving, left, ms in rows:
                after = number
                vote = Vote(
                    match=match,
                    choice=choice,
                    annotator=name,
                    at=datetime.fromtimestamp(voted_ms / 1000, UTC).isoformat(timespec="milliseconds"),
                    source="page",
                    source_id=serving,
                    left=left,
                    ms=ms,
                )
                yield PageVote(number, vote)
            if len(rows) < _AT_ONCE:
                return

    def count(self) -> int:
        """How many there are; raises StoreError."""
        with self._database.reading() as read:
            [(found,)] = read.rows(
                "SELECT count(*) FROM vote_votes x JOIN vote_servings s ON s.id = x.serving "
                "JOIN vote_voters v ON v.number = s.voter WHERE v.suite = ?",
                self._suite,
            )
        return found
