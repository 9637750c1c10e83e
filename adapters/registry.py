"""Which adapter answers to which name; imported only when it is used."""

from __future__ import annotations

from importlib import import_module
from typing import Protocol, cast

from adapters.base import Editor, EditorContext
from domain.errors import DefinitionError
from domain.model_cards import ModelCard


class EditorClass(Protocol):
    """How an editor is built."""

    def build(self, card: ModelCard, context: EditorContext) -> Editor:
        """An editor for a card; raises pydantic's ValidationError for settings it does not know."""
        ...


EDITORS = {
    "control-unchanged": "adapters.editors.control_unchanged:UnchangedEditor",
    "control-recompress": "adapters.editors.control_recompress:RecompressEditor",
    "control-stranger": "adapters.editors.control_stranger:StrangerEditor",
    "procedural": "adapters.editors.procedural:ProceduralEditor",
}
"""By the `provider` of a model card. Each class has `build(card, context)`."""

USES_POOL = frozenset({"control-stranger"})
"""Editors whose answers depend on the dataset's other photos."""


def editor_class(provider: str) -> EditorClass:
    """The class that speaks to a provider; raises DefinitionError for an unknown one."""
    if provider not in EDITORS:
        raise DefinitionError(
            f"no editor for provider {provider!r}", field="provider", allowed=tuple(EDITORS)
        )
    module, name = EDITORS[provider].split(":")
    return cast(EditorClass, getattr(import_module(module), name))
