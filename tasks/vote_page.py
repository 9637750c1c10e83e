"""The voting page from outside: serve it, invite to it, end links, see how far its voters are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from adapters.votes.page.settings import vote_settings
from domain.errors import DefinitionError
from tasks import wiring, wiring_vote_page
from tasks.definitions import load_suite
from tasks.runs_of_suites import find_run

if TYPE_CHECKING:
    from adapters.votes.page.links import Standing

PORT = 8791
HERE = f"http://127.0.0.1:{PORT}"
"""Where links lead unless `FACEDRIFT_VOTE_BASE_URL` says so."""


@dataclass(frozen=True)
class Link:
    """A voter's link: shown once; the page keeps only a digest of it."""

    name: str
    url: str = field(repr=False)


def serve_page(suite: str, run: str | None, host: str, port: int, on_ready: Callable[[str], None]) -> None:
    """Serve the page until SIGINT or SIGTERM; `on_ready` is called with its address."""
    from adapters.votes.page.server import serve

    serve(wiring_vote_page.voting_page(wiring.run_plan(find_run(suite, run))), host, port, on_ready)


def invite(suite: str, name: str, count: int | None, votes: int, days: float) -> list[Link]:
    """Make links.

    Args:
        suite: Id or file of the suite.
        name: Of the voter; with a count, what the names begin with.
        count: Makes as many links, for `name-1`, `name-2`, …; None makes one, for the name itself.
        votes: Asked of each voter.
        days: How long the links are valid.

    Raises:
        DefinitionError: the suite is not voted on, or a name cannot be used.
    """
    found = load_suite(suite)
    if found.votes is None:
        raise DefinitionError(f"the suite {found.id!r} is not voted on: add `votes` to it", field="votes")
    names = [name] if count is None else [f"{name}-{number}" for number in range(1, count + 1)]
    base = vote_settings().base_url or HERE
    made = wiring_vote_page.vote_links(found.id).invite(names, votes, days, wiring_vote_page.now_ms())
    return [Link(one.name, f"{base}/vote/{one.token}") for one in made]


def revoke(suite: str, name: str) -> int:
    """End a voter's links at once; how many there were. Raises DefinitionError for an unknown name."""
    return wiring_vote_page.vote_links(load_suite(suite).id).revoke(name, wiring_vote_page.now_ms())


def standings(suite: str) -> list[Standing]:
    """How far each voter is."""
    return wiring_vote_page.vote_links(load_suite(suite).id).standings(wiring_vote_page.now_ms())
