"""OpenAI by the official SDK: each call is sent once, and no call waits for ever.

API: https://platform.openai.com/docs/api-reference (openai 3.57.0, read 2026-11)
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pydantic import Field
from pydantic_settings import BaseSettings

from adapters.providers.calls import Call, Declined, retry_after
from adapters.providers.settings import REHEARSAL, Key, options, read, require_extra
from adapters.providers.shared import Shared
from domain.errors import ProviderError

if TYPE_CHECKING:
    import openai

KEY_VARIABLE = "OPENAI_API_KEY"
_QUOTA = frozenset({"insufficient_quota", "billing_hard_limit_reached"})


class OpenAISettings(BaseSettings):
    """`OPENAI_API_KEY`, `FACEDRIFT_OPENAI_BASE_URL` (with `/v1`), `FACEDRIFT_OPENAI_TIMEOUT_S`."""

    model_config = options(env_prefix="FACEDRIFT_OPENAI_")

    key: Key = Field(default=..., validation_alias=KEY_VARIABLE)
    base_url: str = "https://api.openai.com/v1"
    timeout_s: float = Field(default=300.0, gt=0)
    """Of each phase of a call: connecting, sending, waiting for the answer."""


_CLIENTS: Shared[OpenAISettings, openai.OpenAI] = Shared()


def settings_for(standin_url: str | None = None) -> OpenAISettings:
    """The settings from the environment, or those of a rehearsal, which needs no key."""
    given = {} if standin_url is None else {"key": REHEARSAL, "base_url": f"{standin_url}/openai/v1"}
    return read(OpenAISettings, "openai", KEY_VARIABLE, **given)


def api(standin_url: str | None = None) -> OpenAIApi:
    """OpenAI, or the stand-in; raises DefinitionError when the key or the package is missing."""
    require_extra("openai", "openai")
    return OpenAIApi(settings_for(standin_url))


class OpenAIApi:
    """The SDK's client, to be used inside `calling`, which raises only our errors, and `Declined`."""

    def __init__(self, settings: OpenAISettings) -> None:
        self._settings = settings

    @property
    def client(self) -> openai.OpenAI:
        """The one client of these settings; it resends nothing."""
        return _CLIENTS.get(self._settings, lambda: _connect(self._settings))

    @contextmanager
    def calling(self, model: str, *, paid: bool) -> Generator[Call, None, None]:
        """Around one use of `client`: translates what the SDK raises.

        Raises:
            Declined: the request or its result was blocked by policy.
            ProviderError: as the table of errors says.
        """
        import httpx2
        import openai

        call = Call("openai", model, KEY_VARIABLE, self._settings.key, paid)
        try:
            yield call
        except openai.APIStatusError as error:
            raise _translate(error, call) from call.cause(error)
        except openai.APIConnectionError as error:
            raise call.cut_off(error.__cause__ or error) from call.cause(error)
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise call.cut_off(error) from call.cause(error)
        except (ValueError, openai.APIError) as error:  # no JSON, or not of the shape that the SDK expects
            raise call.unusable(
                "the answer is no JSON of the expected shape", type(error).__name__
            ) from call.cause(error)

    def look_up(self, model: str) -> None:
        """Ask, at no cost, whether the key is good and the model is there."""
        with self.calling(model, paid=False):
            self.client.models.retrieve(model)


def _connect(settings: OpenAISettings) -> openai.OpenAI:
    import openai

    return openai.OpenAI(
        api_key=settings.key.get_secret_value(),
        base_url=settings.base_url,
        timeout=settings.timeout_s,
        max_retries=0,
    )


def _translate(error: openai.APIStatusError, call: Call) -> ProviderError | Declined:
    status = error.status_code
    code = error.code or error.type or status
    names = {error.code, error.type}
    if "moderation_blocked" in names or (status == 400 and "safety system" in error.message):
        return Declined(f"moderation_blocked: {call.quote(error.message)}", code="moderation_blocked")
    wait = retry_after(error.response.headers)
    if names & _QUOTA:
        return call.quota(error.message, code, wait)
    if status in (408, 409, 429) or status >= 500:
        return call.transient(error.message, code, wait)
    if status in (401, 403):
        return call.bad_key(code)
    if status == 404:
        return call.unknown_model(code)
    return call.fatal(error.message, code)
