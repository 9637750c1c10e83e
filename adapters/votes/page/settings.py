"""Where the page keeps its votes, and where its voters reach it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from adapters.stores.settings import place
from domain.errors import DefinitionError

FILE = "sqlite:///"
SERVERS = ("postgresql://", "postgres://")
ALLOWED = ("sqlite:///a/file.sqlite", "postgresql://user:password@host/database")
DEFAULT_FILE = "votes.sqlite"
HERE = Path(".facedrift")
"""Where that file is for a store in a bucket."""


def _database(url: SecretStr) -> SecretStr:
    text = url.get_secret_value()
    if not (text.startswith(FILE) and text != FILE) and not text.startswith(SERVERS):
        raise ValueError(f"must be one of {', '.join(ALLOWED)}")
    return url


def _address(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username is not None:
        raise ValueError("must be http(s)://host[:port][/path], without a login")
    if parts.query or parts.fragment:
        raise ValueError("must end with its path")
    return url.rstrip("/")


class VoteSettings(BaseSettings):
    """`FACEDRIFT_VOTE_*`: the database of the voting page, and its address."""

    model_config = SettingsConfigDict(
        env_prefix="FACEDRIFT_VOTE_", frozen=True, env_ignore_empty=True, hide_input_in_errors=True
    )

    database_url: Annotated[SecretStr, AfterValidator(_database)] | None = None
    """None: a file beside the store. It may hold a password, so it is never shown."""
    base_url: Annotated[str, AfterValidator(_address)] | None = None
    """Where voters reach the page, as their browsers see it; links begin with it."""

    def database(self) -> str:
        """The address of the database; by default a file beside the store. Raises DefinitionError."""
        if self.database_url is not None:
            return self.database_url.get_secret_value()
        where = place()
        return f"{FILE}{(where.parent if isinstance(where, Path) else HERE) / DEFAULT_FILE}"


def vote_settings() -> VoteSettings:
    """The settings; raises DefinitionError that names the variable and quotes no value."""
    try:
        return VoteSettings()
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False, include_context=False)[0]
        said = first["msg"].removeprefix("Value error, ")
        name = f"FACEDRIFT_VOTE_{str(first['loc'][0]).upper()}"
        raise DefinitionError(f"{name}: {said}; mend the variable") from error
