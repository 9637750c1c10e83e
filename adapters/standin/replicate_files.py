"""Replicate's errors, and the files that go in and out."""

from __future__ import annotations

from starlette.datastructures import UploadFile
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from adapters.standin.desk import Desk
from adapters.standin.faults import Faults
from adapters.standin.files import deliver
from adapters.standin.jobs import StoredFile
from adapters.standin.wire import Json, Object, base_url, iso

_FILE_LASTS_S = 24 * 3600


def routes(desk: Desk) -> list[Route]:
    """The paths of files."""
    files = _Files(desk)
    return [
        Route("/replicate/v1/files", files.create, methods=["POST"]),
        Route("/replicate/v1/files/{file}", files.get, methods=["GET"]),
        Route("/replicate/delivery/{file}/{name}", files.download, methods=["GET"]),
    ]


class _Forms:
    def rate_limited(self, faults: Faults) -> Response:
        seconds = f"{faults.retry_after_s:g}"
        response = problem(
            429, "Too Many Requests", "Request was throttled.", retry_after=faults.retry_after_s
        )
        response.headers["retry-after"] = response.headers["ratelimit-reset"] = seconds
        return response

    def server_error(self) -> Response:
        return problem(500, "Internal Server Error", "An unexpected error occurred.")

    def quota(self) -> Response:
        text = "You have insufficient credit to run this model. Go to https://replicate.com/account/billing."
        return problem(402, "Insufficient credit", text)

    def bad_key(self) -> Response:
        return problem(401, "Unauthenticated", "You did not pass a valid authentication token")

    def missing_model(self, model: str) -> Response:
        return problem(404, "Not found", f"The requested resource {model} could not be found.")


FORMS = _Forms()


class _Files:
    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def create(self, request: Request) -> Response:
        """Keep a file to be named in a prediction."""
        refused = self._desk.free_call("replicate", "upload", key(request), FORMS)
        if refused is not None:
            return refused
        async with request.form() as form:
            content = form.get("content")
            if not isinstance(content, UploadFile):
                return problem(400, "Bad request", "Missing content")
            data, name = await content.read(), content.filename or "file"
            declared = content.content_type or "application/octet-stream"
        self._desk.accounts.count("replicate", "uploads")
        file = await self._desk.keep(data, declared, name)
        return JSONResponse(_described(request, file), 201)

    async def get(self, request: Request) -> Response:
        """What is known of a file."""
        refused = self._desk.free_call("replicate", "upload", key(request), FORMS)
        if refused is not None:
            return refused
        file = self._desk.jobs.file(request.path_params["file"])
        if file is None:
            return problem(404, "Not found", "The requested file could not be found.")
        return JSONResponse(_described(request, file))

    async def download(self, request: Request) -> Response:
        """An output, to anyone."""
        return await deliver(self._desk, request, "replicate", FORMS)


def _described(request: Request, file: StoredFile) -> Object:
    return {
        "id": file.id,
        "name": file.name,
        "content_type": file.content_type,
        "size": file.size,
        "etag": file.sha256[:32],
        "checksums": {"sha256": file.sha256},
        "metadata": {},
        "created_at": iso(file.created_at),
        "expires_at": iso(file.created_at + _FILE_LASTS_S),
        "urls": {"get": f"{base_url(request)}/replicate/v1/files/{file.id}"},
    }


def problem(status: int, title: str, detail: str, **more: Json) -> JSONResponse:
    """An error as Replicate says it."""
    body: Object = {"title": title, "detail": detail, "status": status, **more}
    return JSONResponse(body, status, media_type="application/problem+json")


def key(request: Request) -> str | None:
    """The key of a call to Replicate."""
    scheme, _, value = request.headers.get("authorization", "").partition(" ")
    return value if scheme in ("Bearer", "Token") else None
