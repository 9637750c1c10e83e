"""Images that come inside an answer: paid for by then, so a broken one cannot be fetched again."""

from __future__ import annotations

import base64

from adapters.imaging.decode import inspect_image
from adapters.providers.calls import Call
from domain.errors import PhotoError


def whole(data: bytes, call: Call) -> bytes:
    """The bytes, unchanged, once all of them have been decoded; raises AmbiguousError for a broken image."""
    try:
        inspect_image(data)
    except PhotoError as error:
        raise call.unusable(f"the image in the answer is not whole: {error}", error.reason) from error
    return data


def whole_base64(text: str, call: Call) -> bytes:
    """As `whole`, of base64 text or a `data:` URL of it."""
    body = text.partition(",")[2] if text.startswith("data:") else text
    try:
        data = base64.b64decode(body, validate=True)
    except ValueError as error:
        raise call.unusable("the image in the answer is no base64", "bad_base64") from error
    return whole(data, call)
