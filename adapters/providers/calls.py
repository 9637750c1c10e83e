"""One call to a provider, and the errors it can end in, each with what to do next.

Texts never hold a key, a header or an image: what a provider says is cleaned before it is quoted.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from pydantic import JsonValue, SecretStr

from domain.errors import AmbiguousError, FatalError, ProviderError, QuotaError, TransientError

_UNSENT = frozenset({"ConnectError", "ConnectTimeout", "PoolTimeout", "ProxyError"})
_MALFORMED = frozenset({"UnsupportedProtocol", "LocalProtocolError", "InvalidURL"})
_TOO_LONG = re.compile(r"data:[^\s\"']+|[A-Za-z0-9+/=_-]{100,}")


class Declined(Exception):
    """The provider declined by policy: an outcome on its way to whoever asked, not a failure."""

    def __init__(
        self,
        reason: str,
        *,
        code: str | None = None,
        served_version: str | None = None,
        usage: JsonValue = None,
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.code = code
        self.served_version = served_version
        self.details: dict[str, JsonValue] = {"code": code}
        if usage is not None:
            self.details["usage"] = usage


class Said(Exception):
    """What an SDK or a transport raised, cleaned: its own exceptions may quote a key or a picture."""


class Imageless(Exception):
    """The provider ended its work without an image and without an error: an outcome, like `Declined`."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True)
class Call:
    """What is asked of whom."""

    provider: str
    model: str
    key_variable: str
    key: SecretStr = field(repr=False)
    paid: bool = False
    """Whether it may cost money even when its answer is lost."""

    def quote(self, said: object) -> str:
        """What the provider said, short and without secrets or images."""
        text = str(said).replace(self.key.get_secret_value(), "…")
        text = " ".join(_TOO_LONG.sub("…", text).split())
        return text if len(text) <= 300 else text[:299] + "…"

    def cause(self, error: BaseException) -> Said:
        """A cause that may stand in a traceback, in place of the exception itself."""
        return Said(f"{type(error).__name__}: {self.quote(error)}")

    def transient(
        self,
        said: object,
        code: str | int | None = None,
        retry_after_s: float | None = None,
        *,
        job_over: bool = False,
    ) -> TransientError:
        """Busy or broken for now."""
        return TransientError(
            f"{self._who} failed for now ({self._what(said, code)})",
            provider=self.provider,
            model=self.model,
            code=_text(code),
            retry_after_s=retry_after_s,
            job_over=job_over,
        )

    def quota(
        self, said: object, code: str | int | None = None, retry_after_s: float | None = None
    ) -> QuotaError:
        """The account has nothing left."""
        return QuotaError(
            f"the account at {self.provider} has used up its quota or credit ({self._what(said, code)}); "
            "top it up or wait for the quota to be renewed, then run again",
            provider=self.provider,
            model=self.model,
            code=_text(code),
            retry_after_s=retry_after_s,
        )

    def bad_key(self, code: str | int | None = None) -> FatalError:
        """The key is not accepted; what was said is left out, because providers quote keys."""
        return FatalError(
            f"{self.provider} does not accept the key for {self.model!r}: check {self.key_variable} "
            "and what the key may use",
            provider=self.provider,
            model=self.model,
            code=_text(code),
        )

    def unknown_model(self, code: str | int | None = None) -> FatalError:
        """There is no such model, or no longer."""
        return FatalError(
            f"{self.provider} knows no model {self.model!r}: mend the endpoint in the model card "
            "or remove the model",
            provider=self.provider,
            model=self.model,
            code=_text(code),
        )

    def fatal(self, said: object, code: str | int | None = None) -> FatalError:
        """The request itself is wrong."""
        return FatalError(
            f"{self._who} rejected the request ({self._what(said, code)}); mend the settings in its card",
            provider=self.provider,
            model=self.model,
            code=_text(code),
        )

    def gone(self, said: object, code: str | int | None = None) -> AmbiguousError:
        """The job, or its image, is not to be had; it may have been paid."""
        return AmbiguousError(
            f"{self._who} cannot deliver the job ({self._what(said, code)}); it may have been paid, "
            "and asking again pays for a new one",
            provider=self.provider,
            model=self.model,
            code=_text(code),
            job_over=True,
        )

    def unusable(self, said: object, code: str | int | None = None) -> ProviderError:
        """An answer that came, was perhaps paid, and cannot be used."""
        if not self.paid:
            return self.transient(said, code)
        return AmbiguousError(
            f"{self._who} answered with what cannot be used ({self._what(said, code)}); "
            "it may have been paid, so it is sent again only as often as the suite allows",
            provider=self.provider,
            model=self.model,
            code=_text(code),
        )

    def cut_off(self, error: BaseException) -> ProviderError:
        """The transport failed: before anything was sent, or on the way back."""
        name = type(error).__name__
        if name in _MALFORMED:
            return FatalError(
                f"no request to {self.provider} can be made ({name}): check its base URL among the variables",
                provider=self.provider,
                model=self.model,
                code=name,
            )
        if name in _UNSENT:
            return TransientError(
                f"{self.provider} was not reached for {self.model!r} ({name}); nothing was sent",
                provider=self.provider,
                model=self.model,
                code=name,
            )
        if not self.paid:
            return self.transient("the connection broke off", name)
        return AmbiguousError(
            f"{self._who} was asked and its answer was lost ({name}); it may have been paid, "
            "so it is sent again only as often as the suite allows",
            provider=self.provider,
            model=self.model,
            code=name,
        )

    @property
    def _who(self) -> str:
        return f"{self.provider} ({self.model!r})"

    def _what(self, said: object, code: str | int | None) -> str:
        return ": ".join(part for part in (_text(code), self.quote(said)) if part)


def _text(code: str | int | None) -> str | None:
    return None if code is None else str(code)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait by `retry-after-ms` or `retry-after`, which holds seconds or a date."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    seconds = _number(value)
    if seconds is not None or value is None:
        return seconds
    try:
        date = parsedate_to_datetime(value)
    except ValueError:
        return None
    date = date if date.tzinfo else date.replace(tzinfo=UTC)
    return max(0.0, (date - datetime.now(UTC)).total_seconds())


def _number(text: str | None) -> float | None:
    if text is None:
        return None
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0 <= value < float("inf") else None
