"""Which variables of the environment are known to a settings class."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator

from pydantic import AliasChoices
from pydantic_settings import BaseSettings

import adapters
import tasks


def known_variables() -> set[str]:
    """The names that our settings classes read, in capitals."""
    return {name for kind in _classes() for name in _names(kind)}


def _classes() -> Iterator[type[BaseSettings]]:
    for package in (adapters, tasks):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            for item in vars(importlib.import_module(found.name)).values():
                if isinstance(item, type) and issubclass(item, BaseSettings):
                    yield item


def _names(kind: type[BaseSettings]) -> Iterator[str]:
    for name, field in kind.model_fields.items():
        alias = field.validation_alias
        if isinstance(alias, AliasChoices):
            yield from map(str, alias.choices)
        else:
            yield (
                alias
                if isinstance(alias, str)
                else f"{kind.model_config.get('env_prefix', '')}{name}".upper()
            )
