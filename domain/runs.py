"""A run as it was resolved before its first edit, so that a worker or a reader needs nothing else."""

from __future__ import annotations

from difflib import get_close_matches
from functools import cached_property
from typing import Literal, NamedTuple, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from domain import plan
from domain.chains import ChainSet
from domain.errors import DefinitionError
from domain.judge_cards import JudgeCard
from domain.model_cards import ModelCard
from domain.photos import Photo
from domain.plan import Chain, Course, FindCheck, FindOutcome, StepPlan, Walk
from domain.records import CheckRecord, EmbedderIdentity, JudgeIdentity, OutcomeRecord
from domain.requests import RunRequest
from domain.sessions import Session
from domain.suites import Suite
from domain.summaries import ModelCalls, ProviderCalls, ShardSummary


class Judging(NamedTuple):
    """Who judges, and what the answers carry."""

    card: JudgeCard
    identity: JudgeIdentity


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
    chain_set: ChainSet | None = None
    """The prompt chains that its sessions are, with those of photos that are not there; None where it has
    sessions over a taxonomy."""
    embedder: EmbedderIdentity
    judge: JudgeIdentity | None = None
    """Who scores the edits; None where nobody does, and likewise below."""
    judge_card: JudgeCard | None = None
    tracker: JudgeIdentity | None = None
    tracker_card: JudgeCard | None = None
    checker: JudgeIdentity | None = None
    """Who says of every attempt whether the edit was made."""
    checker_card: JudgeCard | None = None
    definitions_digest: str
    code_version: str
    packages: dict[str, str]
    shards: int = 0

    @model_validator(mode="after")
    def _is_complete(self) -> Self:
        if set(self.settings_fingerprints) != {card.id for card in self.cards}:
            raise ValueError("every model needs a settings fingerprint")
        if (self.suite.steps.checker is None) != (self.checker is None):
            raise ValueError("a run has a checker exactly when its suite names one")
        for role in ("judge", "tracker", "checker"):
            if (getattr(self, role) is None) != (getattr(self, f"{role}_card") is None):
                raise ValueError(f"a {role} has an identity and a card, or neither")
        return self

    @cached_property
    def card(self) -> dict[str, ModelCard]:
        """Every model card by its id."""
        return {card.id: card for card in self.cards}

    @cached_property
    def session(self) -> dict[str, Session]:
        """Every session by its id."""
        return {session.id: session for session in self.sessions}

    def role(self, name: Literal["judge", "tracker", "checker"]) -> Judging:
        """Who takes a role; raises DefinitionError where nobody does."""
        card, identity = getattr(self, f"{name}_card"), getattr(self, name)
        if card is None:
            raise DefinitionError(f"the suite {self.suite.id!r} names no {name}")
        return Judging(card, identity)

    @cached_property
    def judge_cards(self) -> tuple[JudgeCard, ...]:
        """The card of everybody who judges, each once."""
        cards = (self.judge_card, self.tracker_card, self.checker_card)
        return tuple({card.id: card for card in cards if card}.values())

    @property
    def check_price_usd(self) -> float:
        """Of one check, if every ask that is allowed is needed."""
        return self.checker_card.price_usd * self.suite.steps.max_asks if self.checker_card else 0.0

    def course(self, chain: Chain) -> Course:
        """What decides the steps of a chain."""
        return Course(
            chain,
            self.session[chain.session],
            self.card[chain.model],
            self.settings_fingerprints[chain.model],
            self.suite.seed,
            self.suite.steps,
        )

    def walk(
        self, chain: Chain, photo: Photo, find: FindOutcome, find_check: FindCheck = plan.no_check
    ) -> Walk:
        """How far a chain has come, by stored outcomes and the checks of this run's checker."""
        course = self.course(chain)
        return course.follow(course.first(photo), find, find_check)

    def step_after(
        self, step: StepPlan, outcome: OutcomeRecord, check: CheckRecord | None = None
    ) -> StepPlan | None:
        """The attempt after one that has ended; None when the chain is over.

        Raises:
            ValueError: the check is missing without which nobody knows where the chain goes.
        """
        course = self.course(step.chain)
        verdict = course.verdict(step, outcome, check)
        if verdict is None:
            raise ValueError(f"{step.chain.label} step {step.number} was not checked")
        return course.after(step, outcome, verdict)

    def steps_from(self, step: StepPlan) -> int:
        """How many steps a chain has from this one on."""
        return len(self.session[step.chain.session].steps) - step.number + 1

    def attempts_from(self, step: StepPlan) -> int:
        """How often a chain is tried from this attempt on, at most."""
        return self.steps_from(step) * self.suite.steps.attempts - step.identity.attempt + 1


class Shard(BaseModel):
    """Chains of one model that one `edit_chains` run takes."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    number: int
    steps: tuple[StepPlan, ...]
    """Of each chain the first step that is missing."""


class Measured(BaseModel):
    """What one measuring flow did."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    done: int
    cost_usd: float = 0.0
    problem: str | None = None
    """Why it is not whole; None when all was done."""


class Missing(BaseModel):
    """What a run has to do, before it does it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    chains: int
    complete: int
    stopped: int
    unfinished: int
    steps_missing: dict[str, int]
    """Of each model the edits, at most: a chain may stop before its last step, or need fewer attempts."""
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
    """Cost of step checks, states and judgements."""
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
