"""What the stand-in has been asked, has accepted and has sent, kept in SQLite."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from adapters.standin.faults import PROVIDERS, Provider
from adapters.standin.wire import Object

COUNTERS = (
    "posts",
    "edit_posts",
    "judge_posts",
    "bad_key",
    "bad_request",
    "rate_limited",
    "server_errors",
    "quota",
    "hangs",
    "drops",
    "stuck",
    "answered",
    "images",
    "refused",
    "no_image",
    "failed",
    "truncated",
    "short_body",
    "wrong_mime",
    "black_frame",
    "empty",
    "other_shape",
    "huge",
    "bad_json",
    "judge_calls",
    "uploads",
    "downloads",
    "polls",
    "cancels",
    "history_calls",
    "lookups",
)
"""Every number kept for each provider; docs of the less obvious ones are in `adapters.standin.app`."""

_TABLES = """
CREATE TABLE IF NOT EXISTS counts (
    provider TEXT, name TEXT, n INTEGER NOT NULL, PRIMARY KEY (provider, name));
CREATE TABLE IF NOT EXISTS asked (identity TEXT PRIMARY KEY, n INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS paid (
    provider TEXT, identity TEXT, model TEXT, prompt TEXT, n INTEGER NOT NULL,
    PRIMARY KEY (provider, identity));
CREATE TABLE IF NOT EXISTS jobs (
    id TEXT PRIMARY KEY, provider TEXT, endpoint TEXT, identity TEXT, arguments TEXT, prompt TEXT,
    image_sha256 TEXT, seed INTEGER, fault TEXT, form INTEGER,
    sent_at REAL, ready_at REAL, deadline REAL, state TEXT, started_at REAL, ended_at REAL, result TEXT);
CREATE INDEX IF NOT EXISTS jobs_waiting ON jobs (state, sent_at);
CREATE INDEX IF NOT EXISTS jobs_sent ON jobs (provider, sent_at);
CREATE INDEX IF NOT EXISTS jobs_ended ON jobs (provider, endpoint, ended_at);
CREATE TABLE IF NOT EXISTS files (
    id TEXT PRIMARY KEY, sha256 TEXT, size INTEGER, content_type TEXT, name TEXT, fault TEXT,
    created_at REAL, downloads INTEGER NOT NULL);
"""


class Accounts:
    """Counts of calls and paid jobs; all access is from the event loop's thread."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database

    @contextmanager
    def at_once(self) -> Generator[None]:
        """All of what is written inside, or nothing; inside, nothing is awaited."""
        self._database.execute("BEGIN")
        try:
            yield
        except BaseException:
            self._database.execute("ROLLBACK")
            raise
        self._database.execute("COMMIT")

    def count(self, provider: Provider, *names: str) -> None:
        """Add one to each of these counters."""
        for name in names:
            if name not in COUNTERS:
                raise KeyError(name)
            self._database.execute(
                "INSERT INTO counts VALUES (?, ?, 1) ON CONFLICT DO UPDATE SET n = n + 1", (provider, name)
            )

    def ask(self, identity: str) -> int:
        """Note that a request was asked; returns how many times by now."""
        row = self._database.execute(
            "INSERT INTO asked VALUES (?, 1) ON CONFLICT DO UPDATE SET n = n + 1 RETURNING n", (identity,)
        ).fetchone()
        return int(row[0])

    def pay(self, provider: Provider, identity: str, model: str, prompt: str) -> None:
        """Note that a job was accepted and costs money."""
        self._database.execute(
            "INSERT INTO paid VALUES (?, ?, ?, ?, 1) ON CONFLICT DO UPDATE SET n = n + 1",
            (provider, identity, model, prompt),
        )

    def report(self) -> Object:
        """All numbers, by provider."""
        return {provider: self._report(provider) for provider in PROVIDERS}

    def reset(self) -> None:
        """Forget everything: counts, jobs and files."""
        for table in ("counts", "asked", "paid", "jobs", "files"):
            self._database.execute(f"DELETE FROM {table}")

    def _report(self, provider: Provider) -> Object:
        rows = self._database.execute("SELECT name, n FROM counts WHERE provider = ?", (provider,))
        report: Object = dict.fromkeys(COUNTERS, 0)
        report |= {str(name): int(n) for name, n in rows}
        accepted, distinct = self._database.execute(
            "SELECT COALESCE(SUM(n), 0), COUNT(*) FROM paid WHERE provider = ?", (provider,)
        ).fetchone()
        twice = self._database.execute(
            "SELECT identity, model, prompt, n FROM paid WHERE provider = ? AND n > 1 "
            "ORDER BY n DESC, identity",
            (provider,),
        )
        report["accepted"], report["distinct"] = int(accepted), int(distinct)
        report["paid_twice"] = [
            {"identity": identity, "model": model, "prompt": prompt, "times": n}
            for identity, model, prompt, n in twice
        ]
        return report


@contextmanager
def open_database(folder: Path) -> Generator[sqlite3.Connection]:
    """The database of a folder, made where there is none; what was written outlives a killed process."""
    database = sqlite3.connect(folder / "standin.sqlite", isolation_level=None)
    try:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = NORMAL")
        database.executescript(_TABLES)
        yield database
    finally:
        database.close()
