"""fal's storage: uploads by both of the client's ways, and the network that delivers files."""

from __future__ import annotations

import time
import uuid
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from adapters.standin.desk import Desk
from adapters.standin.fal_answers import FORMS, key
from adapters.standin.files import deliver
from adapters.standin.wire import a_text, base_url, iso, read_object

_TOKEN_LASTS_S = 3600


def routes(desk: Desk) -> list[Route]:
    """The paths of fal's storage and files."""
    files = _Files(desk)
    return [
        Route("/fal/rest/storage/auth/token", files.token, methods=["POST"]),
        Route("/fal/rest/storage/upload/initiate", files.initiate, methods=["POST"]),
        Route("/fal/cdn/files/upload", files.upload, methods=["POST"]),
        Route("/fal/cdn/put/{file}", files.put, methods=["PUT"]),
        Route("/fal/cdn/files/{file}/{name}", files.download, methods=["GET", "HEAD"]),
        Route("/fal/cdn/files/{file}", files.download, methods=["GET", "HEAD"]),
    ]


class _Files:
    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def token(self, request: Request) -> Response:
        """A token for uploads."""
        refused = self._desk.free_call("fal", "upload", key(request), FORMS)
        if refused is not None:
            return refused
        return JSONResponse(
            {
                "token": uuid.uuid4().hex,
                "token_type": "Bearer",
                "base_url": f"{base_url(request)}/fal/cdn",
                "expires_at": iso(time.time() + _TOKEN_LASTS_S),
            }
        )

    async def upload(self, request: Request) -> Response:
        """The bytes of a file, with a token."""
        if not request.headers.get("authorization", "").startswith("Bearer "):
            return JSONResponse({"detail": "A token is required"}, 401)
        self._desk.accounts.count("fal", "uploads")
        declared = request.headers.get("content-type", "application/octet-stream")
        name = request.headers.get("x-fal-file-name", "file")
        file = await self._desk.keep(await request.body(), declared, name)
        return JSONResponse({"access_url": f"{base_url(request)}/fal/cdn/files/{file.id}/{quote(name)}"})

    async def initiate(self, request: Request) -> Response:
        """Where to put a file, and where it will be."""
        refused = self._desk.free_call("fal", "upload", key(request), FORMS)
        if refused is not None:
            return refused
        wanted = await read_object(request) or {}
        name = a_text(wanted.get("file_name")) or "file"
        file = self._desk.jobs.add_file(b"", "", a_text(wanted.get("content_type")), name)
        base = f"{base_url(request)}/fal/cdn"
        return JSONResponse(
            {"upload_url": f"{base}/put/{file.id}", "file_url": f"{base}/files/{file.id}/{quote(name)}"}
        )

    async def put(self, request: Request) -> Response:
        """The bytes of a file that was announced."""
        data = await request.body()
        sha256 = await self._desk.in_thread(lambda: self._desk.blobs.put(data))
        if not self._desk.jobs.fill_file(request.path_params["file"], sha256, len(data)):
            return JSONResponse({"detail": "Not found"}, 404)
        self._desk.accounts.count("fal", "uploads")
        return Response()

    async def download(self, request: Request) -> Response:
        """A file, to anyone."""
        return await deliver(self._desk, request, "fal", FORMS)
