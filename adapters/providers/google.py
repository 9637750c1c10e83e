"""Gemini by the official SDK: each call is sent once, and no call waits for ever.

API: https://ai.google.dev/api/generate-content (google-genai 3.6.1, read 2026-11)
"""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

from pydantic import AliasChoices, Field, JsonValue
from pydantic_settings import BaseSettings

from adapters.providers.calls import Call, Declined, retry_after
from adapters.providers.settings import REHEARSAL, Key, options, read
from adapters.providers.shared import Shared
from domain.errors import ProviderError

if TYPE_CHECKING:
    from google import genai
    from google.genai import errors, types

KEY_VARIABLE = "GEMINI_API_KEY"
API_VERSION = "v1beta"
"""The SDK's default moves between releases, and `v1` may not know every field that is sent."""
_LEAST_SERVER_TIMEOUT_S = 10
"""A shorter one, told to the service, makes it fail instead of being quick."""

REFUSALS = frozenset(
    {
        "IMAGE_SAFETY",
        "IMAGE_PROHIBITED_CONTENT",
        "IMAGE_RECITATION",
        "PROHIBITED_CONTENT",
        "SAFETY",
        "BLOCKLIST",
        "SPII",
        "RECITATION",
        "MODEL_ARMOR",
    }
)
"""Finish reasons that are a refusal by policy."""


class GoogleSettings(BaseSettings):
    """`GEMINI_API_KEY` (or `GOOGLE_API_KEY`), `FACEDRIFT_GOOGLE_BASE_URL`, `FACEDRIFT_GOOGLE_TIMEOUT_S`."""

    model_config = options(env_prefix="FACEDRIFT_GOOGLE_")

    key: Key = Field(default=..., validation_alias=AliasChoices(KEY_VARIABLE, "GOOGLE_API_KEY"))
    base_url: str = "https://generativelanguage.googleapis.com"
    timeout_s: float = Field(default=180.0, gt=0)
    """Of each phase of a call: connecting, sending, waiting for the answer."""


_CLIENTS: Shared[GoogleSettings, genai.Client] = Shared()


def settings_for(standin_url: str | None = None) -> GoogleSettings:
    """The settings from the environment, or those of a rehearsal, which needs no key."""
    given = {} if standin_url is None else {"key": REHEARSAL, "base_url": f"{standin_url}/google"}
    return read(GoogleSettings, "google", KEY_VARIABLE, **given)


def api(standin_url: str | None = None) -> GoogleApi:
    """Gemini, or the stand-in; raises DefinitionError when there is no key."""
    return GoogleApi(settings_for(standin_url))


class GoogleApi:
    """Asks a Gemini model once; raises only our errors, and `Declined`."""

    def __init__(self, settings: GoogleSettings) -> None:
        self._settings = settings

    def generate(
        self, model: str, contents: Sequence[types.Part], config: types.GenerateContentConfig
    ) -> types.GenerateContentResponse:
        """One paid call.

        Raises:
            Declined: the prompt was blocked, or the answer was withheld by policy.
            ProviderError: as the table of errors says.
        """
        call = self._call(model, paid=True)
        once = _once(config)
        with self._translated(call):
            answer = self._client.models.generate_content(
                model=model, contents=cast(Any, list(contents)), config=once
            )
        _raise_if_withheld(answer, call)
        return answer

    def look_up(self, model: str) -> None:
        """Ask, at no cost, whether the key is good and the model is there."""
        with self._translated(self._call(model, paid=False)):
            self._client.models.get(model=model)

    def paid_call(self, model: str) -> Call:
        """What `generate` asked, for who reads its answer."""
        return self._call(model, paid=True)

    @property
    def _client(self) -> genai.Client:
        return _CLIENTS.get(self._settings, lambda: _connect(self._settings))

    def _call(self, model: str, paid: bool) -> Call:
        return Call("google", model, KEY_VARIABLE, self._settings.key, paid)

    @contextmanager
    def _translated(self, call: Call) -> Generator[None, None, None]:
        import httpx
        import httpx2
        from google.genai import errors

        try:
            yield
        except errors.APIError as error:
            raise _translate(error, call) from call.cause(error)
        except (httpx.HTTPError, httpx2.HTTPError, httpx.InvalidURL, httpx2.InvalidURL) as error:
            raise call.cut_off(error) from call.cause(error)
        except ValueError as error:  # no JSON, or not of the shape that the SDK expects
            raise call.unusable(
                "the answer is no JSON of the expected shape", type(error).__name__
            ) from call.cause(error)


