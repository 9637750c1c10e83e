"""The queue of fal over the official SDK's client: one submit is one job, and each question is asked once.

The SDK itself sends a submit up to ten times, each making (and charging) a job, and resends polls for a
minute; so only its authentication, its HTTP client, its naming of endpoints and its errors are used.

API: https://fal.ai/docs/model-apis/model-endpoints/queue (fal-client 1.0.3, read 2026-11)
"""

from __future__ import annotations

import logging
import time
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, cast

import httpx
from pydantic import Field, JsonValue
from pydantic_settings import BaseSettings

from adapters.providers.calls import Call, Declined, Imageless, retry_after
from adapters.providers.downloads import fetch, fetch_image
from adapters.providers.jobs import moment, whole_second
from adapters.providers.settings import REHEARSAL, Key, options, read
from adapters.providers.shared import Shared
from domain.errors import ProviderError, TransientError

KEY_VARIABLE = "FAL_KEY"
ONE_JOB = {"X-Fal-No-Retry": "1", "x-fal-disable-fallbacks": "1"}
"""No second run of a job by the queue, and no other endpoint in its place."""
_NIL = "00000000-0000-0000-0000-000000000000"
_PAGES = 50
_RUNNING = frozenset({"IN_QUEUE", "IN_PROGRESS"})
_PASSING = frozenset(
    {
        "request_timeout",
        "startup_timeout",
        "internal_error",
        "internal_server_error",
        "generation_timeout",
        "downstream_service_error",
        "downstream_service_unavailable",
        "client_disconnected",
        "client_cancelled",
        "file_download_error",
        "image_load_error",
    }
)
"""Error types that say nothing about the request."""
Stage = Literal["submit", "poll", "result", "look up"]


class FalSettings(BaseSettings):
    """`FAL_KEY`; `FACEDRIFT_FAL_` and `QUEUE_URL`, `PLATFORM_URL`, `TIMEOUT_S`, `DEADLINE_S`, `POLL_S`."""

    model_config = options(env_prefix="FACEDRIFT_FAL_")

    key: Key = Field(default=..., validation_alias=KEY_VARIABLE)
    queue_url: str = "https://queue.fal.run"
    platform_url: str = "https://api.fal.ai"
    timeout_s: float = Field(default=60.0, gt=0)
    """Of each phase of one request."""
    deadline_s: float = Field(default=900.0, gt=0)
    """How long a job is waited for; its ticket stays good afterwards."""
    poll_s: float = Field(default=1.5, gt=0)
    """Between two looks at a job."""


@dataclass(frozen=True)
class FalResult:
    """What a finished job gave."""

    output: dict[str, JsonValue]
    billable_units: str | None


_CLIENTS: Shared[FalSettings, httpx.Client] = Shared()


def settings_for(standin_url: str | None = None) -> FalSettings:
    """The settings from the environment, or those of a rehearsal, which needs no key."""
    given: dict[str, Any] = {}
    if standin_url is not None:
        given = {
            "key": REHEARSAL,
            "queue_url": f"{standin_url}/fal/queue",
            "platform_url": f"{standin_url}/fal/platform",
        }
    return read(FalSettings, "fal", KEY_VARIABLE, **given)


def api(standin_url: str | None = None) -> FalApi:
    """The queue of fal, or the stand-in; raises DefinitionError when there is no key."""
    return FalApi(settings_for(standin_url))


class FalApi:
    """Asks fal; raises only our errors, `Declined` and `Imageless`."""

    def __init__(self, settings: FalSettings) -> None:
        self._settings = settings

    def submit(self, endpoint: str, arguments: Mapping[str, JsonValue]) -> str:
        """Make one job; returns its request id."""
        call = self._call(endpoint, paid=True)
        answer = self._ask(
            call,
            "submit",
            "POST",
            f"{self._settings.queue_url}/{endpoint}",
            json=dict(arguments),
            headers=ONE_JOB,
        )
        request_id = _object(answer, call).get("request_id")
        if not isinstance(request_id, str) or not request_id:
            raise call.unusable("the answer holds no request id")
        return request_id

    def result(self, endpoint: str, request_id: str) -> FalResult:
        """Wait for a job and return what it gave; an error with `job_over` ends its ticket."""
        call = self._call(endpoint)
        address = self._address(endpoint, request_id)
        deadline = time.monotonic() + self._settings.deadline_s
        while True:
            status = _object(self._ask(call, "poll", "GET", f"{address}/status"), call).get("status")
            if status not in _RUNNING:
                break
            if time.monotonic() + self._settings.poll_s > deadline:
                raise _still_running(call, request_id, self._settings.deadline_s)
            time.sleep(self._settings.poll_s)
        answer = self._ask(call, "result", "GET", address)
        return FalResult(_object(answer, call), answer.headers.get("x-fal-billable-units"))

    def image(self, endpoint: str, url: str) -> bytes:
        """The whole image at an address that a result names."""
        return fetch_image(url, self._call(endpoint), self._settings.timeout_s)

    def picture(self, endpoint: str, url: str) -> bytes:
        """What an address in the history holds, whatever it is."""
        return fetch(url, self._call(endpoint), self._settings.timeout_s)

    def history(self, endpoint: str, since: datetime) -> Iterator[tuple[str, object]]:
        """Request id and arguments of each job since then; none when the key may not see the history."""
        call = self._call(endpoint)
        start = whole_second(since)
        query = {"endpoint_id": endpoint, "start": start.isoformat(), "expand": "payloads", "limit": "100"}
        for _ in range(_PAGES):
            url = f"{self._settings.platform_url}/v1/models/requests/by-endpoint"
            answer = self._ask(call, "look up", "GET", url, params=query, allowed=(403,))
            if answer.status_code == 403:
                return
            page = _object(answer, call)
            for item in cast(list[dict[str, Any]], page.get("items") or []):
                sent_at = moment(item.get("sent_at"))
                if sent_at is not None and sent_at >= start and item.get("endpoint_id", endpoint) == endpoint:
                    yield str(item["request_id"]), item.get("json_input")
            cursor = page.get("next_cursor")
            if not page.get("has_more") or not isinstance(cursor, str):
                return
            query["cursor"] = cursor

    def look_up(self, endpoint: str) -> None:
        """Ask for a job that cannot exist, which shows whether the key is good, and for the endpoint."""
        call = self._call(endpoint)
        self._ask(call, "look up", "GET", f"{self._address(endpoint, _NIL)}/status", allowed=(404,))
        models = f"{self._settings.platform_url}/v1/models"
        self._ask(call, "look up", "GET", models, params={"endpoint_id": endpoint}, allowed=(403,))

    def _call(self, endpoint: str, paid: bool = False) -> Call:
        return Call("fal", endpoint, KEY_VARIABLE, self._settings.key, paid)

    def _address(self, endpoint: str, request_id: str) -> str:
        """Jobs are addressed without the endpoint's own path."""
        from fal_client.client import AppId

        app = AppId.from_endpoint_id(endpoint)
        parts = [app.namespace, app.owner, app.alias, "requests", request_id]
        return "/".join([self._settings.queue_url, *(part for part in parts if part)])

    def _ask(
        self,
        call: Call,
        stage: Stage,
        method: str,
        url: str,
        *,
        allowed: tuple[int, ...] = (),
        **options: Any,
    ) -> httpx.Response:
        client = _CLIENTS.get(self._settings, lambda: _connect(self._settings))
        with _translated(call, stage):
            answer = client.request(method, url, follow_redirects=False, **options)
            if answer.status_code not in allowed:
                _raise_for_status(answer)
            return answer


