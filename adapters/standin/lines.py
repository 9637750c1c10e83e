"""Answers that do not arrive: connections closed at once, late, or in the middle of a body."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import cast

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

HANG_UP = "hang_up"
"""Under this name of the request's state is what closes the connection; see `adapters.standin.serving`."""
_CLAIMED_MORE = 1000


class HangUp(Response):
    """Close the connection without an answer, at once or when the client does not give up earlier."""

    def __init__(self, closing: asyncio.Event, after_s: float = 0) -> None:
        super().__init__()
        self._closing = closing
        self._after_s = after_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send nothing."""
        if self._after_s > 0:
            ends = [asyncio.ensure_future(_gone(receive)), asyncio.ensure_future(self._closing.wait())]
            await asyncio.wait(ends, timeout=self._after_s, return_when=asyncio.FIRST_COMPLETED)
            for end in ends:
                end.cancel()
            await asyncio.wait(ends)
        await _hang_up(scope, receive)


class ShortBody(Response):
    """A body that ends before its Content-Length."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the head and the first part, then close."""
        length = str(len(self.body) + _CLAIMED_MORE).encode()
        headers = [(name, value) for name, value in self.raw_headers if name != b"content-length"]
        headers.append((b"content-length", length))
        await send({"type": "http.response.start", "status": self.status_code, "headers": headers})
        await send({"type": "http.response.body", "body": self.body, "more_body": True})
        await _hang_up(scope, receive)


async def _hang_up(scope: Scope, receive: Receive) -> None:
    state = cast(Mapping[str, Callable[[], None]], scope.get("state") or {})
    if HANG_UP not in state:
        raise RuntimeError("connections can be closed only under adapters.standin.serving")
    state[HANG_UP]()
    await _gone(receive)


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
