"""`FACEDRIFT_DATA`: the folder that datasets are in."""

from __future__ import annotations

from pathlib import Path

from pydantic_settings import BaseSettings, SettingsConfigDict

from adapters.datasets.about import About
from domain.errors import DefinitionError


class DataSettings(BaseSettings):
    """`FACEDRIFT_DATA`; without it, relative paths of datasets are taken from the current folder."""

    model_config = SettingsConfigDict(env_prefix="FACEDRIFT_")

    data: Path | None = None

    def place(self, path: str) -> Path:
        """Where a dataset's files are; an absolute path is taken as it is."""
        own = Path(path).expanduser()
        return own if own.is_absolute() else (self.data or Path()).expanduser().absolute() / own

    def existing(self, path: str, about: About) -> Path:
        """The same; raises DefinitionError, with where to get the dataset and where to put it."""
        place = self.place(path)
        if place.exists():
            return place
        where = f"put it there; the folder of datasets is {str(self.data)!r} (FACEDRIFT_DATA)"
        if self.data is None:
            where = f"put it there, or set FACEDRIFT_DATA to the folder that holds {path!r}"
        if Path(path).expanduser().is_absolute():
            where = "put it there, or mend `path`"
        raise DefinitionError(
            f"no {about.title} at {str(place)!r}. {about.get} Then {where}", field="dataset.path"
        )
