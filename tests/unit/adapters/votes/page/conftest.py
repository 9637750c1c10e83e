"""The page over both databases, with a clock that the test turns."""

from __future__ import annotations

import sqlite3
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from matches import some_matches
from servers.postgres import postgres
from starlette.testclient import TestClient
from unit.adapters.votes.page.place import Clock, Place

from adapters.votes.page.database import open_database


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """A real server, as psycopg wants its address."""
    pytest.importorskip("psycopg", reason="the extra `vote` is not installed")
    with postgres() as url:
        yield url.replace("postgresql+asyncpg://postgres:@", "postgresql://postgres@")


@pytest.fixture(params=["sqlite", "postgres"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A place without tables, of the test's own."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'here' / 'votes.sqlite'}"
    import psycopg

    server, name = request.getfixturevalue("postgres_server"), f"t{uuid.uuid4().hex}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}")
    return f"{server}&options=-csearch_path%3D{name}"


@pytest.fixture
def raw(database_url: str) -> Callable[[str], list[tuple[Any, ...]]]:
    """Reads the database without our code."""

    def read(statement: str) -> list[tuple[Any, ...]]:
        if database_url.startswith("sqlite"):
            connection: Any = sqlite3.connect(database_url.removeprefix("sqlite:///"))
        else:
            import psycopg

            connection = psycopg.connect(database_url)
        try:
            return connection.execute(statement).fetchall()
        finally:
            connection.close()

    return read


@pytest.fixture
def place(database_url: str) -> Iterator[Place]:
    database = open_database(database_url)
    found = Place(database_url, database, *some_matches(6), Clock())
    yield found
    found.close()


@pytest.fixture
def client(place: Place) -> Iterator[TestClient]:
    with TestClient(place.app(), base_url="http://votes.test", follow_redirects=False) as client:
        yield client
