"""People and their photos."""

from __future__ import annotations

from collections import Counter
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
    fss0: float | None = None
    """Of a base photo: its highest cosine to the person's reference photos."""
    near_duplicates: tuple[str, ...] = ()
    """Of a base photo: ids of the reference photos that may be copies of it."""
    perceptual_hash: str | None = None
    """64 bits in hexadecimal; of two copies of one picture few differ, or none."""
    notes: tuple[str, ...] = ()
    """See `PhotoRecord.notes`."""


class LeftOut(BaseModel):
    """A file or face that did not become a photo, and why."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    source: str
    reason: str
    """A stable code such as `not_an_image`, `truncated`, `no_face`, `several_faces`."""
    detail: str
    subject: str | None = None
    """Whose photo it is, where that is known."""


class PhotoRecord(BaseModel):
    """What decoding said of a file's bytes: stored under their sha256, so that it is done once."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: Literal[1] = 1
    sha256: str
    decoder: str
    """Version of what decoded it."""
    reason: str | None = None
    """Why it cannot be used; None when it can."""
    detail: str = ""
    extension: str = ""
    width: int = 0
    height: int = 0
    perceptual_hash: str | None = None
    notes: tuple[str, ...] = ()
    """`first_of_several`: an animation or a file of several pages, of which the first counts."""


class MirrorRecord(BaseModel):
    """The mirror image that was made of a photo."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: Literal[1] = 1
    of_sha256: str
    sha256: str


class Candidate(BaseModel):
    """One file of a source that decodes: it becomes a photo when it shows exactly one face."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str = Field(pattern=Slug)
    subject: str = Field(pattern=Slug)
    source: str
    licence: str
    groups: dict[str, str] = Field(default_factory=dict)
    role: Role | None = None
    content: PhotoRecord
    derived_from: str | None = None


class Listing(BaseModel):
    """What a source holds: a stored step on the way to a dataset."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: Literal[1] = 1
    id: str = Field(pattern=Slug)
    """Of the dataset."""
    candidates: tuple[Candidate, ...]
    left_out: tuple[LeftOut, ...] = ()


class GroupChoice(BaseModel):
    """Choosing at most so many base photos of each group, the same ones whenever they are there."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    columns: tuple[str, ...] = ()
    """Groups that together make one, such as gender and age, as the suite defines them; none: all are one."""
    n: int = Field(ge=1)
    seed: int = Field(default=0, ge=0)


class Preparation(BaseModel):
    """The choices that made a dataset of what its source held."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: Literal[1] = 1
    decoder: str
    min_fss0: float
    near_duplicate_above: float
    exclude_near_duplicates: bool
    mirror_alone: bool
    per_group: GroupChoice | None = None
    not_chosen: dict[str, int] = Field(default_factory=dict)
    """Of each group, usable base photos beyond the number wanted; they and their people are not listed."""


class Dataset(BaseModel):
    """Photos of a suite after preparation: a versioned manifest in the store."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str = Field(pattern=Slug)
    embedder_fingerprint: str
    photos: tuple[Photo, ...]
    left_out: tuple[LeftOut, ...] = ()
    preparation: Preparation | None = None
    """None in manifests that were made before it was kept."""

    @model_validator(mode="after")
    def _ids_are_unique(self) -> Self:
        counts = Counter(photo.id for photo in self.photos)
        twice = sorted(name for name, count in counts.items() if count > 1)
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

    @cached_property
    def _references(self) -> dict[str, tuple[Photo, ...]]:
        found: dict[str, list[Photo]] = {}
        for photo in self.photos:
            if photo.role == "reference":
                found.setdefault(photo.subject, []).append(photo)
        return {subject: tuple(photos) for subject, photos in found.items()}

    def references(self, subject: str) -> tuple[Photo, ...]:
        """The reference photos of a subject, never its base photos."""
        return self._references.get(subject, ())