def safety_settings(threshold: str) -> list[types.SafetySetting]:
    """The configurable filters, all at one threshold such as `OFF`."""
    from google.genai import types

    return [
        types.SafetySetting(category=category, threshold=types.HarmBlockThreshold(threshold))
        for category in (
            types.HarmCategory.HARM_CATEGORY_HARASSMENT,
            types.HarmCategory.HARM_CATEGORY_HATE_SPEECH,
            types.HarmCategory.HARM_CATEGORY_SEXUALLY_EXPLICIT,
            types.HarmCategory.HARM_CATEGORY_DANGEROUS_CONTENT,
        )
    ]


def finish_reason(answer: types.GenerateContentResponse) -> str | None:
    """Why the model stopped, in Google's words; None when there is no candidate."""
    candidates = answer.candidates or []
    reason = candidates[0].finish_reason if candidates else None
    return None if reason is None else str(reason.value)


def usage(answer: types.GenerateContentResponse) -> dict[str, JsonValue] | None:
    """The tokens that were counted, by what Google calls them."""
    counted = answer.usage_metadata
    return None if counted is None else counted.model_dump(mode="json", exclude_none=True)


def _once(config: types.GenerateContentConfig) -> types.GenerateContentConfig:
    """Left alone, the SDK follows up on an answer with further, paid, calls of its own."""
    from google.genai import types

    no_functions = types.AutomaticFunctionCallingConfig(disable=True)
    return config.model_copy(
        update={"automatic_continuation": False, "automatic_function_calling": no_functions}
    )


def _connect(settings: GoogleSettings) -> genai.Client:
    from google import genai
    from google.genai import types

    server_timeout_s = max(_LEAST_SERVER_TIMEOUT_S, math.ceil(settings.timeout_s))
    return genai.Client(
        vertexai=False,
        api_key=settings.key.get_secret_value(),
        http_options=types.HttpOptions(
            base_url=settings.base_url,
            api_version=API_VERSION,
            timeout=round(settings.timeout_s * 1000),
            headers={"X-Server-Timeout": str(server_timeout_s)},
            retry_options=types.HttpRetryOptions(attempts=1),
        ),
    )


def _raise_if_withheld(answer: types.GenerateContentResponse, call: Call) -> None:
    feedback = answer.prompt_feedback
    if feedback is not None and feedback.block_reason is not None:
        code = str(feedback.block_reason.value)
        raise _declined(code, feedback.block_reason_message, answer, call)
    code = finish_reason(answer)
    if code is None:
        return
    said = (answer.candidates or [])[0].finish_message
    if code in REFUSALS:
        raise _declined(code, said, answer, call)
    if code == "PUP_LIMITED_DISABLED":
        raise call.bad_key(code)


def _declined(code: str, said: str | None, answer: types.GenerateContentResponse, call: Call) -> Declined:
    reason = f"{code}: {call.quote(said)}" if said else code
    return Declined(reason, code=code, served_version=answer.model_version, usage=usage(answer))


def _translate(error: errors.APIError, call: Call) -> ProviderError:
    status = error.code
    raw = cast(Any, error)  # the SDK leaves two fields untyped
    details = _details(raw.details)
    reasons = {str(detail.get("reason")) for detail in details}
    code = error.status or status
    if status in (401, 403) or "API_KEY_INVALID" in reasons:
        return call.bad_key("API_KEY_INVALID" if "API_KEY_INVALID" in reasons else code)
    if status == 404:
        return call.unknown_model(code)
    if status == 429:
        wait = _retry_delay(details, raw.response)
        per_day = any("PerDay" in quota for quota in _quotas(details))
        if per_day or "check your plan and billing" in (error.message or ""):
            return call.quota(error.message, code, None if per_day else wait)  # not back in 37 s
        return call.transient(error.message, code, wait)
    if status in (408, 499) or status >= 500:
        return call.transient(error.message, code, _retry_delay(details, raw.response))
    return call.fatal(error.message, code)


def _details(body: object) -> list[dict[str, Any]]:
    """The typed details of an error body; an intermediary's answer has none."""
    inner = cast(dict[str, Any], body).get("error") if isinstance(body, dict) else None
    found = cast(dict[str, Any], inner).get("details") if isinstance(inner, dict) else None
    listed = cast(list[Any], found) if isinstance(found, list) else []
    return [cast(dict[str, Any], detail) for detail in listed if isinstance(detail, dict)]


def _quotas(details: list[dict[str, Any]]) -> list[str]:
    violations = [each for detail in details for each in cast(list[Any], detail.get("violations") or [])]
    return [str(cast(dict[str, Any], each).get("quotaId")) for each in violations if isinstance(each, dict)]


def _retry_delay(details: list[dict[str, Any]], response: Any) -> float | None:
    for detail in details:
        delay = str(detail.get("retryDelay", ""))
        try:
            return float(delay.removesuffix("s"))
        except ValueError:
            continue
    return None if response is None else retry_after(response.headers)
