"""What lies before each voter, and the votes: every change is one transaction."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from hmac import compare_digest
from typing import Literal, get_args

from adapters.votes.page.chooser import ChooserMaker, MatchChooser
from adapters.votes.page.database import Database, Transaction
from adapters.votes.page.links import Voter
from domain.matches import Match, Side

Answer = Literal["left", "right", "tie"]
Role = Literal["original", "left", "right"]
ANSWERS: tuple[str, ...] = get_args(Answer)
ROLES: tuple[str, ...] = get_args(Role)
HELD_MS = 30 * 60_000
"""How long a match that lies before a voter counts as about to get a vote."""
_ID_BYTES = 18
_FIELDS = "number, id, nonce, match, left_side, state, shown_ms"


@dataclass(frozen=True)
class Serving:
    """One match before one voter; all of it may reach the browser."""

    id: str
    """Names its pictures; gives no right to vote."""
    nonce: str = field(repr=False)
    """Comes back with the vote."""


@dataclass(frozen=True)
class Table:
    """What a voter sees now."""

    votes: int
    """Given so far."""
    wanted: int
    open: Serving | None
    """None when there is nothing left to vote on."""
    ahead: str | None
    """Id of the serving that comes next, whose pictures may be loaded already."""


@dataclass(frozen=True)
class Refused:
    """Why a vote was not stored."""

    reason: Literal["not_yours", "voted", "not_open"]
    table: Table
    """What the voter sees now."""


class Servings:
    """Lays matches before voters and takes their votes, for any number of threads and processes.

    Args:
        database: Shared by all that serve these matches.
        suite: Of which the matches are.
        matches: By id, all that may be shown.
        chooser: Makes one who chooses among them.
        now_ms: The clock, in milliseconds since 1970.
    """

    def __init__(
        self,
        database: Database,
        suite: str,
        matches: Mapping[str, Match],
        chooser: ChooserMaker,
        now_ms: Callable[[], int],
    ) -> None:
        self._database = database
        self._suite = suite
        self._matches = matches
        self._make_chooser = chooser
        self._now_ms = now_ms
        self._lock = threading.Lock()
        self._chooser: MatchChooser | None = None
        self._learnt = 0
        """Number of the last vote that the chooser knows."""

    def table(self, voter: Voter) -> Table:
        """What lies before a voter: the same match on the same sides until it is voted on."""
        with self._writing() as write:
            return self._laid(write, voter)

    def vote(self, voter: Voter, serving: str, nonce: str, answer: Answer) -> Table | Refused:
        """Store a vote, once; it is on disk when this returns what comes next."""
        with self._writing() as write:
            rows = write.rows(
                f"SELECT {_FIELDS} FROM vote_servings WHERE id = ? AND voter = ?", serving, voter.number
            )
            if not rows or not compare_digest(str(rows[0][2]).encode(), nonce.encode()):
                return Refused("not_yours", self._laid(write, voter))
            number, _, _, _, left, state, shown_ms = rows[0]
            if state != "open":
                return Refused("voted" if state == "voted" else "not_open", self._laid(write, voter))
            now_ms = self._now_ms()
            write.rows(
                "INSERT INTO vote_votes (suite, serving, choice, voted_ms, ms) VALUES (?, ?, ?, ?, ?)",
                self._suite, serving, _choice(answer, left), now_ms, max(0, now_ms - shown_ms),
            )  # fmt: skip
            write.rows("UPDATE vote_servings SET state = 'voted' WHERE number = ?", number)
            return self._laid(write, voter)

    def picture(self, serving: str, role: Role) -> str | None:
        """The sha256 of a picture of a serving; None unless its voter has a valid link."""
        with self._database.reading() as read:
            rows = read.rows(
                "SELECT s.match, s.left_side FROM vote_servings s WHERE s.id = ? AND EXISTS (SELECT 1 FROM "
                "vote_links l WHERE l.voter = s.voter AND l.revoked_ms IS NULL AND l.expires_ms > ?)",
                serving, self._now_ms(),
            )  # fmt: skip
        match = self._matches.get(rows[0][0]) if rows else None
        if match is None:
            return None
        if role == "original":
            return match.original_sha256
        shows_a = (rows[0][1] == "a") == (role == "left")
        return match.crop_a_sha256 if shows_a else match.crop_b_sha256

    @contextmanager
    def _writing(self) -> Generator[Transaction]:
        """A transaction with a chooser that knows all votes; one that fails makes it learn anew."""
        with self._lock:
            try:
                with self._database.writing() as write:
                    yield write
            except BaseException:
                self._chooser = None
                raise

    def _laid(self, write: Transaction, voter: Voter) -> Table:
        """Open what comes next, where nothing is open, and draw one ahead."""
        [(votes,)] = write.rows(
            "SELECT count(*) FROM vote_servings WHERE voter = ? AND state = 'voted'", voter.number
        )
        left = voter.wanted - votes
        opened = self._standing(write, voter, "open") if left > 0 else None
        if opened is None and left > 0:
            opened = self._standing(write, voter, "next") or self._drawn(write, voter)
            if opened is not None:
                write.rows(
                    "UPDATE vote_servings SET state = 'open', shown_ms = ? WHERE id = ?",
                    self._now_ms(), opened.id,
                )  # fmt: skip
        ahead = None
        if opened is not None and left > 1:
            ahead = self._standing(write, voter, "next") or self._drawn(write, voter)
        wanted = min(voter.wanted, max(votes + 1, len(self._matches))) if opened else votes
        return Table(votes, wanted, opened, ahead.id if ahead else None)

    def _standing(self, write: Transaction, voter: Voter, state: str) -> Serving | None:
        """The serving of that state, unless its match is not among ours any more."""
        rows = write.rows(
            f"SELECT {_FIELDS} FROM vote_servings WHERE voter = ? AND state = ?", voter.number, state
        )
        if not rows:
            return None
        number, id_, nonce, match, *_ = rows[0]
        if match in self._matches:
            return Serving(id_, nonce)
        write.rows("UPDATE vote_servings SET state = 'gone' WHERE number = ?", number)
        return None

    def _drawn(self, write: Transaction, voter: Voter) -> Serving | None:
        served = write.rows("SELECT match FROM vote_servings WHERE voter = ? ORDER BY number", voter.number)
        held = write.rows(
            "SELECT s.match FROM vote_servings s JOIN vote_voters v ON v.number = s.voter WHERE s.state IN "
            "('open', 'next') AND coalesce(s.shown_ms, s.drawn_ms) > ? AND s.voter <> ? AND v.suite = ?",
            self._now_ms() - HELD_MS, voter.number, self._suite,
        )  # fmt: skip
        chooser = self._taught(write)
        chosen = chooser.next(voter.name, [match for (match,) in served], [match for (match,) in held])
        if chosen is None:
            return None
        drawn = Serving(secrets.token_urlsafe(_ID_BYTES), secrets.token_urlsafe(_ID_BYTES))
        write.rows(
            "INSERT INTO vote_servings (id, nonce, voter, match, left_side, state, drawn_ms) "
            "VALUES (?, ?, ?, ?, ?, 'next', ?)",
            drawn.id, drawn.nonce, voter.number, chosen.match, chosen.left, self._now_ms(),
        )  # fmt: skip
        return drawn

    def _taught(self, write: Transaction) -> MatchChooser:
        """The chooser, once it knows every vote of every process."""
        if self._chooser is None:
            self._chooser, self._learnt = self._make_chooser(), 0
        new = write.rows(
            "SELECT x.number, s.match, v.name FROM vote_votes x JOIN vote_servings s ON s.id = x.serving "
            "JOIN vote_voters v ON v.number = s.voter WHERE x.suite = ? AND x.number > ? ORDER BY x.number",
            self._suite, self._learnt,
        )  # fmt: skip
        for number, match, name in new:
            self._chooser.record(match, name)
            self._learnt = number
        return self._chooser


def _choice(answer: Answer, left: Side) -> str:
    """What an answer about sides says about the match."""
    if answer == "tie":
        return "tie"
    return left if answer == "left" else _OTHER[left]


_OTHER: dict[Side, Side] = {"a": "b", "b": "a"}
