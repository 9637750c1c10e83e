"""The application: every provider's paths under its prefix, and the stand-in's own under `/standin`.

What `/standin/counts` says of each provider: `posts` are all calls for an edit or a judgement, accepted or
not; `accepted` are edits that cost money, `distinct` the different ones, `paid_twice` those paid more than
once. `answered` counts edits that ended with an image, a refusal or without an image (`images`, `refused`,
`no_image`), and `judge_calls` answered judgements. Faults count once for each call that they befell.

`/standin/calls` lists the latest paid calls as they were sent; `/standin/script` takes the faults of the next
calls, in order: a list of names, or `{"faults": [...], "provider": ..., "kind": ...}`.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from adapters.standin import fal, fal_files, fal_platform, gemini, openai, replicate, replicate_files
from adapters.standin.desk import Desk
from adapters.standin.faults import Faults, Kind, Provider, ScriptedFault
from adapters.standin.work import StandinWork

_ROOMS = (gemini, fal_files, fal_platform, fal, replicate_files, replicate, openai)


class Script(BaseModel):
    """The body of `POST /standin/script`: faults of the next calls, in order."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    faults: tuple[ScriptedFault | str, ...]
    provider: Provider | None = None
    kind: Kind | None = None

    def entries(self) -> list[ScriptedFault]:
        """One entry for each fault; those given by name are for the script's provider and kind."""
        common = {"provider": self.provider, "kind": self.kind}
        return [
            fault
            if isinstance(fault, ScriptedFault)
            else ScriptedFault.model_validate({"fault": fault, **common})
            for fault in self.faults
        ]


def build_app(
    work: StandinWork, faults: Faults, state: Path | None = None, required_key: str | None = None
) -> Starlette:
    """The stand-in as an application, to be served by `adapters.standin.serving`.

    Args:
        work: Who edits and judges.
        faults: How often calls go wrong.
        state: A folder that outlives a restart; None keeps everything only until the end.
        required_key: The only key that is accepted; None accepts any.
    """
    desk = Desk(work, faults, state, required_key)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncGenerator[None]:
        async with desk.opened():
            yield

    own = _Own(desk)
    app = Starlette(
        routes=[
            Route("/standin/counts", own.counts, methods=["GET"]),
            Route("/standin/reset", own.reset, methods=["POST"]),
            Route("/standin/calls", own.calls, methods=["GET"]),
            Route("/standin/script", own.script, methods=["POST"]),
            *(route for room in _ROOMS for route in room.routes(desk)),
        ],
        lifespan=lifespan,
    )
    app.state.stop = desk.stop
    return app


class _Own:
    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def counts(self, request: Request) -> Response:
        return JSONResponse(self._desk.accounts.report())

    async def calls(self, request: Request) -> Response:
        return JSONResponse({"calls": self._desk.recent.of(request.query_params.get("provider"))})

    async def reset(self, request: Request) -> Response:
        self._desk.accounts.reset()
        self._desk.script.clear()
        self._desk.recent.clear()
        return Response(status_code=204)

    async def script(self, request: Request) -> Response:
        body = await request.body()
        if body.lstrip().startswith(b"["):
            body = b'{"faults": %b}' % body
        try:
            script = Script.model_validate_json(body)
            waiting = self._desk.script.extend(script.entries())
        except ValidationError as error:
            return JSONResponse({"detail": error.errors(include_url=False, include_context=False)}, 422)
        return JSONResponse({"waiting": waiting})
