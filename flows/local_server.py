"""Servers of one run: a Prefect server where none is configured, and the stand-in of a rehearsal.

Prefect starts one by itself when it is needed, but imports its whole server in the client first and
waits. This one comes up in another process while the run loads its face models, and like the stand-in it
ends with the run even when that is killed (see `flows.server_process`).
"""

from __future__ import annotations

import contextlib
import logging
import socket
import subprocess
import sys
import time
from collections.abc import Generator

import httpx
from prefect.events.worker import EventsWorker
from prefect.settings import (
    PREFECT_API_URL,
    PREFECT_LOGGING_TO_API_ENABLED,
    get_current_settings,
    temporary_settings,
)

from domain.errors import StoreError
from flows.environment import set_variables

STARTS_WITHIN_S = 300.0
STOPS_WITHIN_S = 10.0
DRAINS_WITHIN_S = 30.0
"""Time for Prefect's last events to be sent; a server that is gone costs no more than this."""
OWN_SERVER = "FACEDRIFT_OWN_SERVER"
"""Tells `tasks.limits` that nobody else is on this run's Prefect server."""


class ChildServer:
    """A server process of this run: started at once, waited for when it is needed."""

    def __init__(self, module: str, health: str, *arguments: str) -> None:
        self._port = _free_port()
        self._health = health
        self._process = subprocess.Popen(
            [sys.executable, "-m", module, str(self._port), *arguments],
            stdin=subprocess.PIPE,
            start_new_session=True,  # so that Ctrl-C reaches the run alone, which then ends its servers
        )

    @property
    def url(self) -> str:
        """Where it answers."""
        return f"http://127.0.0.1:{self._port}"

    def wait(self) -> bool:
        """True once it answers; False when it does not come up."""
        deadline = time.monotonic() + STARTS_WITHIN_S
        with httpx.Client() as client:
            while time.monotonic() < deadline and self._process.poll() is None:
                with contextlib.suppress(httpx.TransportError):
                    if client.get(f"{self.url}{self._health}").is_success:
                        return True
                time.sleep(0.1)
        return False

    def stop(self) -> None:
        """End it, by force if it takes too long."""
        if self._process.stdin:
            self._process.stdin.close()
        try:
            self._process.wait(STOPS_WITHIN_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


class LocalServer(ChildServer):
    """The Prefect server of a run."""

    def __init__(self) -> None:
        super().__init__("flows.server_process", "/api/health")

    @property
    def api_url(self) -> str:
        """Where its API answers."""
        return f"{self.url}/api"

    def ready(self) -> None:
        """Return once it answers; raises StoreError when it does not come up."""
        if not self.wait():
            raise StoreError(
                "no Prefect server could be started for this run; start one with `prefect server start`, set "
                "PREFECT_API_URL to it, and run again"
            )


@contextlib.contextmanager
def prefect_server() -> Generator[LocalServer | None]:
    """The configured server (None), or one of this run's own, starting."""
    if get_current_settings().api.url is not None:
        yield None
        return
    server = LocalServer()
    try:
        set_variables({OWN_SERVER: "true"})
        # Nobody reads a log there, and Prefect would go on sending it after the server has stopped.
        with temporary_settings({PREFECT_API_URL: server.api_url, PREFECT_LOGGING_TO_API_ENABLED: False}):
            yield server
    finally:
        set_variables({OWN_SERVER: "false"})
        send_last_events()
        server.stop()


def send_last_events() -> None:
    """Return once Prefect has sent the events of this process, or `DRAINS_WITHIN_S` later.

    Its worker sends them in the background, and tries for half a minute to reach a server that was stopped
    before it was done. What it says meanwhile is shown as far as Prefect's log is.
    """
    logging.getLogger(EventsWorker.__name__).setLevel(get_current_settings().logging.level)
    EventsWorker.drain_all(timeout=DRAINS_WITHIN_S, at_exit=False)


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]
