"""Drafting prompt chains as values: what a writer is asked, what it answered, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from domain import keys
from domain.chain_rules import chain_problems
from domain.chains import DIMENSIONS, EditTarget, FaceSize, People, PhotoShape, View
from domain.judging import InvalidAnswerError, parse_chain
from domain.photos import Slug
from domain.records import JudgeIdentity

MUST_BE_REWORDED = frozenset(
    {"not_understood", "points_back", "relies_on_earlier", "several_edits", "sentences"}
)
"""Warnings of the linter that a draft must not have: a writer can always say it otherwise."""


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class DraftWanted(_Record):
    """What a writer is asked, besides the photo."""

    steps: int
    """How many prompts."""
    last_problem: str | None = None
    """What was wrong with the answer before this one."""


class DraftIdentity(_Record):
    """What makes one question to a writer the same question: its key is the sha256 of these."""

    writer: JudgeIdentity
    image_sha256: str
    steps: int
    ask: int
    """From 1."""
    last_problem: str | None = None

    @property
    def key(self) -> str:
        """The identity as a content key."""
        return keys.fingerprint(self)

    @property
    def wanted(self) -> DraftWanted:
        """The question itself."""
        return DraftWanted(steps=self.steps, last_problem=self.last_problem)


class DraftAnswer(_Record):
    """One answer of a writer, word for word; whether it can be used is for the rules of the day."""

    version: Literal[1] = 1
    key: str
    identity: DraftIdentity
    raw_text: str
    served_version: str | None = None
    finish_reason: str | None = None
    cost_usd: float | None = None
    """Where the writer tells it."""
    usage: dict[str, int] = Field(default_factory=dict[str, int])


class Draft(_Record):
    """The prompts of one photo."""

    edit_target: EditTarget
    prompts: tuple[str, ...]


class DraftChain(_Record):
    """A chain that a person has still to look at: what was not measured of its photo is not known."""

    photo: str = Field(pattern=Slug)
    edit_target: EditTarget
    people: People | None = None
    face_size: FaceSize | None = None
    photo_shape: PhotoShape | None = None
    view: View | None = None
    prompts: tuple[str, ...]

    @property
    def not_measured(self) -> tuple[str, ...]:
        """The dimensions that a person has to give."""
        return tuple(name for name in DIMENSIONS if getattr(self, name) is None)


class DraftChainSet(_Record):
    """A drafted set: a `ChainSet` once every dimension is given."""

    id: str = Field(pattern=Slug)
    version: int = Field(ge=1)
    source: str
    steps: int
    chains: tuple[DraftChain, ...]


class Undrafted(_Record):
    """A photo that is kept out of the set."""

    photo: str
    problem: str
    error: str = ""
    """Name of the error class; empty when every answer that is allowed was a bad one."""


class DraftsMissing(_Record):
    """What drafting a set has to do, before it does it."""

    set_id: str
    photos: int
    missing: int
    """Photos without an answer that can be used; a bad answer is asked for again."""
    price_usd: float
    """Of one answer."""
    cost_usd: float
    seconds: float
    """Of the calls alone."""
    kept_out: tuple[Undrafted, ...] = ()
    """Photos whose every allowed answer is in the store, and none can be used."""


class DraftsWritten(_Record):
    """What one run drafted."""

    chains: tuple[DraftChain, ...]
    asked: int = 0
    """Answers that were asked for now."""
    bad: int = 0
    """Those among them that could not be used."""
    cost_usd: float = 0.0
    kept_out: tuple[Undrafted, ...] = ()
    failed: tuple[Undrafted, ...] = ()
    """Photos that nobody could be asked about; a later run asks again."""
    notices: tuple[str, ...] = ()


class DraftedSet(_Record):
    """A drafted set in the store."""

    id: str
    version: int
    key: str
    chains: int
    is_new: bool
    """False when the very same chains were there already."""
    kept_out: tuple[Undrafted, ...] = ()
    to_give: dict[str, int] = Field(default_factory=dict[str, int])
    """Of each dimension, the chains whose photo it was not measured of."""
    asked: int = 0
    cost_usd: float = 0.0
    notices: tuple[str, ...] = ()


def read_draft(raw_text: str, steps: int) -> Draft:
    """The draft of an answer, word for word.

    Raises:
        InvalidAnswerError: it is no chain that keeps the rules; nothing is repaired.
    """
    target, prompts = parse_chain(raw_text)
    found = list(chain_problems(prompts, target, steps))
    wrong = [
        f"prompt {place + 1}: {problem.message}" if place is not None else problem.message
        for place, problem in found
        if problem.is_error or problem.code in MUST_BE_REWORDED
    ]
    if wrong:
        raise InvalidAnswerError("; ".join(wrong))
    return Draft.model_validate({"edit_target": target, "prompts": prompts})


def chain_of(photo: str, draft: Draft, groups: Mapping[str, str]) -> DraftChain:
    """The chain of a photo, with what is measured of it; what is not, or is no allowed value, stays open."""
    measured = {
        name: value
        for name, allowed in DIMENSIONS.items()
        if name != "edit_target" and (value := groups.get(name)) in allowed
    }
    return DraftChain.model_validate({"photo": photo, **draft.model_dump(), **measured})
