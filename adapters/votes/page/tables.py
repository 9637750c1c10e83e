"""The page's tables: who votes, by which links, on which servings, and the votes."""

from __future__ import annotations

from adapters.votes.page.database import Database
from domain.errors import StoreError

VERSION = 1

_TABLES = """
CREATE TABLE IF NOT EXISTS vote_voters (
    number {number},
    suite TEXT NOT NULL,
    name TEXT NOT NULL,
    wanted BIGINT NOT NULL CHECK (wanted > 0),
    UNIQUE (suite, name)
);
CREATE TABLE IF NOT EXISTS vote_links (
    number {number},
    token_sha256 TEXT NOT NULL UNIQUE,
    voter BIGINT NOT NULL REFERENCES vote_voters (number),
    made_ms BIGINT NOT NULL,
    expires_ms BIGINT NOT NULL,
    revoked_ms BIGINT
);
CREATE TABLE IF NOT EXISTS vote_servings (
    number {number},
    id TEXT NOT NULL UNIQUE,
    nonce TEXT NOT NULL,
    voter BIGINT NOT NULL REFERENCES vote_voters (number),
    match TEXT NOT NULL,
    left_side TEXT NOT NULL CHECK (left_side IN ('a', 'b')),
    state TEXT NOT NULL CHECK (state IN ('next', 'open', 'voted', 'gone')),
    drawn_ms BIGINT NOT NULL,
    shown_ms BIGINT,
    UNIQUE (voter, match)
);
CREATE UNIQUE INDEX IF NOT EXISTS vote_servings_open ON vote_servings (voter) WHERE state = 'open';
CREATE UNIQUE INDEX IF NOT EXISTS vote_servings_next ON vote_servings (voter) WHERE state = 'next';
CREATE INDEX IF NOT EXISTS vote_servings_waiting ON vote_servings (voter) WHERE state IN ('open', 'next');
CREATE TABLE IF NOT EXISTS vote_votes (
    number {number},
    suite TEXT NOT NULL,
    serving TEXT NOT NULL UNIQUE REFERENCES vote_servings (id),
    choice TEXT NOT NULL CHECK (choice IN ('a', 'b', 'tie')),
    voted_ms BIGINT NOT NULL,
    ms BIGINT NOT NULL CHECK (ms >= 0)
);
CREATE INDEX IF NOT EXISTS vote_votes_of ON vote_votes (suite, number);
CREATE TABLE IF NOT EXISTS vote_version (version BIGINT NOT NULL);
"""


def make_tables(database: Database) -> None:
    """Make the tables that are not there; raises StoreError for those of another version."""
    with database.writing() as write:
        for statement in _TABLES.format(number=database.number).split(";"):
            if statement.strip():
                write.rows(statement)
        versions = [version for (version,) in write.rows("SELECT version FROM vote_version")]
        if not versions:
            write.rows("INSERT INTO vote_version (version) VALUES (?)", VERSION)
        elif versions != [VERSION]:
            raise StoreError(
                f"the votes are kept as version {versions[0]}, and this facedrift knows {VERSION}: use the "
                "facedrift that wrote them, or another database"
            )
