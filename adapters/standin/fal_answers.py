"""What fal says: the ways to turn a call away, and how a job ended."""

from __future__ import annotations

from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from adapters.standin.desk import Desk
from adapters.standin.faults import Faults
from adapters.standin.jobs import Job
from adapters.standin.wire import Json, Object, base_url, to_data_url

_ERRORS = "https://docs.fal.ai/errors#"


class _Forms:
    """fal's ways to turn a call away."""

    def rate_limited(self, faults: Faults) -> Response:
        headers = {"retry-after": f"{faults.retry_after_s:g}"}
        return JSONResponse({"detail": "Rate limit exceeded"}, 429, headers)

    def server_error(self) -> Response:
        return flat(500, "Internal Server Error", "internal_error")

    def quota(self) -> Response:
        text = "User is locked. Reason: Exhausted balance. Top up your balance at fal.ai/dashboard/billing."
        return JSONResponse({"detail": text}, 403)

    def bad_key(self) -> Response:
        text = "Cannot access application. Authentication is required to access this application."
        return JSONResponse({"detail": text}, 401)

    def missing_model(self, model: str) -> Response:
        return JSONResponse({"detail": f"Application {model!r} not found"}, 404)


FORMS = _Forms()


async def outcome(desk: Desk, request: Request, job: Job) -> tuple[int, Object]:
    """Status and body of a job that has ended."""
    if job.state == "canceled" or job.result is None:
        return 499, {"detail": "Request was cancelled by the client", "error_type": "client_cancelled"}
    kind = job.result.kind
    if kind == "image" or (kind == "refused" and job.form == 1 and _has_checker(job.endpoint)):
        return 200, await _output(desk, request, job, job.result.file or "")
    if kind == "refused":
        text = "The content could not be processed because it was flagged by a content checker."
        return 422, _detail("content_policy_violation", text, job, ["body", "prompt"])
    if kind == "no_image":
        return 422, _detail("no_media_generated", "The model did not generate any media.", job, ["body"])
    if kind == "unreadable":
        name = "image_load_error" if job.image_sha256 else "file_download_error"
        return 422, _detail(name, job.result.reason, job, ["body", "image_url"])
    return 500, _detail("internal_server_error", "Internal server error", job, ["body"])


async def _output(desk: Desk, request: Request, job: Job, file_id: str) -> Object:
    file = desk.jobs.file(file_id)
    if file is None or job.result is None:
        return {"images": []}
    url = f"{base_url(request)}/fal/cdn/files/{file.id}/{quote(file.name)}"
    if job.argument("sync_mode") is True:
        url = to_data_url(await desk.in_thread(lambda: desk.blobs.get(file.sha256)), file.content_type)
    image: Object = {
        "url": url,
        "content_type": file.content_type,
        "file_name": file.name,
        "file_size": file.size,
        "width": job.result.width,
        "height": job.result.height,
    }
    if not _has_checker(job.endpoint):
        return {"images": [image], "description": ""}
    body: Object = {"image": image} if "seededit" in job.endpoint else {"images": [image]}
    body["timings"] = {"inference": took(job)}
    body["seed"], body["prompt"] = job.seed or 0, job.prompt
    body["has_nsfw_concepts"] = [job.result.kind == "refused"]
    return body


def _has_checker(endpoint: str) -> bool:
    """Whether unsafe pictures are replaced by black ones; other endpoints answer with an error."""
    return not any(name in endpoint for name in ("nano-banana", "gemini", "gpt-image"))


def took(job: Job) -> float:
    """How long a job ran, in seconds."""
    return round((job.ended_at or job.sent_at) - (job.started_at or job.sent_at), 4)


def _detail(name: str, text: str, job: Job, where: list[Json]) -> Object:
    problem: Object = {"loc": where, "msg": text, "type": name, "url": f"{_ERRORS}{name}", "ctx": {}}
    if where[-1] == "prompt":
        problem["input"] = job.prompt
    return {"detail": [problem]}


def flat(status: int, text: str, name: str) -> JSONResponse:
    """An error of the queue itself."""
    return JSONResponse({"detail": text, "error_type": name}, status, {"x-fal-error-type": name})


def key(request: Request) -> str | None:
    """The key of a call to fal."""
    scheme, _, value = request.headers.get("authorization", "").partition(" ")
    return value if scheme == "Key" else None
