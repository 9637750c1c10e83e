"""Replicate's predictions over the official SDK's client: each question is asked once.

The SDK's own `Prediction` knows five of the service's six states, and its polls are resent up to ten times
without a limit on the wait; so answers are read as JSON, and a transport of ours turns error answers into
our errors before the SDK sees them (its errors lose the headers).

API: https://replicate.com/docs/reference/http (replicate 1.0.7, read 2026-11)
"""

from __future__ import annotations

import re
import time
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, cast

import httpx
from pydantic import Field, JsonValue
from pydantic_settings import BaseSettings

from adapters.providers.calls import Call, Declined, retry_after
from adapters.providers.downloads import fetch, fetch_image
from adapters.providers.jobs import moment, whole_second
from adapters.providers.settings import REHEARSAL, Key, options, read
from adapters.providers.shared import Shared
from domain.errors import ProviderError

if TYPE_CHECKING:
    from replicate.client import Client

KEY_VARIABLE = "REPLICATE_API_TOKEN"
_PAGES = 50
_RUNNING = frozenset({"starting", "processing"})
_SENSITIVE = re.compile(r"flagged as sensitive|\bE005\b|\bNSFW\b|safety", re.IGNORECASE)
_CODE = re.compile(r"\bE\d{3,4}\b")


class ReplicateSettings(BaseSettings):
    """`REPLICATE_API_TOKEN`; `FACEDRIFT_REPLICATE_` and `BASE_URL`, `TIMEOUT_S`, `DEADLINE_S`, `POLL_S`."""

    model_config = options(env_prefix="FACEDRIFT_REPLICATE_")

    key: Key = Field(default=..., validation_alias=KEY_VARIABLE)
    base_url: str = "https://api.replicate.com"
    timeout_s: float = Field(default=60.0, gt=0)
    """Of each phase of one request."""
    deadline_s: float = Field(default=900.0, gt=0)
    """How long a prediction is waited for; its ticket stays good afterwards, for an hour."""
    poll_s: float = Field(default=1.5, gt=0)
    """Between two looks at a prediction."""


@dataclass(frozen=True)
class Prediction:
    """One that succeeded."""

    output: JsonValue
    version: str | None
    metrics: dict[str, JsonValue]


_CLIENTS: Shared[ReplicateSettings, Client] = Shared()


def settings_for(standin_url: str | None = None) -> ReplicateSettings:
    """The settings from the environment, or those of a rehearsal, which needs no key."""
    given = {} if standin_url is None else {"key": REHEARSAL, "base_url": f"{standin_url}/replicate"}
    return read(ReplicateSettings, "replicate", KEY_VARIABLE, **given)


def api(standin_url: str | None = None) -> ReplicateApi:
    """Replicate, or the stand-in; raises DefinitionError when there is no key."""
    return ReplicateApi(settings_for(standin_url))


class ReplicateApi:
    """Asks Replicate; raises only our errors, and `Declined`."""

    def __init__(self, settings: ReplicateSettings) -> None:
        self._settings = settings

    def submit(self, model: str, arguments: Mapping[str, JsonValue]) -> str:
        """Make one prediction with a model (`owner/name`, or `owner/name:version`); returns its id."""
        call = self._call(model, paid=True)
        name, _, version = model.partition(":")
        body: dict[str, Any] = {"input": dict(arguments)}
        path = f"/v1/models/{name}/predictions"
        if version:
            path, body["version"] = "/v1/predictions", version
        answer = self._ask(call, "POST", path, json=body)
        prediction_id = answer.get("id")
        if not isinstance(prediction_id, str) or not prediction_id:
            raise call.unusable("the answer holds no id")
        return prediction_id

    def result(self, model: str, prediction_id: str) -> Prediction:
        """Wait for a prediction and return its output; an error with `job_over` ends its ticket."""
        call = self._call(model)
        deadline = time.monotonic() + self._settings.deadline_s
        while True:
            answer = self._ask(call, "GET", f"/v1/predictions/{prediction_id}", job=True)
            if answer.get("status") not in _RUNNING:
                break
            if time.monotonic() + self._settings.poll_s > deadline:
                said = f"prediction {prediction_id} has not ended within {self._settings.deadline_s:g} s"
                raise call.transient(f"{said} and is collected later", "deadline")
            time.sleep(self._settings.poll_s)
        return _ended(answer, call)

    def image(self, model: str, url: str) -> bytes:
        """The whole image at an address that an output names."""
        return fetch_image(url, self._call(model), self._settings.timeout_s)

    def picture(self, model: str, url: str) -> bytes:
        """What an address in the history holds, whatever it is."""
        return fetch(url, self._call(model), self._settings.timeout_s)

    def history(self, model: str, since: datetime) -> Iterator[tuple[str, object]]:
        """Id and input of each prediction of a model since then, newest first."""
        call = self._call(model)
        start = whole_second(since)
        path: object = "/v1/predictions"
        for _ in range(_PAGES):
            if not isinstance(path, str):
                return
            page = self._ask(call, "GET", path, allowed=(403,))
            for item in cast(list[dict[str, Any]], page.get("results") or []):
                created_at = moment(item.get("created_at"))
                if created_at is not None and created_at < start:
                    return
                if model in (item.get("model"), f"{item.get('model')}:{item.get('version')}"):
                    yield str(item["id"]), item.get("input")
            path = page.get("next")

    def look_up(self, model: str) -> None:
        """Ask, at no cost, whether the key is good and the model is there."""
        self._ask(self._call(model), "GET", f"/v1/models/{model.partition(':')[0]}")

    def _call(self, model: str, paid: bool = False) -> Call:
        return Call("replicate", model, KEY_VARIABLE, self._settings.key, paid)

    def _ask(
        self,
        call: Call,
        method: str,
        path: str,
        *,
        job: bool = False,
        allowed: tuple[int, ...] = (),
        **options: Any,
    ) -> dict[str, Any]:
        """One request; where `allowed`, an error answer is given back like any other."""
        client: Any = _CLIENTS.get(self._settings, lambda: _connect(self._settings))
        extensions = {"facedrift": _Asked(call, job, allowed)}
        with _translated(call):
            answer = client._request(  # private: see the module's docstring
                method, path, timeout=self._settings.timeout_s, extensions=extensions, **options
            )
            body: object = answer.json()
        if not isinstance(body, dict):
            raise call.unusable("the answer is no JSON object")
        return cast(dict[str, Any], body)


