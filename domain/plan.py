"""The fan-out as data: which chains a run has, and how a chain walks through stored outcomes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict

from domain.keys import step_key, step_seed
from domain.model_cards import ModelCard
from domain.photos import Photo
from domain.records import OutcomeRecord, StepIdentity
from domain.sessions import Session

ChainStatus = Literal["complete", "stopped", "unfinished"]


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

    @property
    def key(self) -> str:
        """The content key of the attempt."""
        return step_key(self.identity)


@dataclass(frozen=True)
class Walk:
    """How far a chain has come."""

    chain: Chain
    outcomes: tuple[OutcomeRecord, ...]
    next_step: StepPlan | None
    """The first step without an outcome; None when the chain is complete or stopped."""

    @property
    def status(self) -> ChainStatus:
        """`complete`: all steps edited; `stopped`: a refusal or no image ended it."""
        if self.next_step:
            return "unfinished"
        return "complete" if self.outcomes[-1].kind == "edited" else "stopped"


def chains(models: Sequence[str], photos: Iterable[Photo], sessions: Sequence[Session]) -> Iterator[Chain]:
    """All chains of a run, model by model, so that a shard keeps to one model."""
    photos = tuple(photos)
    for model in models:
        for photo in photos:
            for session in sessions:
                yield Chain(model=model, photo=photo.id, session=session.id)


def plan_step(  # noqa: PLR0913 - all of it is identity
    chain: Chain,
    number: int,
    *,
    session: Session,
    card: ModelCard,
    settings_fingerprint: str,
    input_sha256: str,
    input_extension: str,
    seed_base: int,
    attempt: int = 1,
) -> StepPlan:
    """The plan of one step, given what it is applied to."""
    seed = step_seed(seed_base, card.id, chain.photo, number, attempt) if card.seed_support else None
    identity = StepIdentity(
        input_sha256=input_sha256,
        prompt=session.steps[number - 1].prompt,
        model=card.id,
        settings_fingerprint=settings_fingerprint,
        seed=seed,
        attempt=attempt,
    )
    return StepPlan(chain=chain, number=number, identity=identity, input_extension=input_extension)


def walk(
    chain: Chain,
    photo: Photo,
    session: Session,
    card: ModelCard,
    *,
    settings_fingerprint: str,
    seed_base: int,
    find: Callable[[str], OutcomeRecord | None],
) -> Walk:
    """Follow a chain through stored outcomes until one is missing, or one ends it.

    Step k + 1 takes exactly the image that step k returned, so its key is known only then.
    """
    outcomes: list[OutcomeRecord] = []
    sha, extension = photo.image_sha256, photo.extension
    for number in range(1, len(session.steps) + 1):
        step = plan_step(
            chain,
            number,
            session=session,
            card=card,
            settings_fingerprint=settings_fingerprint,
            input_sha256=sha,
            input_extension=extension,
            seed_base=seed_base,
        )
        outcome = find(step.key)
        if outcome is None:
            return Walk(chain, tuple(outcomes), step)
        outcomes.append(outcome)
        if outcome.image is None:
            break
        sha, extension = outcome.image.sha256, outcome.image.extension
    return Walk(chain, tuple(outcomes), None)
