"""Replicate: predictions that are asked again and again, and the list of all predictions."""

from __future__ import annotations

import asyncio
import re
import time
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from adapters.standin.desk import Desk
from adapters.standin.files import read_arguments
from adapters.standin.jobs import Job
from adapters.standin.replicate_files import FORMS, key, problem
from adapters.standin.wire import (
    Json,
    Object,
    a_text,
    a_whole,
    an_object,
    base_url,
    from_cursor,
    from_iso,
    iso,
    read_object,
    to_cursor,
)
from adapters.standin.work import Call

_PAGE = 100
_LONGEST_WAIT_S = 60
_POLL_S = 0.02
_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600}
_FLAGGED = "The input or output was flagged as sensitive. Please try again with different inputs. (E005)"
_LISTED = ("flux-dev", "seedream", "qwen-image-edit-plus")
"""Models whose output is a list of addresses, not one address."""


def routes(desk: Desk) -> list[Route]:
    """The paths of predictions and models."""
    api = _Predictions(desk)
    v1 = "/replicate/v1"
    return [
        Route(f"{v1}/account", api.account, methods=["GET"]),
        Route(f"{v1}/models/{{owner}}/{{name}}/predictions", api.create, methods=["POST"]),
        Route(f"{v1}/models/{{owner}}/{{name}}", api.model, methods=["GET"]),
        Route(f"{v1}/predictions", api.create, methods=["POST"]),
        Route(f"{v1}/predictions", api.listing, methods=["GET"]),
        Route(f"{v1}/predictions/{{job}}", api.get, methods=["GET"]),
        Route(f"{v1}/predictions/{{job}}/cancel", api.cancel, methods=["POST"]),
    ]


