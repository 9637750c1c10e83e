"""Serving the stand-in: in a thread for tests, or as a process of its own."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from typing import cast

import uvicorn
from starlette.applications import Starlette
from uvicorn.protocols.http.h11_impl import H11Protocol

from adapters.standin.lines import HANG_UP

LOOPBACK = "127.0.0.1"
_GRACE_S = 10


class _Line(H11Protocol):
    """A connection that the application can close."""

    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(transport)
        self.app_state = {**self.app_state, HANG_UP: transport.close}


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, app: Starlette, on_ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._app = app
        self._on_ready = on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._on_ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        cast(Callable[[], None], self._app.state.stop)()  # calls that hang would be waited for
        await super().shutdown(sockets)


def serve(app: Starlette, host: str, port: int, on_ready: Callable[[str], None] | None = None) -> None:
    """Serve until SIGINT or SIGTERM; `on_ready` is called with the base URL. Port 0 takes a free one."""
    with _listening(host, port) as listener:
        base = _url(listener)
        _server(app, lambda: on_ready(base) if on_ready else None).run([listener])


@contextmanager
def running(app: Starlette, port: int = 0) -> Generator[str]:
    """Serve on this machine from a thread; gives the base URL, and ends the server at the end."""
    ready = threading.Event()
    with _listening(LOOPBACK, port) as listener:
        server = _server(app, ready.set)

        def run() -> None:
            try:
                with suppress(SystemExit):  # how uvicorn ends what does not start
                    server.run([listener])
            finally:
                ready.set()

        thread = threading.Thread(target=run, name="standin")
        thread.start()
        try:
            ready.wait()
            if not server.started:
                raise RuntimeError("the stand-in did not start; its log says why")
            yield _url(listener)
        finally:
            server.should_exit = True
            thread.join()


def _server(app: Starlette, on_ready: Callable[[], None]) -> _Server:
    config = uvicorn.Config(
        app,
        http=_Line,
        ws="none",
        loop="asyncio",
        lifespan="on",
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=_GRACE_S,
    )
    return _Server(config, app, on_ready)


@contextmanager
def _listening(host: str, port: int) -> Generator[socket.socket]:
    with socket.create_server((host, port), backlog=512) as listener:
        # asyncio does so only for sockets that name their protocol; without it each answer waits 40 ms
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        yield listener


def _url(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://{host}:{port}"
