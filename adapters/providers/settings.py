"""Reading a provider's settings from the environment, and saying which variable is missing or wrong."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from domain.errors import DefinitionError

S = TypeVar("S", bound=BaseSettings)

REHEARSAL = SecretStr("rehearsal")
"""The key that the stand-in is shown."""


def _header_safe(key: SecretStr) -> SecretStr:
    """HTTP libraries quote a header that they cannot send, so a bad key is stopped before it becomes one."""
    text = key.get_secret_value().strip()
    if not text or not text.isascii() or not text.isprintable() or " " in text:
        raise ValueError("holds characters that no key has; copy it again")
    return SecretStr(text)


Key = Annotated[SecretStr, AfterValidator(_header_safe)]
"""A provider's key: printable ASCII, never shown."""


def options(env_prefix: str) -> SettingsConfigDict:
    """How the settings of every provider are read; a value is never quoted in an error."""
    return SettingsConfigDict(
        env_prefix=env_prefix,
        frozen=True,
        populate_by_name=True,
        env_ignore_empty=True,
        hide_input_in_errors=True,
    )


def read(kind: type[S], provider: str, key_variable: str, **given: Any) -> S:
    """The settings of a provider; what is given wins over the environment.

    Raises:
        DefinitionError: the key or another variable is missing or wrong; the sentence names it.
    """
    try:
        return kind(**given)
    except ValidationError as error:
        prefix = kind.model_config.get("env_prefix", "")
        first = error.errors(include_input=False, include_url=False, include_context=False)[0]
        name = str(first["loc"][0])
        if name not in kind.model_fields and first["type"] == "missing":
            raise DefinitionError(f"{provider} needs a key: set {key_variable}") from error
        variable = f"{prefix}{name.upper()}" if name in kind.model_fields else name
        raise DefinitionError(f"{variable}: {first['msg']}; mend the variable", field=name) from error


def no_rehearsal(provider: str, standin_url: str | None) -> None:
    """Refuse a rehearsal with a provider whose protocol the stand-in does not know."""
    if standin_url is not None:
        raise DefinitionError(
            f"the stand-in does not speak {provider}; leave its models out of a rehearsal", field="provider"
        )


def require_extra(package: str, extra: str) -> None:
    """Refuse early, and without importing it, when an optional package is not installed."""
    try:
        found = find_spec(package) is not None
    except ImportError:
        found = False
    if not found:
        raise DefinitionError(
            f"{extra} needs the package {package!r}: install the extra: uv sync --extra {extra}"
        )