class _Predictions:
    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def account(self, request: Request) -> Response:
        """Whose key it is; costs nothing."""
        self._desk.accounts.count("replicate", "lookups")
        refused = self._desk.free_call("replicate", "lookup", key(request), FORMS)
        return refused or JSONResponse({"type": "user", "username": "standin", "name": "Stand-in"})

    async def model(self, request: Request) -> Response:
        """What is known of one model; costs nothing."""
        owner, name = request.path_params["owner"], request.path_params["name"]
        self._desk.accounts.count("replicate", "lookups")
        refused = self._desk.free_call("replicate", "lookup", key(request), FORMS, f"{owner}/{name}")
        return refused or JSONResponse(
            {
                "url": f"https://replicate.com/{owner}/{name}",
                "owner": owner,
                "name": name,
                "description": "Stand-in",
                "visibility": "public",
                "github_url": None,
                "paper_url": None,
                "license_url": None,
                "run_count": 1,
                "cover_image_url": None,
                "default_example": None,
                "latest_version": None,
            }
        )

    async def create(self, request: Request) -> Response:
        """Start an edit."""
        self._desk.accounts.count("replicate", "posts", "edit_posts")
        body = await read_object(request)
        named = "/".join(
            request.path_params[part] for part in ("owner", "name") if part in request.path_params
        )
        model = named or a_text((body or {}).get("version"))
        refused = self._desk.turned_away("replicate", key(request), model, FORMS)
        if refused is not None:
            return refused
        arguments = an_object((body or {}).get("input"))
        if not arguments or not model:
            self._desk.accounts.count("replicate", "bad_request")
            return problem(422, "Input validation failed", "- input is required", invalid_fields=[])
        pictures, settings = await read_arguments(self._desk, arguments)
        prompt, seed = a_text(arguments.get("prompt")), a_whole(arguments.get("seed"))
        call = Call("replicate", "edit", model, pictures, prompt, seed, settings)
        fate = self._desk.admit(request, call, FORMS)
        if isinstance(fate, Response):
            return fate
        give_up_s = _seconds(request.headers.get("cancel-after", ""))
        job = await self._desk.queue(call, fate, arguments, give_up_s)
        lost = self._desk.silence(fate)
        if lost is not None:
            return lost
        await self._wait(job, request.headers.get("prefer", ""))
        return await self._answer(request, job, 201)

    async def get(self, request: Request) -> Response:
        """Where a prediction is."""
        job = self._find(request)
        if isinstance(job, Response):
            return job
        self._desk.accounts.count("replicate", "polls")
        return await self._answer(request, job)

    async def cancel(self, request: Request) -> Response:
        """Stop a prediction that has not ended."""
        job = self._find(request)
        if isinstance(job, Response):
            return job
        if self._desk.jobs.cancel(job):
            self._desk.accounts.count("replicate", "cancels")
        return await self._answer(request, job)

    async def listing(self, request: Request) -> Response:
        """All predictions, the newest first."""
        self._desk.accounts.count("replicate", "history_calls")
        refused = self._desk.free_call("replicate", "lookup", key(request), FORMS)
        if refused is not None:
            return refused
        asked = request.query_params
        where, values = "provider = 'replicate'", list[object]()
        bounds = ((asked.get("created_after"), ">="), (asked.get("created_before"), "<"))
        for text, sign in bounds:
            moment = from_iso(text)
            if moment is not None:
                where += f" AND sent_at {sign} ?"
                values.append(moment)
        after = from_cursor(asked.get("cursor"))
        if after is not None:
            where += " AND (sent_at, id) < (?, ?)"
            values += after
        jobs = self._desk.jobs.select(where, tuple(values), "sent_at DESC, id DESC", _PAGE + 1)
        payloads = await self._desk.payloads(jobs[:_PAGE])
        page = jobs[: len(payloads)]
        following = None
        if len(jobs) > len(page):
            query = request.url.include_query_params(cursor=to_cursor(page[-1].sent_at, page[-1].id)).query
            following = f"{base_url(request)}/replicate/v1/predictions?{query}"
        results: list[Json] = [
            self._shown(request, job, payload) for job, payload in zip(page, payloads, strict=True)
        ]
        return JSONResponse({"previous": None, "next": following, "results": results})

    async def _wait(self, job: Job, prefer: str) -> None:
        """Until the prediction has ended, for as long as the client prefers."""
        wanted = re.search(r"wait(?:=(\d+))?", prefer)
        if wanted is None:
            return
        end = time.monotonic() + min(_LONGEST_WAIT_S, int(wanted.group(1) or _LONGEST_WAIT_S))
        while time.monotonic() < end and not self._desk.closing.is_set():
            now = self._desk.jobs.get("replicate", job.id)
            if now is None or now.ended():
                return
            await asyncio.sleep(_POLL_S)

    def _find(self, request: Request) -> Job | Response:
        refused = self._desk.free_call("replicate", "poll", key(request), FORMS)
        if refused is not None:
            return refused
        job = self._desk.jobs.get("replicate", request.path_params["job"])
        return job or problem(404, "Not found", "The requested prediction could not be found.")

    async def _answer(self, request: Request, job: Job, status: int = 200) -> Response:
        now = self._desk.jobs.get("replicate", job.id) or job
        [payload] = await self._desk.payloads([now])
        return JSONResponse(self._shown(request, now, payload), status)

    def _shown(self, request: Request, job: Job, payload: Object) -> Object:
        status, ended_at = _status(job)
        url = f"{base_url(request)}/replicate/v1/predictions/{job.id}"
        output: Json = None
        error: Json = None
        if status == "succeeded" and job.result is not None and job.result.file:
            file = self._desk.jobs.file(job.result.file)
            name = file.name if file else ""
            output = f"{base_url(request)}/replicate/delivery/{job.result.file}/{quote(name)}"
            if any(listed in job.endpoint for listed in _LISTED):
                output = [output]
        if status == "failed" and job.result is not None:
            error = {
                "refused": _FLAGGED,
                "unreadable": "Prediction failed: the input image could not be read. (E006)",
            }.get(job.result.kind, "Prediction interrupted; please retry (code: PA)")
        started = job.started_at or job.sent_at
        return {
            "id": job.id,
            "model": job.endpoint,
            "version": "hidden",
            "input": payload,
            "logs": "",
            "output": output,
            "error": error,
            "status": status,
            "source": "api",
            "created_at": iso(job.sent_at),
            "started_at": iso(started) if job.started_at else None,
            "completed_at": None if ended_at is None else iso(ended_at),
            "metrics": {} if ended_at is None else {"predict_time": round(ended_at - started, 4)},
            "urls": {"get": url, "cancel": f"{url}/cancel", "stream": f"{url}/stream", "web": url},
            "data_removed": False,
        }


def _status(job: Job) -> tuple[str, float | None]:
    """What the client sees, and since when it has ended."""
    late = job.deadline is not None and (job.ended_at is None or job.ended_at > job.deadline)
    if late and job.deadline is not None and time.time() >= job.deadline:
        began = job.started_at is not None and job.started_at <= job.deadline
        return ("canceled" if began else "aborted"), job.deadline
    if not job.ended():
        return ("starting" if job.state == "pending" else "processing"), None
    if job.state == "canceled" or job.result is None:
        return "canceled", job.ended_at
    return ("succeeded" if job.result.kind in ("image", "no_image") else "failed"), job.ended_at


def _seconds(text: str) -> float | None:
    """A duration such as `5m`, or None."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([smh]?)", text.strip())
    return None if found is None else float(found.group(1)) * _UNITS[found.group(2)]
