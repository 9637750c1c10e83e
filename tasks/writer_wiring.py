"""Builds who drafts prompt chains; see `tasks.wiring`."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from pydantic import ValidationError

from adapters.base import ChainWriter, JudgeContext
from adapters.registry import chain_writer_class
from domain.judge_cards import JudgeCard
from domain.loading import settings_error
from domain.suites import FacePack
from domain.taxonomy import Taxonomy
from tasks import wiring
from tasks.definitions import load, prompt

if TYPE_CHECKING:
    from adapters.imaging.face_models import FaceModels

_PACK = "mobile"
"""Finds the faces for the local writer: a draft belongs to no suite, whose pack could be asked for."""
_TAXONOMY = "face-edit-attributes"
"""Contexts of judges hold one; no chain is about it."""


def chain_writer(card: JudgeCard, *, rehearse: bool = False) -> ChainWriter:
    """Who drafts chains, for a card; raises DefinitionError as `tasks.wiring.build_editor` does."""
    prompts = {role: prompt(name) for role, name in card.prompts.items()}
    standin = wiring.standin_url() if rehearse else None
    context = JudgeContext(load(Taxonomy, _TAXONOMY), prompts, _faces, standin)
    try:
        return chain_writer_class(card.provider).build(card, context)
    except ValidationError as error:
        raise settings_error(error, type(card), card.id) from error


@cache
def _faces() -> FaceModels:
    from adapters.imaging.packs import PackSettings, open_pack

    return open_pack(load(FacePack, _PACK), PackSettings(), ("detection", "landmark_2d_106"))
