"""Links of voters: who may vote, until when, and how far each one is."""

from __future__ import annotations

import hashlib
import re
import secrets
from dataclasses import dataclass, field

from adapters.votes.page.database import Database, Transaction
from domain.errors import DefinitionError

TOKEN_BYTES = 24
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
TOKEN = re.compile(r"[A-Za-z0-9_-]{32}")
DAY_MS = 86_400_000


@dataclass(frozen=True)
class Voter:
    """Who came with a link that is valid."""

    number: int
    name: str
    wanted: int
    """Votes that were asked of this person."""


@dataclass(frozen=True)
class Invitation:
    """A new link's token: told once, and nowhere kept."""

    name: str
    token: str = field(repr=False)


@dataclass(frozen=True)
class Standing:
    """How far a voter is."""

    name: str
    votes: int
    wanted: int
    link: str
    """`valid`, `expired` or `revoked`."""
    last_ms: int | None
    """Of the newest vote, in milliseconds since 1970; None without one."""


class Links:
    """The links of one suite."""

    def __init__(self, database: Database, suite: str) -> None:
        self._database = database
        self._suite = suite

    def invite(self, names: list[str], wanted: int, days: float, now_ms: int) -> list[Invitation]:
        """Make a link for each name.

        Args:
            names: A person has the same name on each link, and never sees a match twice.
            wanted: Votes asked of each.
            days: How long the links are valid.
            now_ms: Milliseconds since 1970.

        Raises:
            DefinitionError: a name has other characters, or has a link that is still valid.
        """
        wrong = [name for name in names if not NAME.fullmatch(name)]
        if wrong:
            raise DefinitionError(
                f"{wrong[0]!r} cannot name a voter", field="name", allowed=("letters, digits and . _ -",)
            )
        made = [Invitation(name, secrets.token_urlsafe(TOKEN_BYTES)) for name in names]
        with self._database.writing() as write:
            for one in made:
                voter = self._voter(write, one.name, wanted, now_ms)
                write.rows(
                    "INSERT INTO vote_links (token_sha256, voter, made_ms, expires_ms) VALUES (?, ?, ?, ?)",
                    _digest(one.token), voter, now_ms, now_ms + round(days * DAY_MS),
                )  # fmt: skip
        return made

    def _voter(self, write: Transaction, name: str, wanted: int, now_ms: int) -> int:
        """The row of a voter, made where there is none."""
        write.rows(
            "INSERT INTO vote_voters (suite, name, wanted) VALUES (?, ?, ?) "
            "ON CONFLICT (suite, name) DO UPDATE SET wanted = excluded.wanted",
            self._suite, name, wanted,
        )  # fmt: skip
        [(voter,)] = write.rows(
            "SELECT number FROM vote_voters WHERE suite = ? AND name = ?", self._suite, name
        )
        valid = "SELECT 1 FROM vote_links WHERE voter = ? AND revoked_ms IS NULL AND expires_ms > ?"
        if write.rows(valid, voter, now_ms):
            raise DefinitionError(
                f"{name} has a link that is valid; revoke it first: facedrift vote revoke {self._suite} "
                f"--name {name}",
                field="name",
            )
        return voter

    def revoke(self, name: str, now_ms: int) -> int:
        """End the links of a name, at once; how many there were. Votes stay.

        Raises:
            DefinitionError: there is no such voter; the known ones are named.
        """
        with self._database.writing() as write:
            rows = write.rows(
                "SELECT name, number FROM vote_voters WHERE suite = ? ORDER BY name", self._suite
            )
            known = dict(rows)
            if name not in known:
                raise DefinitionError(f"nobody named {name!r} votes here", field="name", allowed=tuple(known))
            ended = write.rows(
                "UPDATE vote_links SET revoked_ms = ? WHERE voter = ? AND revoked_ms IS NULL "
                "AND expires_ms > ? RETURNING number",
                now_ms, known[name], now_ms,
            )  # fmt: skip
        return len(ended)

    def voter(self, token: str, now_ms: int) -> Voter | None:
        """Who has a link; None for any that is unknown, expired or revoked."""
        if not TOKEN.fullmatch(token):
            return None
        with self._database.reading() as read:
            rows = read.rows(
                "SELECT v.number, v.name, v.wanted FROM vote_links l JOIN vote_voters v "
                "ON v.number = l.voter WHERE l.token_sha256 = ? AND v.suite = ? AND l.revoked_ms IS NULL "
                "AND l.expires_ms > ?",
                _digest(token), self._suite, now_ms,
            )  # fmt: skip
        return Voter(*rows[0]) if rows else None

    def check(self) -> None:
        """Raise StoreError unless the database answers."""
        with self._database.reading() as read:
            read.rows("SELECT 1")

    def standings(self, now_ms: int) -> list[Standing]:
        """Every voter, by name."""
        with self._database.reading() as read:
            rows = read.rows(
                "SELECT v.name, (SELECT count(*) FROM vote_servings s WHERE s.voter = v.number AND "
                "s.state = 'voted'), v.wanted, "
                "(SELECT max(expires_ms) FROM vote_links l WHERE l.voter = v.number AND revoked_ms IS NULL), "
                "(SELECT max(x.voted_ms) FROM vote_votes x JOIN vote_servings s ON s.id = x.serving "
                "WHERE s.voter = v.number) FROM vote_voters v WHERE v.suite = ? ORDER BY v.name",
                self._suite,
            )
        return [
            Standing(name, votes, wanted, _state_of(expires, now_ms), last)
            for name, votes, wanted, expires, last in rows
        ]


def _state_of(expires_ms: int | None, now_ms: int) -> str:
    if expires_ms is None:
        return "revoked"
    return "valid" if expires_ms > now_ms else "expired"


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
