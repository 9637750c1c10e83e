"""A Prefect server for one run, where none is configured.

Prefect starts one by itself when it is needed, but imports its whole server in the client first and
waits. This one comes up in another process while the run loads its face models, and it ends with the
run even when that is killed (see `flows.server_process`).
"""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
import time
from collections.abc import Generator

import httpx
from prefect.settings import PREFECT_API_URL, get_current_settings, temporary_settings

from domain.errors import StoreError

STARTS_WITHIN_S = 300.0
STOPS_WITHIN_S = 10.0


class LocalServer:
    """Started at once, waited for when it is needed."""

    def __init__(self) -> None:
        self._port = _free_port()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "flows.server_process", str(self._port)], stdin=subprocess.PIPE
        )

    @property
    def api_url(self) -> str:
        """Where it answers."""
        return f"http://127.0.0.1:{self._port}/api"

    def wait(self) -> None:
        """Return once it answers; raises StoreError when it does not come up."""
        deadline = time.monotonic() + STARTS_WITHIN_S
        with httpx.Client() as client:
            while time.monotonic() < deadline and self._process.poll() is None:
                with contextlib.suppress(httpx.TransportError):
                    if client.get(f"{self.api_url}/health").is_success:
                        return
                time.sleep(0.1)
        raise StoreError(
            "no Prefect server could be started for this run; start one with `prefect server start`, set "
            "PREFECT_API_URL to it, and run again"
        )

    def stop(self) -> None:
        """End it, by force if it takes too long."""
        if self._process.stdin:
            self._process.stdin.close()
        try:
            self._process.wait(STOPS_WITHIN_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


@contextlib.contextmanager
def prefect_server() -> Generator[LocalServer | None]:
    """The configured server (None), or one of this run's own, starting."""
    if get_current_settings().api.url is not None:
        yield None
        return
    server = LocalServer()
    try:
        with temporary_settings({PREFECT_API_URL: server.api_url}):
            yield server
    finally:
        server.stop()


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]
