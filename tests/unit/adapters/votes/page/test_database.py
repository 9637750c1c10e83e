"""What a commit means, and what a broken connection costs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from adapters.votes.page.database import Database, open_database
from domain.errors import StoreError

Raw = Callable[[str], list[tuple[Any, ...]]]
NEW = "INSERT INTO vote_voters (suite, name, wanted) VALUES (?, ?, ?)"


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    found = open_database(database_url)
    yield found
    found.close()


def test_a_file_is_written_ahead_and_synced_at_each_commit(tmp_path: Path) -> None:
    database = open_database(f"sqlite:///{tmp_path}/votes.sqlite")
    with database.reading() as read:
        assert read.rows("PRAGMA journal_mode") == [("wal",)]
        assert read.rows("PRAGMA synchronous") == [(2,)]  # FULL
        assert read.rows("PRAGMA foreign_keys") == [(1,)]
    database.close()


def test_postgres_syncs_at_each_commit_whatever_its_default(postgres_server: str) -> None:
    database = open_database(f"{postgres_server}&options=-csynchronous_commit%3Doff")
    with database.writing() as write:
        assert write.rows("SHOW synchronous_commit") == [("on",)]
    database.close()


def _named_twice(database: Database) -> None:
    with database.writing() as write:
        write.rows(NEW, "s", "anna", 1)
        write.rows(NEW, "s", "anna", 1)


def _given_up(database: Database) -> None:
    with database.writing() as write:
        write.rows(NEW, "s", "ben", 1)
        raise KeyError


def test_an_error_takes_all_of_a_transaction_back(database: Database, raw: Raw) -> None:
    with pytest.raises(StoreError, match=r"cannot be used: .*(UNIQUE|unique)"):
        _named_twice(database)
    with pytest.raises(KeyError):
        _given_up(database)
    assert raw("SELECT * FROM vote_voters") == []
    with database.writing() as write:
        write.rows(NEW, "s", "carl", 1)
    assert raw("SELECT name FROM vote_voters") == [("carl",)]


def test_who_writes_waits_for_who_was_first(database: Database, database_url: str) -> None:
    other, order, inside = open_database(database_url), list[str](), threading.Event()

    def second() -> None:
        inside.wait()
        with other.writing() as write:
            order.extend(name for (name,) in write.rows("SELECT name FROM vote_voters"))

    thread = threading.Thread(target=second)
    thread.start()
    with database.writing() as write:
        inside.set()
        thread.join(0.2)
        assert thread.is_alive()
        write.rows(NEW, "s", "anna", 1)
    thread.join()
    assert order == ["anna"]
    other.close()


def test_a_reader_sees_one_moment(database: Database, database_url: str) -> None:
    other = open_database(database_url)
    with database.reading() as read:
        before = read.rows("SELECT name FROM vote_voters")
        with other.writing() as write:
            write.rows(NEW, "s", "anna", 1)
        assert read.rows("SELECT name FROM vote_voters") == before == []
    other.close()


def test_connections_that_broke_while_idle_are_replaced(postgres_server: str) -> None:
    import psycopg

    database = open_database(f"{postgres_server}&application_name=breaking")
    with database.reading(), database.reading():
        pass  # two connections are idle now
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        ended = connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'breaking'"
        ).fetchall()
    assert ended == [(True,), (True,)]
    for _ in range(3):
        with database.writing() as write:
            assert write.rows("SELECT 1") == [(1,)]
    database.close()