def _connect(settings: FalSettings) -> httpx.Client:
    import fal_client

    logging.getLogger("fal_client").setLevel(logging.ERROR)  # we say ourselves what was not reached
    sdk = fal_client.SyncClient(key=settings.key.get_secret_value(), default_timeout=settings.timeout_s)
    return sdk._client  # pyright: ignore[reportPrivateUsage] - the SDK resends whatever goes its public way


def _raise_for_status(answer: httpx.Response) -> None:
    from fal_client.client import _raise_for_status  # pyright: ignore[reportPrivateUsage]

    _raise_for_status(answer)


@contextmanager
def _translated(call: Call, stage: Stage) -> Generator[None, None, None]:
    from fal_client.client import FalClientHTTPError

    try:
        yield
    except FalClientHTTPError as error:
        raise _translate(error, call, stage) from call.cause(error)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise call.cut_off(error) from call.cause(error)


def _translate(error: Any, call: Call, stage: Stage) -> ProviderError | Declined | Imageless:
    """By status, error type and the types of a model's own errors."""
    status, headers = cast(int, error.status_code), cast(dict[str, str], error.response_headers)
    types = [error.error_type] if error.error_type else _model_types(error.message)
    code = types[0] if types else status
    said = _said(error.message)
    if "content_policy_violation" in types:
        return Declined(f"content_policy_violation: {call.quote(said)}", code="content_policy_violation")
    if "no_media_generated" in types:
        return Imageless(f"no_media_generated: {call.quote(said)}")
    if status in (401, 402, 403):
        return _turned_away(status, code, said, call)
    if status == 404:
        return call.gone(said, code) if stage in ("poll", "result") else call.unknown_model(code)
    # Without a type it may be the gateway that is busy, and the job is still there to be fetched.
    over = stage == "result" and bool(types)
    if _is_passing(status, types, headers):
        return call.transient(said, code, retry_after(headers), job_over=over)
    return call.fatal(said, code)


def _turned_away(status: int, code: str | int, said: str, call: Call) -> ProviderError:
    no_money = status == 402 or "exhausted balance" in said.casefold() or "locked" in said.casefold()
    return call.quota(said, code) if no_money and status != 401 else call.bad_key(code)


def _is_passing(status: int, types: list[str], headers: Mapping[str, str]) -> bool:
    return (
        status in (408, 429)
        or status >= 500
        or headers.get("x-fal-retryable", "").casefold() == "true"
        or any(name in _PASSING or name.startswith("runner_") for name in types)
    )


def _model_types(detail: object) -> list[str]:
    entries = cast(list[object], detail) if isinstance(detail, list) else []
    return [str(cast(dict[str, Any], entry).get("type")) for entry in entries if isinstance(entry, dict)]


def _said(detail: object) -> str:
    """The message of an error without the input that fal quotes beside it."""
    if not isinstance(detail, list):
        return str(detail)
    entries = [cast(dict[str, Any], entry) for entry in cast(list[object], detail) if isinstance(entry, dict)]
    return "; ".join(f"{entry.get('loc', '')} {entry.get('msg', '')}".strip() for entry in entries)


def _object(answer: httpx.Response, call: Call) -> dict[str, JsonValue]:
    try:
        body: object = answer.json()
    except ValueError as error:
        raise call.unusable("the answer is no JSON", type(error).__name__) from error
    if not isinstance(body, dict):
        raise call.unusable("the answer is no JSON object")
    return cast(dict[str, JsonValue], body)


def _still_running(call: Call, request_id: str, deadline_s: float) -> TransientError:
    return call.transient(
        f"job {request_id} has not ended within {deadline_s:g} s and is collected later", "deadline"
    )
