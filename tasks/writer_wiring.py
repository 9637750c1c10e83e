"""Builds who drafts prompt chains; see `tasks.wiring`."""

from __future__ import annotations

from pydantic import ValidationError

from adapters.base import ChainWriter, JudgeContext
from adapters.imaging.face_models import FaceModels
from adapters.registry import chain_writer_class
from domain.errors import WeightsError
from domain.judge_cards import JudgeCard
from domain.loading import settings_error
from domain.taxonomy import Taxonomy
from tasks import wiring
from tasks.definitions import load, prompt

_TAXONOMY = "face-edit-attributes"
"""Contexts of judges hold one; no chain is about it."""


def chain_writer(card: JudgeCard, *, rehearse: bool = False) -> ChainWriter:
    """Who drafts chains, for a card; raises DefinitionError as `tasks.wiring.build_editor` does."""
    prompts = {role: prompt(name) for role, name in card.prompts.items()}
    standin = wiring.standin_url() if rehearse else None
    context = JudgeContext(load(Taxonomy, _TAXONOMY), prompts, _no_faces, standin)
    try:
        return chain_writer_class(card.provider).build(card, context)
    except ValidationError as error:
        raise settings_error(error, type(card), card.id) from error


def _no_faces() -> FaceModels:
    raise WeightsError("a writer of chains finds no faces")
