"""Votes in a table: CSV, TSV, JSONL or Parquet, in our columns or in those of Rapidata's public tables.

Our columns: `match` (its id), `choice` (a, b or tie; left or right where `left` says who was left),
`annotator`; and where they are known `at` (ISO 8601 with a zone), `left` (a or b), `ms`, `source_id`,
`country` and `user_score` (0 to 1). A row without a `source_id` is known by what it says, never by where it
stands.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Self

from adapters.votes import crowd, values
from adapters.votes.crowd import CrowdReader
from adapters.votes.rows import NoRow, rows_of
from adapters.votes.source import Bad
from adapters.votes.values import LONGEST_ID, Occurrences
from domain.errors import DefinitionError
from domain.known_matches import KnownMatches
from domain.votes import FoundVote, RejectedVote, Vote, VoteSourceName

NEEDED = ("match", "choice")
COLUMNS = (*NEEDED, "annotator", "at", "left", "ms", "source_id", "country", "user_score")
CROWD_NEEDED = ("model1", "model2")


class FileVotes:
    """The votes of one file."""

    name: VoteSourceName = "file"

    def __init__(self, path: Path) -> None:
        self._path = path
        self._rows = Occurrences("row")
        self._crowd = CrowdReader(self.name)

    @classmethod
    def build(cls, where: str) -> Self:
        """Over a file by its path; raises DefinitionError where there is none."""
        path = Path(where).expanduser()
        if not path.is_file():
            raise DefinitionError("there is no such file of votes", file=where, field="path")
        return cls(path)

    @property
    def where(self) -> str:
        """The file's path."""
        return str(self._path)

    def read(self, known: KnownMatches) -> Iterator[FoundVote | RejectedVote]:
        """Every vote in the order of the rows."""
        is_table, row = False, None
        for row in rows_of(self._path, (*COLUMNS, *crowd.COLUMNS)):
            if isinstance(row, NoRow):
                yield row.why.rejected(self.where, row.line)
                continue
            is_table = is_table or _has_columns(row.values)
            if not is_table and self._path.suffix.lower() not in (".jsonl", ".ndjson"):
                raise DefinitionError(
                    "the table has neither `match` and `choice` nor Rapidata's `model1` and `model2`, but "
                    f"{', '.join(map(str, row.values))[:300]}",
                    file=self.where,
                )
            for vote in self._votes(row.values, known):
                if isinstance(vote, Bad):
                    yield vote.rejected(self.where, row.line)
                else:
                    yield FoundVote(vote=vote, line=row.line)
        if row is None:
            raise DefinitionError("the table has no rows, and so no votes", file=self.where)

    def _votes(self, row: Mapping[str, Any], known: KnownMatches) -> Iterator[Vote | Bad]:
        if all(name in row for name in CROWD_NEEDED) and "match" not in row:
            return self._crowd.of_row(row, known)
        return iter((self._own(row, known),))

    def _own(self, row: Mapping[str, Any], known: KnownMatches) -> Vote | Bad:
        match = values.text(row, "match")
        if isinstance(match, Bad):
            return match
        if not match:
            return Bad("no_match", "the row names no match")
        if match not in known.by_id:
            return Bad("unknown_match", f"{match[:80]!r} is none of the matches that are voted on")
        left = values.side(row)
        cells = {
            "left": left,
            "choice": values.choice(row, None if isinstance(left, Bad) else left),
            "annotator": values.name(row),
            "at": values.moment(row),
            "ms": values.whole(row.get("ms"), "ms", values.LARGEST_MS),
            "country": values.text(row, "country"),
            "user_score": values.number(row.get("user_score"), "user_score", 1),
        }
        source_id = values.text(row, "source_id")
        for cell in (*cells.values(), source_id):
            if isinstance(cell, Bad):
                return cell
        cells["country"] = str(cells["country"])[:100] or None
        if len(str(source_id)) > LONGEST_ID:
            return Bad("bad_source_id", f"source_id has more than {LONGEST_ID} characters")
        named = source_id or self._rows.name_of({"match": match, **cells})
        return Vote.model_validate({"match": match, "source": self.name, "source_id": named, **cells})


def _has_columns(row: Mapping[str, Any]) -> bool:
    return all(name in row for name in NEEDED) or all(name in row for name in CROWD_NEEDED)
