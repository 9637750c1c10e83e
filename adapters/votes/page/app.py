"""The page as an application: one address a voter, one form, three pictures.

| request | answer |
|---|---|
| `GET /vote/TOKEN` | what lies before the voter; the same after a reload |
| `POST /vote/TOKEN/cast` | 303 to the above, or JSON for the page's script, once the vote is on disk |
| | 409 voted or not open; 403 another's serving, or not sent by our page; 400, 408, 413, 415 no vote |
| `GET /vote/pictures/SERVING/ROLE` | a PNG; its address names neither voter nor picture |
| `GET /healthz` | 200 while the database answers |

An unknown, expired or revoked link is answered like an address that never was: 404.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from importlib import resources
from typing import cast

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from adapters.votes.page.guards import SafeHeaders, is_from_our_page, read_form
from adapters.votes.page.links import Links, Voter
from adapters.votes.page.servings import ANSWERS, ROLES, Answer, Refused, Role, Servings, Table
from domain.errors import StoreError

_TYPES = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
_REASONS = {
    "voted": (409, "That vote was stored before; it counts once."),
    "not_open": (409, "That pair is not before you any more. Nothing was stored."),
    "not_yours": (403, "That vote belongs to another pair or person. Nothing was stored."),
}
_HEADINGS = {404: "Nothing here", 503: "One moment"}
_GONE = "This address shows nothing. Check that you have copied the whole link, or ask for a new one."
_TROUBLE = "Votes cannot be stored just now. Nothing was lost; try again in a moment."
_FOREIGN = "This vote was not sent by the voting page. Nothing was stored; open your link and vote there."


@dataclass(frozen=True)
class Booth:
    """What the page is made of."""

    links: Links
    servings: Servings
    read_picture: Callable[[str], bytes]
    """The PNG of a sha256; raises StoreError."""
    question: str
    base_url: str | None
    """Where browsers reach it; None: as their requests say."""
    now_ms: Callable[[], int]


def build_app(booth: Booth) -> Starlette:
    """The page, to be served by `adapters.votes.page.server`."""
    page = _Page(booth)
    return Starlette(
        routes=[
            Route("/healthz", page.health, methods=["GET"]),
            Route("/vote/assets/{name}", page.asset, methods=["GET"]),
            Route("/vote/pictures/{serving}/{role}", page.picture, methods=["GET"]),
            Route("/vote/{token}", page.show, methods=["GET"]),
            Route("/vote/{token}/cast", page.cast, methods=["POST"]),
        ],
        middleware=[Middleware(SafeHeaders)],
        exception_handlers={HTTPException: page.http_error, StoreError: page.trouble},
    )


class _Page:
    def __init__(self, booth: Booth) -> None:
        self._booth = booth
        self._templates = Environment(
            loader=PackageLoader("adapters.votes.page"), autoescape=True, undefined=StrictUndefined,
            trim_blocks=True, lstrip_blocks=True,
        )  # fmt: skip
        folder = resources.files("adapters.votes.page") / "assets"
        self._assets = {file.name: file.read_bytes() for file in folder.iterdir()}

    async def show(self, request: Request) -> Response:
        voter = await self._voter(request)
        table = await run_in_threadpool(self._booth.servings.table, voter)
        return self._ballot(request, table, root="")

    async def cast(self, request: Request) -> Response:
        if not is_from_our_page(request, self._booth.base_url):
            raise HTTPException(403, _FOREIGN)
        voter = await self._voter(request)
        serving, nonce, answer = await read_form(request, ("serving", "nonce", "choice"))
        if answer not in ANSWERS:
            raise HTTPException(400, "A vote is left, right or tie.")
        done = await run_in_threadpool(self._booth.servings.vote, voter, serving, nonce, cast(Answer, answer))
        if isinstance(done, Refused):
            status, said = _REASONS[done.reason]
            return self._ballot(request, done.table, root="../", said=said, status=status)
        if _wants_json(request):
            return self._ballot(request, done, root="../")
        return RedirectResponse(f"../{request.path_params['token']}", HTTPStatus.SEE_OTHER)

    async def picture(self, request: Request) -> Response:
        serving, role = request.path_params["serving"], request.path_params["role"]
        if role not in ROLES:
            raise HTTPException(404)
        sha = await run_in_threadpool(self._booth.servings.picture, serving, cast(Role, role))
        if sha is None:
            raise HTTPException(404)
        data = await run_in_threadpool(self._booth.read_picture, sha)
        kept = {"Cache-Control": "private, max-age=86400, immutable"}
        return Response(data, media_type="image/png", headers=kept)

    async def asset(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in self._assets:
            raise HTTPException(404)
        kept = {"Cache-Control": "public, max-age=300"}
        return Response(self._assets[name], media_type=_TYPES[name.rpartition(".")[2]], headers=kept)

    async def health(self, request: Request) -> Response:
        await run_in_threadpool(self._booth.links.check)
        return PlainTextResponse("ok")

    async def http_error(self, request: Request, error: Exception) -> Response:
        found = cast(HTTPException, error)
        said = _GONE if found.status_code == 404 else found.detail
        return self._message(request, said, found.status_code, found.headers)

    async def trouble(self, request: Request, error: Exception) -> Response:
        return self._message(request, _TROUBLE, 503, {"Retry-After": "5"})

    async def _voter(self, request: Request) -> Voter:
        token = request.path_params["token"]
        found = await run_in_threadpool(self._booth.links.voter, token, self._booth.now_ms())
        if found is None:
            raise HTTPException(404)
        return found

    def _ballot(
        self, request: Request, table: Table, *, root: str, said: str = "", status: int = 200
    ) -> Response:
        """What lies before the voter, for the script or as a page; `root` leads from the page to `/vote/`."""
        if _wants_json(request):
            opened = table.open
            return JSONResponse(
                {
                    "said": said,
                    "votes": table.votes,
                    "wanted": table.wanted,
                    "serving": {"id": opened.id, "nonce": opened.nonce} if opened else None,
                    "ahead": table.ahead,
                },
                status,
            )
        text = self._templates.get_template("vote.html.j2" if table.open else "done.html.j2").render(
            root=root,
            token=request.path_params["token"],
            question=self._booth.question,
            table=table,
            said=said,
        )
        return HTMLResponse(text, status)

    def _message(
        self, request: Request, said: str, status: int, headers: Mapping[str, str] | None = None
    ) -> Response:
        if _wants_json(request):
            return JSONResponse({"said": said}, status, headers)
        root = "../" * (request.url.path.count("/") - 2) if request.url.path.startswith("/vote/") else "vote/"
        heading = _HEADINGS.get(status, "Not stored")
        text = self._templates.get_template("message.html.j2").render(root=root, said=said, heading=heading)
        return HTMLResponse(text, status, headers)


def _wants_json(request: Request) -> bool:
    return "application/json" in request.headers.get("accept", "")
