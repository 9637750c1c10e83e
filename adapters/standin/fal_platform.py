"""fal's platform: its models, and the history that knows jobs whose answer was lost."""

from __future__ import annotations

import time

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from adapters.standin.desk import Desk
from adapters.standin.fal_answers import FORMS, key, outcome, took
from adapters.standin.jobs import Job
from adapters.standin.wire import Json, Object, a_whole, from_cursor, from_iso, iso, to_cursor

_PAGE = 50
_LARGEST_PAGE = 100


def routes(desk: Desk) -> list[Route]:
    """The paths of fal's platform."""
    platform = _Platform(desk)
    return [
        Route("/fal/platform/v1/models/requests/by-endpoint", platform.history, methods=["GET"]),
        Route("/fal/platform/v1/models", platform.models, methods=["GET"]),
    ]


class _Platform:
    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def models(self, request: Request) -> Response:
        """What is known of the endpoints that are named; costs nothing."""
        self._desk.accounts.count("fal", "lookups")
        refused = self._desk.free_call("fal", "lookup", key(request), FORMS)
        if refused is not None:
            return refused
        named = [name for text in request.query_params.getlist("endpoint_id") for name in text.split(",")]
        for name in named:
            if name in self._desk.faults.missing_models:
                return FORMS.missing_model(name)
        models: list[Json] = [
            {"endpoint_id": name, "metadata": {"display_name": name, "status": "active"}} for name in named
        ]
        return JSONResponse({"models": models, "has_more": False, "next_cursor": None})

    async def history(self, request: Request) -> Response:
        """Jobs of one endpoint that have ended, the latest first."""
        self._desk.accounts.count("fal", "history_calls")
        refused = self._desk.free_call("fal", "lookup", key(request), FORMS)
        if refused is not None:
            return refused
        asked = request.query_params
        endpoint = asked.get("endpoint_id")
        if not endpoint:
            return JSONResponse({"detail": "endpoint_id is required"}, 422)
        limit = min(_LARGEST_PAGE, max(1, a_whole(asked.get("limit")) or _PAGE))
        expand = [part for text in asked.getlist("expand") for part in text.split(",")]
        jobs = self._page(endpoint, asked.get("start"), asked.get("end"), asked.get("cursor"), limit)
        shown, payloads = jobs[:limit], list[Object]()
        if "payloads" in expand:
            payloads = await self._desk.payloads(shown)
            shown = shown[: len(payloads)]
        items: list[Json] = []
        for place, job in enumerate(shown):
            status, body = await outcome(self._desk, request, job)
            item = _item(job, status)
            if payloads:
                item |= {"json_input": payloads[place], "json_output": body}
            items.append(item)
        more = len(jobs) > len(shown)
        cursor = to_cursor(shown[-1].ended_at or 0, shown[-1].id) if more else None
        return JSONResponse({"items": items, "has_more": more, "next_cursor": cursor})

    def _page(
        self, endpoint: str, start: str | None, end: str | None, cursor: str | None, limit: int
    ) -> list[Job]:
        """One more than the limit, when there are more."""
        where = "provider = 'fal' AND endpoint = ? AND ended_at <= ?"
        values: list[object] = [endpoint, time.time()]
        for bound, sign in ((from_iso(start), ">="), (from_iso(end), "<=")):
            if bound is not None:
                where += f" AND ended_at {sign} ?"
                values.append(bound)
        after = from_cursor(cursor)
        if after is not None:
            where += " AND (ended_at, id) < (?, ?)"
            values += after
        return self._desk.jobs.select(where, tuple(values), "ended_at DESC, id DESC", limit + 1)


def _item(job: Job, status: int) -> Object:
    return {
        "request_id": job.id,
        "endpoint_id": job.endpoint,
        "sent_at": iso(job.sent_at),
        "started_at": iso(job.started_at or job.sent_at),
        "ended_at": iso(job.ended_at or job.sent_at),
        "status_code": status,
        "duration": took(job),
    }
