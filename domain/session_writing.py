"""Writing sessions as values: what a writer is asked, what it answered, and what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from domain import keys
from domain.judging import InvalidAnswerError, parse_instruction
from domain.records import JudgeIdentity
from domain.session_draws import DrawnStep
from domain.session_rules import History, wording
from domain.sessions import Instruction, Session
from domain.taxonomy import Attribute, Taxonomy


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Wanted(_Record):
    """One instruction that is to be phrased."""

    attribute: Attribute
    keep: bool = False
    """Whether it shall ask to keep what is there."""
    replaces: str | None = None
    """The attribute of the same sub-axis that an earlier step asked for."""
    earlier: tuple[Instruction, ...] = ()
    last_problem: str | None = None
    """What was wrong with the answer before this one."""

    @property
    def step(self) -> dict[str, JsonValue]:
        """All but the earlier steps, as a writer is shown it."""
        return {
            **self.attribute.model_dump(mode="json"),
            "keep": self.keep,
            "replaces": self.replaces,
            "last_problem": self.last_problem,
        }


class InstructionIdentity(_Record):
    """What makes one question to a writer the same question: its key is the sha256 of these."""

    writer: JudgeIdentity
    seed: int
    session: str
    drawn: tuple[DrawnStep, ...]
    """Up to the step that is asked about."""
    prompts: tuple[str, ...]
    """Of the earlier steps."""
    ask: int
    """From 1."""
    last_problem: str | None = None

    @property
    def key(self) -> str:
        """The identity as a content key."""
        return keys.fingerprint(self)

    @property
    def earlier(self) -> tuple[Instruction, ...]:
        """The steps that are written."""
        return tuple(
            Instruction(prompt=prompt, attribute=step.attribute, keep=step.keep)
            for prompt, step in zip(self.prompts, self.drawn, strict=False)
        )

    def wanted(self, taxonomy: Taxonomy) -> Wanted:
        """The question itself."""
        step, history = self.drawn[-1], history_of(self.earlier, taxonomy)
        attribute = taxonomy.attributes[step.attribute.casefold()]
        before = history.in_force.get(attribute.sub_axis)
        return Wanted(
            attribute=attribute,
            keep=step.keep,
            replaces=before.name if before and not step.keep else None,
            earlier=self.earlier,
            last_problem=self.last_problem,
        )


class InstructionAnswer(_Record):
    """One answer of a writer: an instruction, or why it is none."""

    version: Literal[1] = 1
    key: str
    identity: InstructionIdentity
    raw_text: str
    instruction: str | None = None
    problem: str | None = None
    served_version: str | None = None
    finish_reason: str | None = None
    cost_usd: float | None = None
    """Where the writer tells it."""
    usage: dict[str, int] = Field(default_factory=dict[str, int])


class Unwritten(_Record):
    """A session that could not be written."""

    session: str
    step: int
    problem: str
    error: str = ""
    """Name of the error class; empty when every answer that is allowed was a bad one."""


class SessionsMissing(_Record):
    """What writing a set has to do, before it does it."""

    set_id: str
    sessions: int
    instructions: int
    missing: int
    """Instructions without an answer that can be used; a bad answer is asked for again."""
    price_usd: float
    """Of one answer."""
    cost_usd: float
    seconds: float
    """Of the calls alone, one after another within a session."""
    unwritten: tuple[Unwritten, ...] = ()
    """Sessions whose every allowed answer is in the store, and none can be used."""


class SessionsWritten(_Record):
    """What one run wrote."""

    sessions: tuple[Session, ...]
    asked: int = 0
    """Answers that were asked for now."""
    bad: int = 0
    """Those among them that could not be used."""
    cost_usd: float = 0.0
    unwritten: tuple[Unwritten, ...] = ()
    notices: tuple[str, ...] = ()


class WrittenSet(_Record):
    """A set of sessions in the store."""

    id: str
    version: int
    key: str
    sessions: int
    is_new: bool
    """False when the very same sessions were there already."""
    asked: int = 0
    cost_usd: float = 0.0
    notices: tuple[str, ...] = ()


def history_of(steps: Sequence[Instruction], taxonomy: Taxonomy) -> History:
    """What steps have asked for."""
    return History.of(taxonomy.attributes[step.attribute.casefold()] for step in steps)


def read_instruction(raw_text: str, wanted: Wanted, taxonomy: Taxonomy) -> str:
    """The instruction of an answer, word for word.

    Raises:
        InvalidAnswerError: it is not one short instruction for exactly what is wanted; nothing is repaired.
    """
    text = parse_instruction(raw_text)
    step = Instruction(prompt=text, attribute=wanted.attribute.name, keep=wanted.keep)
    problems = wording(step, wanted.attribute, history_of(wanted.earlier, taxonomy), taxonomy)
    if problems:
        raise InvalidAnswerError("; ".join(problem.message for problem in problems))
    return text
