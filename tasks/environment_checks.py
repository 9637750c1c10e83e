"""Whether the variables of this process can be read, found out before anything depends on them."""

from __future__ import annotations

from pydantic import ValidationError
from pydantic_settings import BaseSettings, SettingsError

from domain.errors import DefinitionError
from domain.provider_cards import ProviderCard
from tasks.definitions import names
from tasks.limits import LimitSettings
from tasks.policies import RetrySettings


def check_environment() -> None:
    """Raise DefinitionError naming the variable whose value cannot be used."""
    limits = _read(LimitSettings)
    _read(RetrySettings)
    known = names(ProviderCard)
    for field in ("in_flight", "per_minute"):
        unknown = sorted(set(getattr(limits, field)) - set(known))
        if unknown:
            raise DefinitionError(
                f"FACEDRIFT_{field.upper()} names no provider {unknown[0]!r}", allowed=known
            )


def _read(kind: type[BaseSettings]) -> BaseSettings:
    try:
        return kind()
    except SettingsError as error:  # a value that is no JSON; the cause says where
        field = next((name for name in kind.model_fields if f'"{name}"' in str(error)), "")
        raise DefinitionError(
            f"FACEDRIFT_{field.upper()} is not JSON of the right kind; mend the variable", field=field
        ) from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"][1:]))
        raise DefinitionError(
            f"FACEDRIFT_{str(first['loc'][0]).upper()}: {first['msg']}; mend the variable",
            field=where or None,
        ) from error
