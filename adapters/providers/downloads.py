"""Fetching the image that a finished job points to: whole, limited, and without our key."""

from __future__ import annotations

import time

import httpx

from adapters.imaging.decode import inspect_image
from adapters.providers.calls import Call, retry_after
from adapters.providers.mime import from_data_uri
from adapters.providers.shared import Shared
from domain.errors import PhotoError, ProviderError

MAX_BYTES = 100_000_000
_CLIENTS: Shared[None, httpx.Client] = Shared()


def fetch_image(url: str, call: Call, timeout_s: float) -> bytes:
    """The bytes at an address, unchanged, once all of them have been decoded.

    Raises:
        TransientError: it was cut short, is no whole image, or could not be reached: download again.
        AmbiguousError: it is no longer there, or too large (`job_over`).
    """
    data = fetch(url, call, timeout_s)
    try:
        inspect_image(data)
    except PhotoError as error:
        raise call.transient(f"the downloaded image is not whole: {error}", error.reason) from error
    return data


def fetch(url: str, call: Call, timeout_s: float) -> bytes:
    """The bytes at an address; raises as `fetch_image` does."""
    carried = from_data_uri(url)
    if carried is not None:
        return carried
    client = _CLIENTS.get(None, lambda: httpx.Client(follow_redirects=True))
    deadline = time.monotonic() + timeout_s
    try:
        with client.stream("GET", url, timeout=timeout_s) as response:
            if response.status_code >= 400:
                raise _not_there(response, call)
            return _body(response, call, deadline)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise call.transient("the image could not be downloaded", type(error).__name__) from error


def _body(response: httpx.Response, call: Call, deadline: float) -> bytes:
    data = bytearray()
    for chunk in response.iter_bytes():
        data += chunk
        if len(data) > MAX_BYTES:
            raise call.gone(f"the image is larger than {MAX_BYTES} bytes", "too_large")
        if time.monotonic() > deadline:
            raise call.transient("the download of the image takes too long", "timeout")
    declared = response.headers.get("content-length")
    if declared is not None and declared.isdigit() and response.num_bytes_downloaded != int(declared):
        raise call.transient("the download of the image was cut short", "short_body")
    return bytes(data)


def _not_there(response: httpx.Response, call: Call) -> ProviderError:
    status = response.status_code
    if status in (404, 410):
        return call.gone("the image at its address has expired", status)
    return call.transient("the image could not be downloaded", status, retry_after(response.headers))
