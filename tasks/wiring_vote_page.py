"""Builds the voting page from its settings, the store and a run's matches."""

from __future__ import annotations

import time
from functools import cache, partial
from typing import TYPE_CHECKING

from adapters.votes.page.settings import vote_settings
from domain.runs import RunPlan
from tasks import ledger, match_tables, vote_store, wiring
from tasks.match_making import rules_of
from tasks.vote_choosing import LeastJudgedFirst

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from adapters.votes.page.database import Database
    from adapters.votes.page.links import Links


def now_ms() -> int:
    """Milliseconds since 1970."""
    return time.time_ns() // 1_000_000


def vote_database() -> Database:
    """The database that `FACEDRIFT_VOTE_DATABASE_URL` names; raises DefinitionError or StoreError."""
    return _opened(vote_settings().database())


@cache
def _opened(url: str) -> Database:
    from adapters.votes.page.database import open_database

    return open_database(url)


def vote_links(suite: str) -> Links:
    """The links of a suite's voters."""
    from adapters.votes.page.links import Links

    return Links(vote_database(), suite)


def voting_page(run: RunPlan) -> Starlette:
    """The page for the matches of a run.

    Raises:
        DefinitionError: the run's suite is not voted on.
        StoreError: its matches were not made, or cannot be read.
    """
    from adapters.votes.page.app import Booth, build_app
    from adapters.votes.page.links import Links
    from adapters.votes.page.servings import Servings

    store, suite, rules = wiring.store(), run.suite.id, rules_of(run)
    made = match_tables.expect_match_set(suite, run.id, store)
    table = match_tables.read_matches(made, store)
    queue = dict(zip(table["id"].to_list(), match_tables.matches_of(table), strict=True))
    elsewhere = vote_store.stored(suite, store)
    elsewhere = elsewhere.filter(elsewhere["source"] != "page").group_by("match").len()
    judged = dict(elsewhere.iter_rows())
    database = vote_database()
    servings = Servings(database, suite, queue, partial(LeastJudgedFirst, queue, rules, judged), now_ms)
    booth = Booth(
        links=Links(database, suite),
        servings=servings,
        read_picture=lambda sha: ledger.read_image(store, sha, "png"),
        question=rules.question,
        base_url=vote_settings().base_url,
        now_ms=now_ms,
    )
    return build_app(booth)
