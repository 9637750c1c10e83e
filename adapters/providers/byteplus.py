"""BytePlus ModelArk by the official SDK: each call is sent once, and no call waits for ever.

API: https://docs.byteplus.com/en/docs/ModelArk (byteplus-python-sdk-v2 3.0.63, read 2026-11)
"""

from __future__ import annotations

import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, cast

import httpx
from pydantic import Field
from pydantic_settings import BaseSettings

from adapters.providers.calls import Call, Declined, retry_after
from adapters.providers.settings import Key, no_rehearsal, options, read, require_extra
from domain.errors import ProviderError

KEY_VARIABLE = "ARK_API_KEY"
_QUOTA = ("AccountOverdueError", "SetLimitExceeded")
_PASSING = ("RateLimitExceeded", "InternalServiceError")
_KEY = ("AuthenticationError",)
_MODEL = ("InvalidEndpointOrModel",)


class BytePlusSettings(BaseSettings):
    """`ARK_API_KEY`, `FACEDRIFT_BYTEPLUS_BASE_URL` (with `/api/v3`), `FACEDRIFT_BYTEPLUS_TIMEOUT_S`."""

    model_config = options(env_prefix="FACEDRIFT_BYTEPLUS_")

    key: Key = Field(default=..., validation_alias=KEY_VARIABLE)
    base_url: str = "https://ark.ap-southeast.bytepluses.com/api/v3"
    timeout_s: float = Field(default=300.0, gt=0)
    """Of each phase of a call: connecting, sending, waiting for the answer."""


_OF_THREAD = threading.local()
"""One client a thread: the SDK says that its client is not to be shared by threads."""


def settings_for(standin_url: str | None = None) -> BytePlusSettings:
    """The settings from the environment; there is no rehearsal."""
    no_rehearsal("byteplus", standin_url)
    return read(BytePlusSettings, "byteplus", KEY_VARIABLE)


def api(standin_url: str | None = None) -> BytePlusApi:
    """ModelArk; raises DefinitionError when the key or the package is missing, and in a rehearsal."""
    no_rehearsal("byteplus", standin_url)
    require_extra("byteplussdkarkruntime", "byteplus")
    return BytePlusApi(settings_for())


class BytePlusApi:
    """The SDK's client, to be used inside `calling`, which raises only our errors, and `Declined`."""

    def __init__(self, settings: BytePlusSettings) -> None:
        self._settings = settings

    @property
    def client(self) -> Any:
        """This thread's client of these settings (its package has no types); it resends nothing."""
        clients = cast(dict[BytePlusSettings, Any], _OF_THREAD.__dict__)
        if self._settings not in clients:
            clients[self._settings] = _connect(self._settings)
        return clients[self._settings]

    @contextmanager
    def calling(self, model: str, *, paid: bool) -> Generator[Call, None, None]:
        """Around one use of `client`: translates what the SDK raises.

        Raises:
            Declined: the request was blocked by policy.
            ProviderError: as the table of errors says.
        """
        from byteplussdkarkruntime import _exceptions as ark  # pyright: ignore[reportMissingTypeStubs]

        call = Call("byteplus", model, KEY_VARIABLE, self._settings.key, paid)
        try:
            yield call
        except ark.ArkAPIStatusError as error:
            raise _translate(error, call) from call.cause(error)
        except ark.ArkAPIConnectionError as error:
            raise call.cut_off(error.__cause__ or error) from call.cause(error)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise call.cut_off(error) from call.cause(error)
        except (ValueError, ark.ArkAPIError) as error:  # no JSON, or not of the shape that the SDK expects
            raise call.unusable(
                "the answer is no JSON of the expected shape", type(error).__name__
            ) from call.cause(error)


def classify(
    code: str, said: str, call: Call, status: int | None = None, wait_s: float | None = None
) -> ProviderError | Declined:
    """What an error means, whether it is the answer or stands in an answer of 200."""
    if "SensitiveContentDetected" in code:
        return Declined(f"{code}: {call.quote(said)}", code=code)
    if code.startswith(_QUOTA):
        return call.quota(said, code, wait_s)
    if code.startswith(_PASSING) or status in (408, 409, 429) or (status or 0) >= 500:
        return call.transient(said, code, wait_s)
    if code.startswith(_KEY) or status in (401, 403):
        return call.bad_key(code)
    return call.unknown_model(code) if code.startswith(_MODEL) or status == 404 else call.fatal(said, code)


def _connect(settings: BytePlusSettings) -> Any:
    from byteplussdkarkruntime import Ark  # pyright: ignore[reportMissingTypeStubs]

    return Ark(
        api_key=settings.key.get_secret_value(),
        base_url=settings.base_url,
        timeout=settings.timeout_s,
        max_retries=0,
    )


def _translate(error: Any, call: Call) -> ProviderError | Declined:
    code = str(error.code or error.status_code)
    wait_s = retry_after(error.response.headers)
    return classify(code, str(error.message), call, int(error.status_code), wait_s)