@dataclass(frozen=True)
class _Asked:
    """What the transport has to know of a request."""

    call: Call
    job: bool
    allowed: tuple[int, ...]


class _Once(httpx.BaseTransport):
    """Ends a request at its first answer, where the SDK would ask again or drop the headers."""

    def __init__(self) -> None:
        self._client = httpx.Client()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send; an error answer becomes our error here."""
        asked = cast(_Asked, request.extensions["facedrift"])
        answer = self._client.send(request, stream=True)
        if answer.status_code < 400:
            return answer
        answer.read()
        if answer.status_code in asked.allowed:
            return httpx.Response(200, json={})
        raise _translate(answer, asked)

    def close(self) -> None:
        self._client.close()


def _connect(settings: ReplicateSettings) -> Client:
    from replicate.client import Client

    return Client(api_token=settings.key.get_secret_value(), base_url=settings.base_url, transport=_Once())


@contextmanager
def _translated(call: Call) -> Generator[None, None, None]:
    try:
        yield
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise call.cut_off(error) from call.cause(error)
    except ValueError as error:
        raise call.unusable("the answer is no JSON", type(error).__name__) from error


def _translate(answer: httpx.Response, asked: _Asked) -> ProviderError:
    call, status = asked.call, answer.status_code
    try:
        parsed: object = answer.json()
    except ValueError:
        parsed = None
    body = cast(dict[str, Any], parsed) if isinstance(parsed, dict) else {}
    said = body.get("detail") or body.get("title") or ""
    if status == 402:
        return call.quota(said, status)
    if status in (408, 409, 429) or status >= 500:
        wait = retry_after(answer.headers)
        told = body.get("retry_after")
        if wait is None and isinstance(told, int | float):
            wait = float(told)
        return call.transient(said, status, wait)
    if status in (401, 403):
        return call.bad_key(status)
    if status == 404:
        return call.gone(said, status) if asked.job else call.unknown_model(status)
    return call.fatal(said, status)


def _served(answer: dict[str, Any]) -> str | None:
    """The version; of the official models, which hide theirs, the name."""
    named = [answer.get(name) for name in ("version", "model")]
    return next((name for name in named if isinstance(name, str) and name not in ("", "hidden")), None)


def _ended(answer: dict[str, Any], call: Call) -> Prediction:
    status, error = str(answer.get("status")), str(answer.get("error") or "")
    version = _served(answer)
    found = _CODE.search(error)
    code = found.group() if found else status
    if status == "succeeded":
        if answer.get("data_removed"):
            raise call.gone("its output has been removed", "data_removed")
        metrics = cast(dict[str, JsonValue], answer.get("metrics") or {})
        return Prediction(answer.get("output"), version, metrics)
    if status == "failed" and _SENSITIVE.search(error):
        raise Declined(f"{code}: {call.quote(error)}", code=code, served_version=version)
    raise call.transient(f"{status}: {error}" if error else status, code, job_over=True)
