"""What arrives on the wire, read without trusting it."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import cast
from urllib.parse import unquote_to_bytes

from pydantic import JsonValue
from starlette.requests import Request

Json = JsonValue
Object = dict[str, JsonValue]

_MAGIC = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
)
EXTENSIONS = {"image/png": "png", "image/jpeg": "jpeg", "image/webp": "webp", "image/gif": "gif"}


def an_object(value: object) -> Object:
    """The value when it is a JSON object, else an empty one."""
    return value if isinstance(value, dict) else {}  # pyright: ignore[reportUnknownVariableType]


def a_list(value: object) -> list[JsonValue]:
    """The value when it is a JSON array, else an empty one."""
    return value if isinstance(value, list) else []  # pyright: ignore[reportUnknownVariableType]


def a_text(value: object) -> str:
    """The value when it is a string, else an empty one."""
    return value if isinstance(value, str) else ""


def a_whole(value: object) -> int | None:
    """The value when it is a whole number, also one written as text."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    return int(value) if isinstance(value, str) and value.lstrip("-").isdigit() else None


def either(value: Mapping[str, JsonValue], *names: str) -> JsonValue:
    """The first of several spellings of a field that is there, else None."""
    return next((value[name] for name in names if name in value), None)


async def read_object(request: Request) -> Object | None:
    """The body as a JSON object, or None when it is not one."""
    try:
        body: object = json.loads(await request.body())
    except ValueError:
        return None
    return an_object(cast(object, body)) if isinstance(body, dict) else None


def from_base64(text: str) -> bytes | None:
    """Decoded bytes of either alphabet (Google's SDK sends that of URLs), or None."""
    plain = text.replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except (ValueError, binascii.Error):
        return None


def to_base64(data: bytes) -> str:
    """Bytes as base64 text."""
    return base64.b64encode(data).decode()


def from_data_url(url: str) -> tuple[bytes, str] | None:
    """Bytes and declared type of a `data:` URL, or None."""
    head, comma, rest = url.partition(",")
    if not comma or not head.startswith("data:"):
        return None
    declared = head.removeprefix("data:")
    if declared.endswith(";base64"):
        data = from_base64(rest)
        return None if data is None else (data, declared.removesuffix(";base64"))
    return unquote_to_bytes(rest), declared


def to_data_url(data: bytes, content_type: str) -> str:
    """A base64 `data:` URL."""
    return f"data:{content_type};base64,{to_base64(data)}"


def sniff(data: bytes) -> str:
    """The content type that the bytes themselves show."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((name for magic, name in _MAGIC if data.startswith(magic)), "application/octet-stream")


def base_url(request: Request) -> str:
    """Where the client reached this server, without a slash at the end."""
    host = request.headers.get("host") or "127.0.0.1"
    return f"{request.url.scheme}://{host}"


def iso(moment: float) -> str:
    """A time as ISO 8601 in UTC."""
    return datetime.fromtimestamp(moment, UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def from_iso(text: str | None) -> float | None:
    """An ISO 8601 time as seconds, or None; without a zone it is UTC."""
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text.replace(" ", "+"))
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def to_cursor(moment: float, name: str) -> str:
    """Where the next page begins: behind this moment and name."""
    return f"{moment!r}_{name}"


def from_cursor(text: str | None) -> tuple[float, str] | None:
    """The moment and name of a cursor, or None."""
    moment, _, name = (text or "").partition("_")
    try:
        return float(moment), name
    except ValueError:
        return None
