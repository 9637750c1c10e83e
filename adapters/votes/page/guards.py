"""What every request has to pass, and the headers that every answer has."""

from __future__ import annotations

import asyncio
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MAX_BODY = 4096
"""Bytes of a vote; it needs about 120."""
BODY_WITHIN_S = 10
_FORM = "application/x-www-form-urlencoded"

_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "Referrer-Policy": "no-referrer",  # the token is in the address
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "X-Robots-Tag": "noindex, nofollow",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}


class SafeHeaders:
    """Adds the headers to whatever is answered; nothing is kept by a cache unless its answer says so."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(_HEADERS)
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        await self._app(scope, receive, with_headers)


def is_from_our_page(request: Request, base_url: str | None) -> bool:
    """Whether a browser sent this from our own page; False where nothing says so.

    A browser fills in `Sec-Fetch-Site` itself, and no page can change it. One too old for it says by `Origin`
    whose page it was.
    """
    site = request.headers.get("sec-fetch-site")
    origin = request.headers.get("origin")
    if site is not None:
        return site == "same-origin" and origin in (None, "null", _own(request, base_url))
    return origin == _own(request, base_url)


def _own(request: Request, base_url: str | None) -> str:
    parts = urlsplit(base_url or str(request.base_url))
    return f"{parts.scheme}://{parts.netloc}"


async def read_form(request: Request, fields: tuple[str, ...]) -> list[str]:
    """The values of a small form, in the order asked for; raises HTTPException that says what is wrong."""
    if request.headers.get("content-type", "").split(";")[0].strip().lower() != _FORM:
        raise HTTPException(415, "A vote is a form.")
    try:
        body = await asyncio.wait_for(_body(request), BODY_WITHIN_S)
    except TimeoutError as error:
        raise HTTPException(408, "The vote did not arrive in time.") from error
    except ClientDisconnect as error:
        raise HTTPException(400, "The vote did not arrive.") from error
    try:
        found = parse_qs(body.decode("ascii"), strict_parsing=True, max_num_fields=len(fields))
    except ValueError as error:
        raise HTTPException(400, "The vote cannot be read.") from error
    if sorted(found) != sorted(fields) or any(len(values) != 1 for values in found.values()):
        raise HTTPException(400, "The vote cannot be read.")
    return [found[field][0] for field in fields]


async def _body(request: Request) -> bytes:
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BODY:
            raise HTTPException(413, "That is too large for a vote.")
    return body
