"""Definitions as this process sees them: the packaged ones and those of the user's own folder."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel
from pydantic_settings import BaseSettings, SettingsConfigDict

from domain import loading
from domain.errors import DefinitionError
from domain.suites import Suite
from domain.taxonomy import Taxonomy

Definition = TypeVar("Definition", bound=BaseModel)


class DefinitionSettings(BaseSettings):
    """`FACEDRIFT_DEFINITIONS`: a folder with `models/`, `suites/`, … of one's own."""

    model_config = SettingsConfigDict(env_prefix="FACEDRIFT_")

    definitions: Path | None = None

    def folders(self) -> tuple[Path, ...]:
        """The folders to look in besides the packaged definitions; raises DefinitionError."""
        if self.definitions is None:
            return ()
        folder = self.definitions.expanduser()
        if not folder.is_dir():
            raise DefinitionError(f"FACEDRIFT_DEFINITIONS names {str(folder)!r}, which is no folder")
        return (folder,)


def load(kind: type[Definition], name: str) -> Definition:
    """A definition by its id; raises DefinitionError."""
    return loading.load(kind, name, DefinitionSettings().folders())


def load_suite(name_or_path: str) -> Suite:
    """A suite by its id or by the path of its file; raises DefinitionError."""
    return loading.load_suite(name_or_path, DefinitionSettings().folders())


NO_TAXONOMY = Taxonomy(id="none", version=1, source="a suite of prompt chains has none", axes=())


def taxonomy_of(suite: Suite) -> Taxonomy:
    """The taxonomy of a suite's sessions; an empty one of prompt chains; raises DefinitionError."""
    return NO_TAXONOMY if suite.taxonomy is None else load(Taxonomy, suite.taxonomy)


def prompt(name: str) -> str:
    """The text of a versioned prompt; raises DefinitionError."""
    return loading.prompt(name, DefinitionSettings().folders())


def names(kind: type[BaseModel]) -> tuple[str, ...]:
    """Ids of all definitions of a kind."""
    return loading.names(kind, DefinitionSettings().folders())
