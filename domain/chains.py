"""Prompt chains of the identity-drift suite: for each photo its own edits, and what kind of photo it is.

Source: the multi-step identity-drift leaderboard, section 3. A chain names its photo; a revised prompt makes
a new version of the set, and results of two versions never mix, since the key of a step holds its prompt.
"""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Literal, Self, get_args

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from domain.photos import Slug

EditTarget = Literal["clothing", "objects", "text", "mixed"]
People = Literal["1", "2", "3", "4"]
FaceSize = Literal["small", "medium", "large"]
"""Height of the largest face in the image: under 15 %, under 25 %, or more."""
PhotoShape = Literal["landscape", "portrait", "square"]
View = Literal["close", "half", "full"]
"""How much of the largest person is in the picture: head and shoulders, half the body, or more of it."""

DIMENSIONS: dict[str, tuple[str, ...]] = {
    "edit_target": get_args(EditTarget),
    "people": get_args(People),
    "face_size": get_args(FaceSize),
    "photo_shape": get_args(PhotoShape),
    "view": get_args(View),
}
"""What leaderboards are split by, with the allowed values in the order of the tables."""


class PromptChain(BaseModel):
    """The edits of one photo, in order."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    photo: str = Field(pattern=Slug)
    """Id of the photo in its dataset."""
    edit_target: EditTarget
    people: People
    face_size: FaceSize
    photo_shape: PhotoShape
    view: View
    prompts: tuple[Annotated[str, Field(min_length=1)], ...] = Field(min_length=1, max_length=20)

    @field_validator("people", mode="before")
    @classmethod
    def _written_as_a_number(cls, value: object) -> object:
        return str(value) if isinstance(value, int) and not isinstance(value, bool) else value

    @property
    def session(self) -> str:
        """The id of the session that it becomes."""
        return self.photo.replace("-", "_").replace(".", "_")

    @property
    def dimensions(self) -> dict[str, str]:
        """Its value of each of `DIMENSIONS`."""
        return {name: getattr(self, name) for name in DIMENSIONS}


class ChainSet(BaseModel):
    """A versioned set of prompt chains; never changed in place once used."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str = Field(pattern=Slug)
    version: int = Field(ge=1)
    source: str
    steps: int = Field(default=5, ge=1, le=20)
    """Prompts of each chain, which `facedrift chains lint` looks at."""
    chains: tuple[PromptChain, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _one_chain_a_photo(self) -> Self:
        photos = [chain.photo for chain in self.chains]
        twice = sorted({name for name in photos if photos.count(name) > 1})
        if twice:
            raise ValueError(f"photo with two chains: {', '.join(twice)}")
        sessions = [chain.session for chain in self.chains]
        alike = sorted({chain.photo for chain in self.chains if sessions.count(chain.session) > 1})
        if alike:
            raise ValueError(f"photos that differ in `-`, `.` and `_` only: {', '.join(alike)}; rename them")
        return self

    @cached_property
    def by_photo(self) -> dict[str, PromptChain]:
        """Every chain by its photo."""
        return {chain.photo: chain for chain in self.chains}
