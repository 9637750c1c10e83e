"""Serving the page until it is told to stop. Addresses hold tokens, so no request is logged."""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable, Generator
from contextlib import contextmanager

import uvicorn
from starlette.applications import Starlette

from domain.errors import DefinitionError

_GRACE_S = 10
_KEEP_ALIVE_S = 15
_AT_ONCE = 512
"""Requests under way; more are answered 503."""


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, on_ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_ready = on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._on_ready()


def serve(app: Starlette, host: str, port: int, on_ready: Callable[[str], None]) -> None:
    """Serve until SIGINT or SIGTERM, which end it once the requests under way are answered.

    Args:
        app: What answers.
        host: Address of this machine to listen on.
        port: 0 takes a free one.
        on_ready: Called with the address once it answers.

    Raises:
        DefinitionError: the address cannot be listened on.
    """
    with _listening(host, port) as listener:
        shown = f"[{host}]" if ":" in host else host
        base = f"http://{shown}:{listener.getsockname()[1]}"
        config = uvicorn.Config(
            app,
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            limit_concurrency=_AT_ONCE,
            timeout_keep_alive=_KEEP_ALIVE_S,
            timeout_graceful_shutdown=_GRACE_S,
        )
        with _signals_that_end_nothing_else():
            _Server(config, lambda: on_ready(base)).run([listener])


@contextmanager
def _signals_that_end_nothing_else() -> Generator[None]:
    """Uvicorn stops at a signal, and then raises it again for whoever handled it before: nobody here."""
    before = {number: signal.signal(number, _nothing) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _nothing(_number: int, _frame: object) -> None:
    return


@contextmanager
def _listening(host: str, port: int) -> Generator[socket.socket]:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family, backlog=512)
    except OSError as error:
        raise DefinitionError(
            f"port {port} of {host!r} cannot be used ({error.strerror}); name another, or 0", field="port"
        ) from error
    with listener:
        # asyncio does so only for sockets that name their protocol; without it each answer waits 40 ms
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        yield listener
