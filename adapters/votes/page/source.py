"""The page's votes as a source of votes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Self

from adapters.votes.page.database import Database, open_database
from adapters.votes.page.settings import vote_settings
from domain.known_matches import KnownMatches
from domain.votes import FoundVote, RejectedVote, Vote, VoteSourceName

_AT_ONCE = 1000


@dataclass(frozen=True)
class PageVote:
    """A vote with its number; numbers grow in the order in which votes were committed."""

    number: int
    vote: Vote


class PageVotes:
    """The votes of one suite; none is ever changed or taken back."""

    name: VoteSourceName = "page"

    def __init__(self, database: Database, suite: str) -> None:
        self._database = database
        self._suite = suite

    @classmethod
    def build(cls, where: str) -> Self:
        """Over the page of a suite, by its id; raises DefinitionError or StoreError."""
        return cls(open_database(vote_settings().database()), where)

    @property
    def where(self) -> str:
        """The page, for people."""
        return f"the voting page of {self._suite}"

    def read(self, known: KnownMatches) -> Iterator[FoundVote | RejectedVote]:
        """Every vote, in the order in which they were given; `line` is its number."""
        for one in self.votes():
            if one.vote.match in known.by_id:
                yield FoundVote(vote=one.vote, line=one.number)
                continue
            detail = f"the vote is on the match {one.vote.match}, which this run does not have"
            yield RejectedVote(where=self.where, line=one.number, reason="unknown_match", detail=detail)
        self._database.close()

    def votes(self, after: int = 0) -> Iterator[PageVote]:
        """The votes behind a number, in order; raises StoreError."""
        while True:
            with self._database.reading() as read:
                rows = read.rows(
                    "SELECT x.number, s.match, x.choice, v.name, x.voted_ms, s.id, s.left_side, x.ms "
                    "FROM vote_votes x JOIN vote_servings s ON s.id = x.serving JOIN vote_voters v "
                    "ON v.number = s.voter WHERE x.suite = ? AND x.number > ? ORDER BY x.number LIMIT ?",
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
