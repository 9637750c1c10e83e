"""A real Postgres for tests, in a folder of its own, on a Unix socket only."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

USER = "postgres"
"""Postgres does not run as root; Debian's package brings this user."""


@contextmanager
def postgres() -> Iterator[str]:
    """A server of its own; its URL as SQLAlchemy and asyncpg want it."""
    folder = Path(tempfile.mkdtemp(prefix="facedrift-pg-"))  # a socket's path must be short
    run_as = ["runuser", "-u", USER, "--"] if os.geteuid() == 0 else []
    if run_as:
        shutil.chown(folder, USER)
    data = folder / "data"
    options = f"-c listen_addresses='' -c unix_socket_directories='{folder}' -c fsync=off"
    pg_ctl = [*run_as, _program("pg_ctl"), "-D", str(data), "-w", "-l", str(folder / "log")]
    try:
        _call([*run_as, _program("initdb"), "-D", str(data), "-U", USER, "-A", "trust", "-E", "UTF8"])
        _call([*pg_ctl, "-o", options, "start"])
        yield f"postgresql+asyncpg://{USER}:@/postgres?host={folder}"
    finally:
        subprocess.run([*pg_ctl, "-m", "immediate", "stop"], capture_output=True, check=False)
        shutil.rmtree(folder, ignore_errors=True)


def _call(command: list[str]) -> None:
    done = subprocess.run(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False, cwd="/"
    )
    assert done.returncode == 0, done.stderr


def _program(name: str) -> str:
    """A program of the newest Postgres that is installed."""
    there = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    found = str(there[-1]) if there else shutil.which(name)
    if found is None:
        pytest.skip("no Postgres is installed; on Debian: apt-get install postgresql")
    return found
