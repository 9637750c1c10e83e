"""Pictures by address: those that are sent to a provider, and those that are fetched from it."""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from adapters.standin import images
from adapters.standin.desk import Desk
from adapters.standin.faults import Provider
from adapters.standin.forms import Forms
from adapters.standin.lines import ShortBody
from adapters.standin.wire import Object, a_list, a_text, from_data_url

_ADDRESSES = ("data:", "http:", "https:")


async def find_picture(desk: Desk, address: str) -> bytes | None:
    """The bytes of a `data:` URL or of a file that is kept here; None for what is elsewhere."""
    inline = from_data_url(address)
    if inline is not None:
        return inline[0]
    for part in reversed(urlsplit(address).path.split("/")):
        file = desk.jobs.file(part)
        if file is not None and file.sha256:
            return await desk.in_thread(lambda name=file.sha256: desk.blobs.get(name))
    return None


async def read_arguments(desk: Desk, arguments: Object) -> tuple[tuple[bytes, ...], Object]:
    """The pictures among arguments, in order, and what else is neither prompt nor seed."""
    pictures: list[bytes] = []
    settings: Object = {}
    for name, value in arguments.items():
        texts = [a_text(item) for item in (a_list(value) or [value])]
        if "image" in name and all(text.startswith(_ADDRESSES) for text in texts):
            found = [await find_picture(desk, text) for text in texts]
            pictures += [picture for picture in found if picture is not None]
        elif name not in ("prompt", "seed"):
            settings[name] = value
    return tuple(pictures), settings


async def deliver(desk: Desk, request: Request, provider: Provider, forms: Forms) -> Response:
    """One download, to anyone; the first of a broken file is broken."""
    file = desk.jobs.file(request.path_params["file"])
    if file is None or not file.sha256:
        return JSONResponse({"detail": "Not found"}, 404)
    broken = file.fault if file.downloads == 0 else None
    lost = desk.aside(provider, "download", forms)
    if isinstance(lost, Response):
        return lost
    data = await desk.in_thread(lambda: desk.blobs.get(file.sha256))
    if request.method == "HEAD":
        return Response(data, media_type=file.content_type)
    desk.jobs.note_download(file)
    desk.accounts.count(provider, "downloads")
    if "truncated" in (broken, lost):
        data = images.cut(data)
    if lost == "empty":
        data = b""
    kind = ShortBody if "short_body" in (broken, lost) else Response
    return kind(data, media_type=file.content_type)
