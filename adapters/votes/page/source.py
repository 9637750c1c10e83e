"""The page's votes as a source of votes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self, get_args

from adapters.votes.page.database import Database, open_database
from adapters.votes.page.settings import FILE, vote_settings
from adapters.votes.source import Bad
from domain.errors import DefinitionError
from domain.known_matches import KnownMatches
from domain.matches import Choice
from domain.votes import FoundVote, RejectedVote, Vote, VoteSourceName

CHOICES: tuple[str, ...] = get_args(Choice)
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
        """Over the page of a suite, by its id.

        Raises:
            DefinitionError: nobody was invited to it, or its database is not there.
            StoreError: the database does not answer.
        """
        url = vote_settings().database()
        if url.startswith(FILE) and not Path(url.removeprefix(FILE)).is_file():
            raise DefinitionError("there is no such database of votes", file=url.removeprefix(FILE))
        database = open_database(url)
        with database.reading() as read:
            is_there = bool(read.rows("SELECT 1 FROM vote_voters WHERE suite = ? LIMIT 1", where))
        if not is_there:
            database.close()
            raise DefinitionError(
                f"no such voting page: nobody is invited to {where!r} in the database that "
                "FACEDRIFT_VOTE_DATABASE_URL names; see facedrift vote status"
            )
        return cls(database, where)

    @property
    def where(self) -> str:
        """The suite's id."""
        return self._suite

    def read(self, known: KnownMatches) -> Iterator[FoundVote | RejectedVote]:
        """Every vote, in the order in which they were given; `line` is its number."""
        for number, values in self._rows(0):
            if values["match"] not in known.by_id:
                bad = Bad("unknown_match", f"this run has no match {values['match']}")
                yield bad.rejected(self.where, number)
            elif values["choice"] not in CHOICES:
                yield Bad("bad_choice", f"{values['choice']!r} is no choice").rejected(self.where, number)
            else:
                yield FoundVote(vote=Vote(**values), line=number)
        self._database.close()

    def votes(self, after: int = 0) -> Iterator[PageVote]:
        """The votes behind a number, in order; raises StoreError."""
        for number, values in self._rows(after):
            yield PageVote(number, Vote(**values))

    def _rows(self, after: int) -> Iterator[tuple[int, dict[str, Any]]]:
        """The numbers of votes, and their fields."""
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
                yield (
                    number,
                    {
                        "match": match,
                        "choice": choice,
                        "annotator": name,
                        "at": datetime.fromtimestamp(voted_ms / 1000, UTC).isoformat(timespec="milliseconds"),
                        "source": "page",
                        "source_id": serving,
                        "left": left,
                        "ms": ms,
                    },
                )
            if len(rows) < _AT_ONCE:
                return
