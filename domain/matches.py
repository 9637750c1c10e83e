"""Matches: two models' faces after the last edit of one photo, beside the original face.

A match is named by what its voters see, so votes on other pictures (another version of a chain, a later
run that edited anew) are never mixed with it.
"""

from __future__ import annotations

from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from domain import keys
from domain.photos import Slug

Side = Literal["a", "b"]
Choice = Literal["a", "b", "tie"]


class CropBox(BaseModel):
    """The square that is cut around the largest face, found once on the reference photo."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: Literal[1] = 1
    photo: str = Field(pattern=Slug)
    image_sha256: str
    """Of the reference photo."""
    width: int
    height: int
    """Of the reference photo: outputs are resized to it before they are cut."""
    face: tuple[float, float, float, float]
    """x1, y1, x2, y2 of the largest face."""
    x: int
    y: int
    side: int
    """The square, in pixels of the reference; outside of it only where it is larger than the photo."""


class CropRecord(BaseModel):
    """One face that was cut out of one image. Written last, once its picture is in the store."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: Literal[1] = 1
    image_sha256: str
    """Of the image it was cut from."""
    box: CropBox
    cutter: str
    """Version of what cut it, and of what decoded the image."""
    crop_sha256: str
    """A PNG under images/."""


class Match(BaseModel):
    """Which of two faces looks more like the original?"""

    model_config = ConfigDict(extra="forbid", frozen=True)

    photo: str
    session: str
    model_a: str
    model_b: str
    """In the order of their ids; which one is shown left is drawn anew at each serving."""
    original_sha256: str
    """Crops under images/, PNG."""
    crop_a_sha256: str
    crop_b_sha256: str
    gold: Side | None = None
    """The right answer of a match that tests its voters; such a match rates no model."""

    @model_validator(mode="after")
    def _is_of_two(self) -> Self:
        if self.gold is None and self.model_a >= self.model_b:
            raise ValueError("a match is between two models, in the order of their ids")
        return self

    @property
    def id(self) -> str:
        """The sha256 of all that it shows, and of whom."""
        return keys.fingerprint(self)


class MatchSet(BaseModel):
    """The matches of one run of a suite; the matches themselves are a table beside it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: Literal[1] = 1
    suite: str
    run_id: str
    table: str
    """Key of a Parquet of matches: the fields of `Match` with `id`, in the order of the queue."""
    n_matches: int
    """Those between two models."""
    n_gold: int
    """Those with a known answer, besides."""
    strategy: str
    seed: int
    models: tuple[str, ...] = ()
    """Who meets: the models that completed enough chains, controls among them."""
    left_out: dict[str, int] = Field(default_factory=dict[str, int])
    """Model to the photos on which it meets nobody, because it did not complete them."""
    not_ranked: dict[str, float] = Field(default_factory=dict[str, float])
    """Model to the share of chains it completed, of those that meet nobody at all."""
    reasons: dict[str, str] = Field(default_factory=dict[str, str])
    """Why each of these is not ranked: a reason of the table `completion`."""
    alone: int = 0
    """Photos of which fewer than two of `models` completed the chain."""
    votes_known: int = 0
    """Votes on these matches that the queue was ordered by, where the strategy asks for them."""

    @property
    def digest(self) -> str:
        """Names these matches, whichever run they are of."""
        return self.table.split("/")[-2]
