"""The page's database: a SQLite file, or Postgres; one transaction at a time writes.

What is committed is on disk: SQLite writes ahead with `synchronous=FULL`, Postgres with
`synchronous_commit=on`. Writers queue up (SQLite's write lock, an advisory lock of Postgres), so that row
numbers grow in the order of commits: who reads on from the last number that it saw misses none.
"""

from __future__ import annotations

import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import Empty, Full, LifoQueue
from typing import TYPE_CHECKING, Any, cast

from adapters.votes.page.settings import FILE
from domain.errors import DefinitionError, StoreError

if TYPE_CHECKING:
    from psycopg import Connection

Value = str | int | None
Row = tuple[Any, ...]
_LOCK = 0xFACED217
"""Of the page's own writers, among the advisory locks of Postgres."""
_BUSY_S = 30
_IDLE = 16
"""Connections that are kept for the next transaction."""


class Transaction(ABC):
    """Statements that are committed together or not at all; parameters stand where the `?` are."""

    @abstractmethod
    def rows(self, statement: str, *values: Value) -> list[Row]:
        """Run a statement and give its rows, none for one that only changes some."""


class Database(ABC):
    """Transactions over connections that are used again."""

    number: str
    """How a column is declared whose numbers grow by themselves."""

    def __init__(self) -> None:
        self._idle: LifoQueue[Any] = LifoQueue(_IDLE)

    @contextmanager
    def writing(self) -> Generator[Transaction]:
        """A transaction beside which no other writes; on disk once this ends without an error.

        Raises:
            StoreError: nothing was kept; or, when the connection broke at the very end, it may have been.
        """
        with self._transaction(write=True) as transaction:
            yield transaction

    @contextmanager
    def reading(self) -> Generator[Transaction]:
        """A transaction that sees one moment; raises StoreError."""
        with self._transaction(write=False) as transaction:
            yield transaction

    def close(self) -> None:
        """Let go of the connections that are not in use."""
        with suppress(Empty):
            while True:
                self._idle.get_nowait().close()

    @contextmanager
    def _transaction(self, *, write: bool) -> Generator[Transaction]:
        connection: Any = None
        try:
            connection = self._begun(write)
            yield self._statements(connection)
            connection.execute("COMMIT")
        except self._errors() as error:
            self._drop(connection)
            raise StoreError(
                f"the database of the voting page cannot be used: {self._said(error)}"
            ) from error
        except BaseException:
            self._roll_back(connection)
            raise
        self._keep(connection)

    def _begun(self, write: bool) -> Any:
        """A connection in a transaction; one that broke while it was idle is replaced."""
        with suppress(Empty):
            connection = self._idle.get_nowait()
            try:
                self._begin(connection, write)
            except self._errors():
                self._drop(connection)
                self.close()  # its server was restarted: so are the others' connections
            else:
                return connection
        connection = self._connect()
        try:
            self._begin(connection, write)
        except self._errors():
            self._drop(connection)
            raise
        return connection

    def _roll_back(self, connection: Any) -> None:
        if connection is None:
            return
        try:
            connection.execute("ROLLBACK")
        except self._errors():
            self._drop(connection)
        else:
            self._keep(connection)

    def _keep(self, connection: Any) -> None:
        try:
            self._idle.put_nowait(connection)
        except Full:
            connection.close()

    def _drop(self, connection: Any) -> None:
        if connection is not None:
            with suppress(*self._errors()):
                connection.close()

    @abstractmethod
    def _errors(self) -> tuple[type[Exception], ...]: ...

    @abstractmethod
    def _said(self, error: Exception) -> str: ...

    @abstractmethod
    def _connect(self) -> Any: ...

    @abstractmethod
    def _begin(self, connection: Any, write: bool) -> None: ...

    @abstractmethod
    def _statements(self, connection: Any) -> Transaction: ...


class SqliteDatabase(Database):
    """A file on this machine, for one or more processes on it."""

    number = "INTEGER PRIMARY KEY AUTOINCREMENT"

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path

    def _errors(self) -> tuple[type[Exception], ...]:
        return (sqlite3.Error,)

    def _said(self, error: Exception) -> str:
        return f"{error} ({self._path})"

    def _connect(self) -> sqlite3.Connection:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(f"no folder for the votes at {self._path.parent}: {error.strerror}") from error
        connection = sqlite3.connect(
            self._path, timeout=_BUSY_S, isolation_level=None, check_same_thread=False
        )
        for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
            connection.execute(f"PRAGMA {pragma}")
        return connection

    def _begin(self, connection: sqlite3.Connection, write: bool) -> None:
        connection.execute("BEGIN IMMEDIATE" if write else "BEGIN")

    def _statements(self, connection: sqlite3.Connection) -> Transaction:
        return _SqliteStatements(connection)


class _SqliteStatements(Transaction):
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def rows(self, statement: str, *values: Value) -> list[Row]:
        return self._connection.execute(statement, values).fetchall()


class PostgresDatabase(Database):
    """A database of a server, for processes anywhere."""

    number = "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY"

    def __init__(self, url: str) -> None:
        super().__init__()
        try:
            import psycopg
        except ImportError as error:
            raise DefinitionError(
                "votes in Postgres need the extra `vote`: pip install 'facedrift[vote]'"
            ) from error
        self._psycopg = psycopg
        self._url = url

    def _errors(self) -> tuple[type[Exception], ...]:
        return (self._psycopg.Error,)

    def _said(self, error: Exception) -> str:
        return " ".join(str(error).split()) or type(error).__name__

    def _connect(self) -> Connection[Row]:
        try:
            connection = self._psycopg.connect(self._url, autocommit=True, connect_timeout=10)
        except self._psycopg.ProgrammingError:  # quotes the address, password and all
            said = "its address is none that Postgres can read; mend the variable"
            raise DefinitionError(f"FACEDRIFT_VOTE_DATABASE_URL: {said}") from None
        connection.execute("SET synchronous_commit TO on")
        connection.execute("SELECT set_config('lock_timeout', %s, false)", (f"{_BUSY_S}s",))
        return connection

    def _begin(self, connection: Connection[Row], write: bool) -> None:
        connection.execute("BEGIN" if write else "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        if write:
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))

    def _statements(self, connection: Connection[Row]) -> Transaction:
        return _PostgresStatements(connection)


class _PostgresStatements(Transaction):
    def __init__(self, connection: Connection[Row]) -> None:
        self._connection = connection

    def rows(self, statement: str, *values: Value) -> list[Row]:
        # psycopg asks for literals, so that nobody builds statements from what people typed; ours are
        text = cast(Any, statement.replace("?", "%s"))
        cursor = self._connection.execute(text, values)
        return cursor.fetchall() if cursor.description else []


def open_database(url: str) -> Database:
    """The database at an address of `VoteSettings`; its tables are there when this returns.

    Raises:
        DefinitionError: the package that speaks to it is not installed.
        StoreError: it cannot be reached, or is of another version.
    """
    from adapters.votes.page.tables import make_tables

    found = SqliteDatabase(Path(url.removeprefix(FILE))) if url.startswith(FILE) else PostgresDatabase(url)
    try:
        make_tables(found)
    except StoreError:
        found.close()
        raise
    return found
