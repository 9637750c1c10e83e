"""xAI by the official SDK, which speaks gRPC: each call is sent once, and no call waits for ever.

API: https://docs.x.ai (xai-sdk 1.21.0, read 2026-11)
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pydantic import Field
from pydantic_settings import BaseSettings

from adapters.providers.calls import Call, Declined
from adapters.providers.settings import Key, no_rehearsal, options, read, require_extra
from adapters.providers.shared import Shared
from domain.errors import ProviderError

if TYPE_CHECKING:
    from xai_sdk import Client  # pyright: ignore[reportMissingTypeStubs]

KEY_VARIABLE = "XAI_API_KEY"
_ONCE = [("grpc.enable_retries", 0), ("grpc.service_config", "{}")]
"""The SDK's own service config resends a call four times when the connection breaks."""
_SENT = ("Socket closed", "Stream removed", "Connection reset", "GOAWAY", "RST_STREAM")
"""In the details of UNAVAILABLE: the request had left."""
_PASSING = frozenset({"UNAVAILABLE", "RESOURCE_EXHAUSTED", "INTERNAL", "ABORTED", "UNKNOWN", "DATA_LOSS"})


class XaiSettings(BaseSettings):
    """`XAI_API_KEY`; `FACEDRIFT_XAI_` and `HOST`, `INSECURE`, `TIMEOUT_S`."""

    model_config = options(env_prefix="FACEDRIFT_XAI_")

    key: Key = Field(default=..., validation_alias=KEY_VARIABLE)
    host: str = "api.x.ai"
    insecure: bool = False
    """Without TLS, for a server on this machine."""
    timeout_s: float = Field(default=300.0, gt=0)
    """Of a whole call."""


_CLIENTS: Shared[XaiSettings, Client] = Shared()


def settings_for(standin_url: str | None = None) -> XaiSettings:
    """The settings from the environment; there is no rehearsal."""
    no_rehearsal("xai", standin_url)
    return read(XaiSettings, "xai", KEY_VARIABLE)


def api(standin_url: str | None = None) -> XaiApi:
    """XAI; raises DefinitionError when the key or the package is missing, and in a rehearsal."""
    no_rehearsal("xai", standin_url)
    require_extra("xai_sdk", "xai")
    return XaiApi(settings_for())


class XaiApi:
    """The SDK's client, to be used inside `calling`, which raises only our errors, and `Declined`."""

    def __init__(self, settings: XaiSettings) -> None:
        self._settings = settings

    @property
    def client(self) -> Client:
        """The one client of these settings; it resends nothing."""
        return _CLIENTS.get(self._settings, lambda: _connect(self._settings))

    @contextmanager
    def calling(self, model: str, *, paid: bool) -> Generator[Call, None, None]:
        """Around one use of `client`: translates what the SDK raises.

        Raises:
            Declined: the request was blocked by policy.
            ProviderError: as the table of errors says.
        """
        import grpc

        call = Call("xai", model, KEY_VARIABLE, self._settings.key, paid)
        try:
            yield call
        except grpc.RpcError as error:
            raise _translate(error, call) from call.cause(error)

    def look_up(self, model: str) -> None:
        """Ask, at no cost, whether the key is good and the model is there."""
        with self.calling(model, paid=False):
            self.client.models.get_image_generation_model(model)


def _connect(settings: XaiSettings) -> Client:
    from xai_sdk import Client  # pyright: ignore[reportMissingTypeStubs]

    return Client(
        api_key=settings.key.get_secret_value(),
        api_host=settings.host,
        timeout=settings.timeout_s,
        channel_options=list(_ONCE),
        use_insecure_channel=settings.insecure,
    )


def _translate(error: Any, call: Call) -> ProviderError | Declined:
    """By gRPC status; where one status means several things, by its details."""
    code, said = str(error.code().name), str(error.details() or "")
    lower = said.casefold()
    if code == "INVALID_ARGUMENT" and "moderation" in lower:
        return Declined(f"moderation: {call.quote(said)}", code=code)
    if code == "PERMISSION_DENIED" and ("credit" in lower or "spending limit" in lower):
        return call.quota(said, code)
    if code in ("UNAUTHENTICATED", "PERMISSION_DENIED") or "incorrect api key" in lower:
        return call.bad_key(code)
    if code == "NOT_FOUND":
        return call.unknown_model(code)
    if _answer_lost(code, said):
        return call.unusable(said, code)
    return call.transient(said, code) if code in _PASSING else call.fatal(said, code)


def _answer_lost(code: str, said: str) -> bool:
    if code == "UNAVAILABLE":
        return any(word in said for word in _SENT)
    return code in ("DEADLINE_EXCEEDED", "CANCELLED") or "Received message larger than max" in said
