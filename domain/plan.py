"""The fan-out as data: which chains a run has, and how a chain walks through stored outcomes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict

from domain.keys import judgement_key, step_key, step_seed
from domain.model_cards import ModelCard
from domain.photos import Photo
from domain.records import CheckRecord, OutcomeRecord, StepIdentity, Verdict
from domain.running import StepRules
from domain.sessions import Session

ChainStatus = Literal["complete", "stopped", "unfinished"]
Size = tuple[int, int]
"""Width and height in pixels."""
FindOutcome = Callable[[str], OutcomeRecord | None]
"""The stored outcome of an attempt, by its key."""
FindCheck = Callable[[str], CheckRecord | None]
"""What the run's checker said of an edit, by `domain.keys.judgement_key`."""
PPM = 1_000_000


class Chain(BaseModel):
    """One model taking one photo through one session."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str
    photo: str
    session: str

    @property
    def label(self) -> str:
        """For people and log lines."""
        return f"{self.model}/{self.photo}/{self.session}"


class StepPlan(BaseModel):
    """One attempt at one step, ready to be looked up or run."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    chain: Chain
    number: int
    """From 1."""
    identity: StepIdentity
    input_extension: str
    input_size: Size | None = None
    """None in shards that were written before it was kept."""

    @property
    def key(self) -> str:
        """The content key of the attempt."""
        return step_key(self.identity)


@dataclass(frozen=True)
class Attempt:
    """One attempt at a step, and what it came to."""

    step: StepPlan
    outcome: OutcomeRecord
    verdict: Verdict
    check: CheckRecord | None = None
    """None where no checker was asked."""


@dataclass(frozen=True)
class Walk:
    """How far a chain has come."""

    chain: Chain
    attempts: tuple[Attempt, ...]
    next_step: StepPlan | None
    """The first attempt without an outcome or a verdict; None when the chain is complete or stopped."""
    unchecked: OutcomeRecord | None = None
    """The outcome of the next attempt, where only its check is missing."""

    @property
    def outcomes(self) -> tuple[OutcomeRecord, ...]:
        """Of every attempt in order; where a step is tried once, one a step."""
        return tuple(attempt.outcome for attempt in self.attempts)

    @property
    def stored(self) -> tuple[OutcomeRecord, ...]:
        """Every outcome that was found, the unchecked one included."""
        return (*self.outcomes, *([self.unchecked] if self.unchecked else []))

    @property
    def decided(self) -> tuple[Attempt, ...]:
        """Of each step the attempt that decided it, or the latest."""
        return tuple({attempt.step.number: attempt for attempt in self.attempts}.values())

    @property
    def status(self) -> ChainStatus:
        """`complete`: all steps made; `stopped`: a step failed as often as it is tried."""
        if self.next_step:
            return "unfinished"
        return "complete" if self.attempts[-1].verdict == "made" else "stopped"


def chains(models: Sequence[str], photos: Iterable[Photo], sessions: Sequence[Session]) -> Iterator[Chain]:
    """All chains of a run, model by model, so that a shard keeps to one model."""
    photos = tuple(photos)
    for model in models:
        for photo in photos:
            for session in sessions:
                if session.photo in (None, photo.id):
                    yield Chain(model=model, photo=photo.id, session=session.id)


def matched(
    photos: Sequence[Photo], sessions: Sequence[Session], most: int | None = None
) -> tuple[tuple[Photo, ...], tuple[Session, ...]]:
    """The photos that some session is for, at most so many, and the sessions that are for one of these."""
    for_all, own = any(s.photo is None for s in sessions), {s.photo for s in sessions}
    chosen = tuple(photo for photo in photos if for_all or photo.id in own)[:most]
    named = {photo.id for photo in chosen}
    return chosen, tuple(s for s in sessions if s.photo is None or s.photo in named)


def is_off_shape(before: Size, after: Size, most: float) -> bool:
    """Whether width to height changed by more than a share, either way; in whole numbers, so exactly."""
    one, other = after[0] * before[1], after[1] * before[0]
    return max(one, other) * PPM > min(one, other) * (PPM + round(most * PPM))


@dataclass(frozen=True)
class Course:
    """What decides the steps of one chain, and where it goes after each attempt."""

    chain: Chain
    session: Session
    card: ModelCard
    settings_fingerprint: str
    seed_base: int
    rules: StepRules

    def first(self, photo: Photo) -> StepPlan:
        """The first attempt at the first step."""
        return self.step(1, 1, photo.image_sha256, photo.extension, (photo.width, photo.height))

    def step(self, number: int, attempt: int, sha256: str, extension: str, size: Size | None) -> StepPlan:
        """One attempt at a step, given what it is applied to."""
        seed = None
        if self.card.seed_support:
            seed = step_seed(self.seed_base, self.card.id, self.chain.photo, number, attempt)
        identity = StepIdentity(
            input_sha256=sha256,
            prompt=self.session.steps[number - 1].prompt,
            model=self.card.id,
            settings_fingerprint=self.settings_fingerprint,
            seed=seed,
            attempt=attempt,
        )
        return StepPlan(
            chain=self.chain, number=number, identity=identity, input_extension=extension, input_size=size
        )

    def to_check(self, step: StepPlan, outcome: OutcomeRecord) -> str | None:
        """The key of the check that an attempt needs; None where its outcome says enough."""
        if outcome.image is None or self.rules.checker is None or self._is_off_shape(step, outcome):
            return None
        return judgement_key(step.identity.input_sha256, outcome.image.sha256, step.identity.prompt)

    def verdict(self, step: StepPlan, outcome: OutcomeRecord, check: CheckRecord | None) -> Verdict | None:
        """What an attempt came to; None while the check that it needs is not there."""
        if outcome.kind != "edited":
            return outcome.kind
        if self._is_off_shape(step, outcome):
            return "off_shape"
        if self.rules.checker is None:
            return "made"
        if check is None or check.made is None:
            return None
        return "made" if check.made else "not_made"

    def after(self, step: StepPlan, outcome: OutcomeRecord, verdict: Verdict) -> StepPlan | None:
        """The next attempt: at the next step, on the image of one that was made, or at the same; or None."""
        if verdict == "made" and outcome.image is not None:
            if step.number == len(self.session.steps):
                return None
            image = outcome.image
            return self.step(step.number + 1, 1, image.sha256, image.extension, (image.width, image.height))
        held, tried = step.identity, step.identity.attempt
        if tried >= self.rules.attempts:
            return None
        return self.step(step.number, tried + 1, held.input_sha256, step.input_extension, step.input_size)

    def follow(self, step: StepPlan | None, find: FindOutcome, find_check: FindCheck) -> Walk:
        """Go on from an attempt through what is stored, until something is missing or the chain is over.

        Step k + 1 takes exactly the image that step k returned, so its key is known only then.
        """
        attempts: list[Attempt] = []
        while step and (outcome := find(step.key)):
            key = self.to_check(step, outcome)
            check = find_check(key) if key else None
            verdict = self.verdict(step, outcome, check)
            if verdict is None:
                return Walk(self.chain, tuple(attempts), step, outcome)
            attempts.append(Attempt(step, outcome, verdict, check))
            step = self.after(step, outcome, verdict)
        return Walk(self.chain, tuple(attempts), step)

    def _is_off_shape(self, step: StepPlan, outcome: OutcomeRecord) -> bool:
        if self.rules.max_aspect_change is None or outcome.image is None or step.input_size is None:
            return False
        size = (outcome.image.width, outcome.image.height)
        return is_off_shape(step.input_size, size, self.rules.max_aspect_change)


def no_check(_: str) -> None:
    """Finds no check: of a run without a checker."""
