"""fal's queue: an edit is submitted once, and asked for again and again."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from adapters.standin.desk import Desk
from adapters.standin.fal_answers import FORMS, flat, key, outcome, took
from adapters.standin.files import read_arguments
from adapters.standin.jobs import Job
from adapters.standin.wire import (
    Json,
    Object,
    a_text,
    a_whole,
    base_url,
    read_object,
)
from adapters.standin.work import Call

_NAMESPACES = ("workflows", "comfy")


def routes(desk: Desk) -> list[Route]:
    """The paths of fal's queue."""
    queue = _Queue(desk)
    job = "/fal/queue/{app:path}/requests/{job}"
    return [
        Route(f"{job}/status", queue.status, methods=["GET"]),
        Route(f"{job}/cancel", queue.cancel, methods=["PUT"]),
        Route(job, queue.result, methods=["GET"]),
        Route("/fal/queue/{endpoint:path}", queue.submit, methods=["POST"]),
    ]


class _Queue:
    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def submit(self, request: Request) -> Response:
        """Queue an edit."""
        endpoint = request.path_params["endpoint"]
        self._desk.accounts.count("fal", "posts", "edit_posts")
        arguments = await read_object(request)
        refused = self._desk.turned_away("fal", key(request), endpoint, FORMS)
        if refused is not None:
            return refused
        if arguments is None:
            self._desk.accounts.count("fal", "bad_request")
            return flat(400, "The body is not a JSON object", "bad_request")
        pictures, settings = await read_arguments(self._desk, arguments)
        prompt, seed = a_text(arguments.get("prompt")), a_whole(arguments.get("seed"))
        call = Call("fal", "edit", endpoint, pictures, prompt, seed, settings)
        fate = self._desk.admit(request, call, FORMS)
        if isinstance(fate, Response):
            return fate
        job = await self._desk.queue(call, fate, arguments)
        lost = self._desk.silence(fate)
        if lost is not None:
            return lost
        body: Object = {
            "status": "IN_QUEUE",
            "request_id": job.id,
            "queue_position": 0,
            **_urls(request, job),
        }
        return JSONResponse(body, headers={"x-fal-request-id": job.id})

    async def status(self, request: Request) -> Response:
        """Where a job is."""
        job = self._find(request)
        if isinstance(job, Response):
            return job
        self._desk.accounts.count("fal", "polls")
        logs: Json = [] if request.query_params.get("logs") in ("true", "1") else None
        body: Object = {"request_id": job.id, **_urls(request, job)}
        if not job.ended():
            if job.state == "pending":
                return JSONResponse({"status": "IN_QUEUE", "queue_position": 0, **body}, 202)
            return JSONResponse({"status": "IN_PROGRESS", "logs": logs, **body}, 202)
        body |= {"status": "COMPLETED", "logs": logs, "metrics": {"inference_time": took(job)}}
        if job.state == "canceled":
            body |= {"error": "Request was cancelled by the client", "error_type": "client_cancelled"}
        return JSONResponse(body)

    async def result(self, request: Request) -> Response:
        """What a job made, or the error of its model."""
        job = self._find(request)
        if isinstance(job, Response):
            return job
        self._desk.accounts.count("fal", "polls")
        if not job.ended():
            return JSONResponse({"detail": "Request is still in progress"}, 400)
        status, body = await outcome(self._desk, request, job)
        headers = {"x-fal-request-id": job.id}
        if status == 200:
            headers["x-fal-billable-units"] = "1"
        elif "error_type" in body:
            headers["x-fal-error-type"] = a_text(body["error_type"])
        else:
            headers["x-fal-retryable"] = "true" if status >= 500 else "false"
        return JSONResponse(body, status, headers)

    async def cancel(self, request: Request) -> Response:
        """Stop a job that has not ended."""
        job = self._find(request)
        if isinstance(job, Response):
            return JSONResponse({"status": "NOT_FOUND"}, 404) if job.status_code == 404 else job
        if not self._desk.jobs.cancel(job):
            return JSONResponse({"status": "ALREADY_COMPLETED"}, 400)
        self._desk.accounts.count("fal", "cancels")
        return JSONResponse({"status": "CANCELLATION_REQUESTED"}, 202)

    def _find(self, request: Request) -> Job | Response:
        refused = self._desk.free_call("fal", "poll", key(request), FORMS)
        if refused is not None:
            return refused
        job = self._desk.jobs.get("fal", request.path_params["job"])
        if job is None or _app_of(job.endpoint) != request.path_params["app"]:
            self._desk.accounts.count("fal", "lookups")
            return JSONResponse({"detail": "Request not found"}, 404)
        return job


def _app_of(endpoint: str) -> str:
    """The part of an endpoint that its jobs' addresses keep."""
    parts = endpoint.split("/")
    return "/".join(parts[: 3 if parts[0] in _NAMESPACES else 2])


def _urls(request: Request, job: Job) -> Object:
    url = f"{base_url(request)}/fal/queue/{_app_of(job.endpoint)}/requests/{job.id}"
    return {"response_url": url, "status_url": f"{url}/status", "cancel_url": f"{url}/cancel"}
