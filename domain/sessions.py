"""Sessions: ordered instructions, each with what it intends.

The intended category of a prompt is data here and is never parsed from the prompt at run time.
"""

from __future__ import annotations

from functools import cached_property
from typing import Literal, Self, get_args

from pydantic import BaseModel, ConfigDict, Field, model_validator

from domain.chains import ChainSet, EditTarget
from domain.errors import DefinitionError
from domain.photos import Slug
from domain.taxonomy import Taxonomy

TestSet = Literal["accessories", "hair", "multi_axis", "pose"]
"""The four test sets of the paper; "Avg." pools their sessions."""


class Instruction(BaseModel):
    """One step of a session."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    prompt: str = Field(min_length=1)
    """Sent to the model verbatim, irregular full stops included."""
    attribute: str
    """The attribute of the taxonomy that the prompt asks for; empty in a prompt chain, which has none."""
    keep: bool = False
    """Whether the prompt asks to keep what is there."""


class Session(BaseModel):
    """An ordered list of instructions for one photo."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9_]*$")
    test_set: Literal[TestSet, EditTarget]
    """Of a prompt chain its edit target."""
    steps: tuple[Instruction, ...] = Field(min_length=1)
    photo: str | None = Field(default=None, pattern=Slug)
    """The only photo that it is for; None when it is for every photo."""


class SessionSet(BaseModel):
    """A versioned set of sessions over one taxonomy; never changed in place once used."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str = Field(pattern=Slug)
    version: int
    taxonomy: str
    source: str
    sessions: tuple[Session, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _ids_are_unique(self) -> Self:
        ids = [session.id for session in self.sessions]
        twice = sorted({name for name in ids if ids.count(name) > 1})
        if twice:
            raise ValueError(f"session named twice: {', '.join(twice)}")
        return self

    @cached_property
    def by_id(self) -> dict[str, Session]:
        """Every session by its id."""
        return {session.id: session for session in self.sessions}

    def check(self, taxonomy: Taxonomy) -> None:
        """Raise DefinitionError unless each instruction's attribute is in the taxonomy and in its prompt."""
        for session in self.sessions:
            if session.test_set not in get_args(TestSet):
                raise DefinitionError(
                    f"test set {session.test_set!r} is one of prompt chains",
                    file=self.id,
                    field=f"sessions.{session.id}.test_set",
                    allowed=get_args(TestSet),
                )
            for number, step in enumerate(session.steps, 1):
                where = f"sessions.{session.id}.steps.{number}"
                if step.attribute.casefold() not in taxonomy.attributes:
                    raise DefinitionError(
                        f"attribute {step.attribute!r} is not in taxonomy {taxonomy.id!r}",
                        file=self.id,
                        field=where,
                    )
                if step.attribute.casefold() not in step.prompt.casefold():
                    raise DefinitionError(
                        f"the prompt {step.prompt!r} does not name its attribute {step.attribute!r}",
                        file=self.id,
                        field=where,
                    )


def sessions_of_chains(chains: ChainSet) -> tuple[Session, ...]:
    """Each prompt chain as the session of its photo."""
    return tuple(
        Session(
            id=chain.session,
            test_set=chain.edit_target,
            steps=tuple(Instruction(prompt=prompt, attribute="") for prompt in chain.prompts),
            photo=chain.photo,
        )
        for chain in chains.chains
    )
