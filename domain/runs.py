"""A run as it was resolved before its first edit, so that a worker or a reader needs nothing else."""

from __future__ import annotations

from functools import cached_property
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from domain.errors import DefinitionError
from domain.model_cards import ModelCard
from domain.plan import Chain
from domain.records import EmbedderIdentity, JudgeIdentity, OutcomeRecord
from domain.sessions import Session
from domain.suites import Suite


class RunRequest(BaseModel):
    """What to run: the form of `run_suite` and the options of the command line."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    suite: str = Field(description="Id of a suite, or path of a suite file.")
    models: tuple[str, ...] = Field(default=(), description="Only these models; empty for all of the suite.")
    sessions: tuple[str, ...] = Field(default=(), description="Only these sessions; empty for all of the suite.")
    images: int | None = Field(default=None, ge=1, description="Only the first N base photos.")
    images_dir: str | None = Field(default=None, description="A folder of photos instead of the suite's dataset.")
    concurrency: int = Field(default=4, ge=1, le=256, description="Chains edited at the same time.")


class RunPlan(BaseModel):
    """Everything that decides what a run does and what its numbers mean."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: Literal[1] = 1
    id: str
    created_at: str
    request: RunRequest
    suite: Suite
    sessions: tuple[Session, ...]
    cards: tuple[ModelCard, ...]
    settings_fingerprints: dict[str, str]
    """Of each model: the sha256 of everything that is sent besides image, prompt and seed."""
    dataset: str
    """Key of the dataset manifest."""
    photos: tuple[str, ...]
    """Ids of the base photos, in order."""
    embedder: EmbedderIdentity
    judge: JudgeIdentity
    tracker: JudgeIdentity
    definitions_digest: str
    code_version: str
    packages: dict[str, str]
    shards: int = 0

    @model_validator(mode="after")
    def _is_complete(self) -> Self:
        if set(self.settings_fingerprints) != {card.id for card in self.cards}:
            raise ValueError("every model needs a settings fingerprint")
        return self

    @cached_property
    def card(self) -> dict[str, ModelCard]:
        """Every model card by its id."""
        return {card.id: card for card in self.cards}

    @cached_property
    def session(self) -> dict[str, Session]:
        """Every session by its id."""
        return {session.id: session for session in self.sessions}


class Shard(BaseModel):
    """Chains of one model that one `edit_chains` run takes."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    number: int
    chains: tuple[Chain, ...]


class StepFailure(BaseModel):
    """A step that ended in an error; it has no outcome, so the next run tries it again."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    chain: Chain
    step: int
    key: str
    error: str
    """Name of the error class."""
    message: str


class ShardSummary(BaseModel):
    """What one `edit_chains` run did."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    edited: int = 0
    refused: int = 0
    no_image: int = 0
    failed: int = 0
    found: int = 0
    """Steps that were already in the store when their turn came."""
    cost_usd: float = 0.0
    failures: tuple[StepFailure, ...] = ()

    def __add__(self, other: ShardSummary) -> ShardSummary:
        return ShardSummary(
            edited=self.edited + other.edited,
            refused=self.refused + other.refused,
            no_image=self.no_image + other.no_image,
            failed=self.failed + other.failed,
            found=self.found + other.found,
            cost_usd=self.cost_usd + other.cost_usd,
            failures=self.failures + other.failures,
        )


class StepRow(BaseModel):
    """One finished step in the compacted table: an index of outcomes that spares reading each of them."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    key: str
    photo: str
    session: str
    step: int
    outcome: OutcomeRecord


def choose(wanted: tuple[str, ...], known: tuple[str, ...], what: str) -> tuple[str, ...]:
    """The wanted ones in the order known, or all when none is named; raises DefinitionError."""
    unknown = [name for name in wanted if name not in known]
    if unknown:
        raise DefinitionError(f"unknown {what} {', '.join(map(repr, unknown))}", field=what, allowed=known)
    return tuple(name for name in known if not wanted or name in wanted)


