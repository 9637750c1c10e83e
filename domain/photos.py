"""People and their photos."""

from __future__ import annotations

from functools import cached_property
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

Slug = r"^[a-z0-9][a-z0-9._-]*$"

Role = Literal["base", "reference"]
"""A base photo is edited; reference photos only say what the person looks like."""


class Photo(BaseModel):
    """One photo of one subject, as it is in the store."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str = Field(pattern=Slug)
    subject: str = Field(pattern=Slug)
    role: Role
    image_sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    extension: str
    width: int = Field(gt=0)
    height: int = Field(gt=0)
    box: tuple[float, float, float, float]
    """x1, y1, x2, y2 of its only face, in pixels of the upright image."""
    licence: str
    source: str
    derived_from: str | None = None
    """Id of the photo that this one was made from: then the two are not independent."""
    groups: dict[str, str] = Field(default_factory=dict)
    """Such as `gender: female`; a group that is not known is absent, never guessed."""


class LeftOut(BaseModel):
    """A file or face that did not become a photo, and why."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    source: str
    reason: str
    """A stable code such as `not_an_image`, `truncated`, `no_face`, `several_faces`."""
    detail: str


class Dataset(BaseModel):
    """Photos of a suite after preparation: a versioned manifest in the store."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str = Field(pattern=Slug)
    embedder_fingerprint: str
    photos: tuple[Photo, ...]
    left_out: tuple[LeftOut, ...] = ()

    @model_validator(mode="after")
    def _ids_are_unique(self) -> Self:
        ids = [photo.id for photo in self.photos]
        twice = sorted({name for name in ids if ids.count(name) > 1})
        if twice:
            raise ValueError(f"photo named twice: {', '.join(twice)}")
        return self

    @cached_property
    def base(self) -> tuple[Photo, ...]:
        """The photos that are edited, in order."""
        return tuple(photo for photo in self.photos if photo.role == "base")

    @cached_property
    def by_id(self) -> dict[str, Photo]:
        """Every photo by its id."""
        return {photo.id: photo for photo in self.photos}

    def references(self, subject: str) -> tuple[Photo, ...]:
        """The reference photos of a subject, never its base photos."""
        return tuple(p for p in self.photos if p.role == "reference" and p.subject == subject)
