"""What the bytes of an image are, whatever anybody declares: providers refuse a wrong label."""

from __future__ import annotations

import base64

from domain.errors import PhotoError

_SIGNATURES = (
    (0, b"\x89PNG\r\n\x1a\n", "image/png"),
    (0, b"\xff\xd8\xff", "image/jpeg"),
    (0, b"GIF8", "image/gif"),
    (8, b"WEBP", "image/webp"),
    (4, b"ftypavi", "image/avif"),
    (0, b"II*\x00", "image/tiff"),
    (0, b"MM\x00*", "image/tiff"),
    (0, b"BM", "image/bmp"),
)


def sniff(data: bytes) -> str:
    """The MIME type by the first bytes; raises PhotoError for what is no image."""
    for offset, signature, mime in _SIGNATURES:
        if data[offset : offset + len(signature)] == signature:
            return mime
    raise PhotoError(
        "the input is no image that a provider takes; prepare the dataset again", reason="not_an_image"
    )


def data_uri(data: bytes) -> str:
    """The bytes, unchanged, as a URL that carries them."""
    return f"data:{sniff(data)};base64,{base64.b64encode(data).decode('ascii')}"


def from_data_uri(uri: str) -> bytes | None:
    """The bytes that a `data:` URL carries, or None when it is none or is damaged."""
    head, comma, body = uri.partition(",")
    if not comma or not head.startswith("data:") or not head.endswith(";base64"):
        return None
    try:
        return base64.b64decode(body, validate=True)
    except ValueError:
        return None
