"""Where the store is."""

from __future__ import annotations

from pathlib import Path

from pydantic_settings import BaseSettings, SettingsConfigDict


class StoreSettings(BaseSettings):
    """`FACEDRIFT_STORE`: the directory of the store."""

    model_config = SettingsConfigDict(env_prefix="FACEDRIFT_")

    store: Path = Path(".facedrift/store")
