"""A run as it was resolved before its first edit, so that a worker or a reader needs nothing else."""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from functools import cached_property
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from domain import errors, plan
from domain.errors import DefinitionError, FacedriftError
from domain.judge_cards import JudgeCard
from domain.model_cards import ModelCard
from domain.photos import Photo
from domain.plan import Chain, StepPlan, Walk
from domain.records import EmbedderIdentity, JudgeIdentity, OutcomeRecord
from domain.requests import RunRequest
from domain.sessions import Session
from domain.suites import Suite


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
    judge_card: JudgeCard
    tracker: JudgeIdentity
    tracker_card: JudgeCard
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

    def walk(self, chain: Chain, photo: Photo, find: Callable[[str], OutcomeRecord | None]) -> Walk:
        """How far a chain has come, by stored outcomes."""
        return plan.walk(
            chain,
            photo,
            self.session[chain.session],
            self.card[chain.model],
            settings_fingerprint=self.settings_fingerprints[chain.model],
            seed_base=self.suite.seed,
            find=find,
        )

    def step_after(self, step: StepPlan, outcome: OutcomeRecord) -> StepPlan | None:
        """The next step of a chain, on the image that this one returned; None when it is over."""
        session = self.session[step.chain.session]
        if outcome.image is None or step.number == len(session.steps):
            return None
        return plan.plan_step(
            step.chain,
            step.number + 1,
            session=session,
            card=self.card[step.chain.model],
            settings_fingerprint=step.identity.settings_fingerprint,
            input_sha256=outcome.image.sha256,
            input_extension=outcome.image.extension,
            seed_base=self.suite.seed,
        )

    def steps_from(self, step: StepPlan) -> int:
        """How many steps a chain has from this one on."""
        return len(self.session[step.chain.session].steps) - step.number + 1


class Shard(BaseModel):
    """Chains of one model that one `edit_chains` run takes."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    number: int
    steps: tuple[StepPlan, ...]
    """Of each chain the first step that is missing."""


class Stopped(BaseModel):
    """Why a shard ended before its last step."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    error: str
    """Name of the error class."""
    message: str

    def is_a(self, *kinds: type[FacedriftError]) -> bool:
        """Whether the error is of one of these classes."""
        found = getattr(errors, self.error, None)
        return isinstance(found, type) and issubclass(found, kinds)


class StepFailure(BaseModel):
    """A step that ended in an error; it has no outcome, so the next run tries it again."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    chain: Chain
    step: int
    key: str
    error: str
    """Name of the error class."""
    message: str


class StepResult(BaseModel):
    """What one step's task run returns: the stored outcome, and whether it was there before."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    outcome: OutcomeRecord
    found: bool
    """True when nothing was called, because the outcome was already in the store."""
    collected: bool = False
    """True when the job of an earlier call was collected and none was sent."""


class ShardSummary(BaseModel):
    """What one `edit_chains` run did."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    edited: int = 0
    refused: int = 0
    no_image: int = 0
    failed: int = 0
    found: int = 0
    """Steps that were already in the store when their turn came."""
    collected: int = 0
    """Edits whose job an earlier call had made; it was collected and not paid again."""
    ambiguous: int = 0
    """Calls that may have been paid and came to nothing."""
    cost_usd: float = 0.0
    """As told by the provider, or else the price of the card for each edited step."""
    maybe_paid_usd: float = 0.0
    """What the ambiguous calls cost if they were paid."""
    calls_s: float = 0.0
    """What the calls took, added up."""
    failures: tuple[StepFailure, ...] = ()
    unfinished: int = 0
    """Chains of the shard that are not over."""
    part: str | None = None
    """Key of the compacted rows of its finished steps; None in a sum of several shards."""
    stopped: Stopped | None = None
    """Why it ended early; None when every chain was taken as far as it goes."""

    @property
    def failure_text(self) -> str:
        """How many steps failed, with an example."""
        return f"{self.failed} steps failed, such as {self.failures[0].message}" if self.failures else ""

    def __add__(self, other: ShardSummary) -> ShardSummary:
        """Both together; the part of one, and why one stopped, are no part of it."""
        added = set(type(self).model_fields) - {"stopped", "part"}
        return ShardSummary(**{name: getattr(self, name) + getattr(other, name) for name in sorted(added)})


class ProviderCalls(BaseModel):
    """What the edits of one provider came to in a run."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    provider: str
    edited: int = 0
    refused: int = 0
    no_image: int = 0
    failed: int = 0
    ambiguous: int = 0
    cost_usd: float = 0.0
    calls_s: float = 0.0

    def after(self, shard: ShardSummary) -> ProviderCalls:
        """With a further shard."""
        counted = set(type(self).model_fields) - {"provider"}
        return self.model_copy(
            update={name: getattr(self, name) + getattr(shard, name) for name in sorted(counted)}
        )


class Measured(BaseModel):
    """What one measuring flow did."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    done: int
    cost_usd: float = 0.0
    problem: str | None = None
    """Why it is not whole; None when all was done."""


class ModelCalls(BaseModel):
    """What the calls of one model have cost, over all runs that made them."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str
    answers: int = 0
    lost: int = 0
    """Calls before an answer that may have been paid and came to nothing."""
    cost_usd: float = 0.0
    maybe_paid_usd: float = 0.0


class Missing(BaseModel):
    """What a run has to do, before it does it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    chains: int
    complete: int
    stopped: int
    unfinished: int
    steps_missing: dict[str, int]
    """Of each model, at most: a chain may stop before its last step."""
    answers_missing: dict[str, int] = Field(default_factory=dict[str, int])
    """Of each judge card, at most; an answer that does not parse is asked for again."""
    cost_usd: float
    """Of edits and answers, at the prices of the cards."""
    seconds: float
    """Of the calls alone, at the run's concurrency."""


class Snapshot(BaseModel):
    """One set of tables under reports/; its name is the digest of what is in them."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    suite: str
    digest: str
    run_id: str
    is_new: bool
    """False when an equal snapshot was there already."""


class RunSummary(BaseModel):
    """What a run did."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    run_id: str
    planned: Missing
    edits: ShardSummary
    faces_read: int
    states_tracked: int
    edits_judged: int
    judging_usd: float = 0.0
    """Cost of states and judgements."""
    snapshot: Snapshot
    calls: tuple[ModelCalls, ...] = ()
    providers: tuple[ProviderCalls, ...] = ()
    notices: tuple[str, ...] = ()
    """What a reader of the numbers must know, such as a model that answered in another's place."""
    problems: tuple[str, ...] = ()
    """What failed, one sentence each; empty when all was done."""


def choose(wanted: tuple[str, ...], known: tuple[str, ...], what: str) -> tuple[str, ...]:
    """The wanted ones in the order known, or all when none is named; raises DefinitionError."""
    unknown = [name for name in wanted if name not in known]
    if unknown:
        close = [match for name in unknown for match in get_close_matches(name, known, n=2, cutoff=0.5)]
        hint = f"; did you mean {' or '.join(close)}?" if close else ""
        named = ", ".join(map(repr, unknown))
        raise DefinitionError(f"unknown {what} {named}{hint}", field=what, allowed=known)
    return tuple(name for name in known if not wanted or name in wanted)
