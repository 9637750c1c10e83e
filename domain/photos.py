"""People and their photos."""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

Slug = r"^[a-z0-9][a-z0-9._-]*$"

Role = Literal["base", "reference"]
"""A base photo is edited; reference photos only say what the person looks like."""


class CropArea(BaseModel):
    """A rectangle of whole pixels of an upright image."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    x: int = Field(ge=0)
    y: int = Field(ge=0)
    width: int = Field(gt=0)
    height: int = Field(gt=0)


class Credit(BaseModel):
    """What a table of photos says of one of them, besides its file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    row: str
    """File and line; for people."""
    author: str = ""
    crop: CropArea | None = None
    """Placed by hand, in pixels of the upright file."""


class Sharpness(BaseModel):
    """How sharp a prepared photo is, 0 to 1, higher is sharper; see `adapters.imaging.sharpness`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    median: float | None
    """Over the parts of the photo that can be judged; None where too few can."""
    lower_quartile: float | None
    """Over the same parts."""
    face: float | None
    """Of the largest face; None where there is none, or it cannot be judged."""


class Original(BaseModel):
    """The file that a prepared photo was made of, which is in the store as well, and what was done to it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    sha256: str
    extension: str
    width: int
    """Upright, in pixels."""
    height: int
    author: str
    crop: CropArea
    """What was kept of it."""
    crop_placed: bool
    """Whether a person placed the crop."""
    sharpness: Sharpness


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
    """See `PhotoRecord.notes`; `enlarged` of a prepared photo that has more pixels than its original."""
    original: Original | None = Field(default=None, exclude_if=lambda value: value is None)
    """Of a photo that was cropped and resized: what it was made of. Not written where there is none."""


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


class PreparedRecord(BaseModel):
    """The photo that was made of a crop of an original."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: Literal[1] = 1
    of_sha256: str
    crop: CropArea
    sha256: str
    sharpness: Sharpness


class Candidate(BaseModel):
    """One file of a source that decodes: it becomes a photo when it shows the faces that are wanted."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str = Field(pattern=Slug)
    subject: str = Field(pattern=Slug)
    source: str
    licence: str
    groups: dict[str, str] = Field(default_factory=dict)
    role: Role | None = None
    content: PhotoRecord
    derived_from: str | None = None
    credit: Credit | None = Field(default=None, exclude_if=lambda value: value is None)
    original: Original | None = Field(default=None, exclude_if=lambda value: value is None)


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


class Screening(BaseModel):
    """Which prepared photos are used; sizes and shares are of the prepared photo."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    max_faces: int = Field(default=4, ge=1, le=4)
    min_face_share: float = Field(default=0.10, ge=0, le=1)
    """Least height of the largest face, as a share of the image's."""
    max_yaw_deg: float = Field(default=40.0, gt=0, le=90)
    """Of the largest face, to either side; see `metrics.face_pose`."""
    max_pitch_deg: float = Field(default=45.0, gt=0, le=90)
    """Wider than yaw, because a smile looks like a lowered face."""
    min_face_inside: float = Field(default=0.95, gt=0, le=1)
    """Least share of the box of every face that the crop, and the frame, leave."""
    min_sharpness: float = Field(default=0.23, ge=0, le=1)
    """Least median over the parts of the frame; see `adapters.imaging.sharpness`."""
    min_sharpness_low: float = Field(default=0.20, ge=0, le=1)
    """Least lower quartile: more than a quarter of the frame out of focus is too much."""
    min_sharpness_face: float = Field(default=0.22, ge=0, le=1)
    max_enlargement: float | None = Field(default=None, ge=1)
    """Photos that would be enlarged by a larger factor are left out; None for any."""


class PhotoPreparation(BaseModel):
    """The choices that made a dataset of photos that were cropped, resized and screened."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: Literal[1] = 1
    decoder: str
    prepare: str
    """Version of the crop, the resizing and the sharpness."""
    dimensions: str
    """Version of the rules that measure the pose, and tell face size and view."""
    screening: Screening
    licences: tuple[str, ...]
    """Besides CC0, CC BY and CC BY-SA."""


class Dataset(BaseModel):
    """Photos of a suite after preparation: a versioned manifest in the store."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str = Field(pattern=Slug)
    embedder_fingerprint: str
    photos: tuple[Photo, ...]
    left_out: tuple[LeftOut, ...] = ()
    preparation: Preparation | PhotoPreparation | None = None
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
