"""The parts of a page, for tests."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from fakes.choosers import InOrder
from starlette.applications import Starlette

from adapters.votes.page.app import Booth, build_app
from adapters.votes.page.database import Database, open_database
from adapters.votes.page.links import Links, Voter
from adapters.votes.page.servings import Servings
from domain.matches import Match

SUITE = "demo"
QUESTION = "Which face looks more like the original?"
START_MS = 1_800_000_000_000
"""2027-01-15T08:00:00Z."""


@dataclass
class Clock:
    ms: int = START_MS

    def __call__(self) -> int:
        return self.ms


@dataclass
class Place:
    url: str
    database: Database
    matches: list[Match]
    pictures: dict[str, bytes]
    clock: Clock
    chooser: InOrder = field(init=False)
    databases: list[Database] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.links = Links(self.database, SUITE)
        self.servings = self.more_servings(self.database)

    def _choosing(self) -> InOrder:
        self.chooser = InOrder([match.id for match in self.matches])
        return self.chooser

    def another(self) -> Servings:
        """As another process has them."""
        self.databases.append(open_database(self.url))
        return self.more_servings(self.databases[-1])

    def close(self) -> None:
        for database in (self.database, *self.databases):
            database.close()

    def more_servings(self, database: Database) -> Servings:
        return Servings(
            database, SUITE, {match.id: match for match in self.matches}, self._choosing, self.clock
        )

    def app(self, base_url: str | None = None) -> Starlette:
        return build_app(
            Booth(self.links, self.servings, self.pictures.__getitem__, QUESTION, base_url, self.clock)
        )

    def token(self, name: str = "anna", wanted: int = 100, days: float = 30) -> str:
        [one] = self.links.invite([name], wanted, days, self.clock.ms)
        return one.token

    def voter(self, name: str = "anna", wanted: int = 100) -> Voter:
        found = self.links.voter(self.token(name, wanted), self.clock.ms)
        assert found is not None
        return found


def hidden(html: str) -> dict[str, str]:
    """The hidden fields of the form on a page."""
    return dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]+)">', html))
