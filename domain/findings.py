"""What a look at a dataset found: photos, people, groups, and what was left out and why."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class LeftOutCount(BaseModel):
    """Files or rows left out for one reason."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    reason: str
    n: int
    examples: tuple[str, ...]
    """Some of them, each with what it is about."""


class GroupCount(BaseModel):
    """Photos and people of one group; `group` is None for those in none."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    group: str | None
    n_photos: int
    n_people: int


class LabelSummary(BaseModel):
    """What one column of the photos holds."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    n_photos: int
    """Photos of which it is known."""
    holds: str
    """Its values with their counts, or the span of its numbers."""


class Findings(BaseModel):
    """A dataset as its adapter sees it, before any photo is decoded."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    dataset: str
    adapter: str
    n_photos: int
    n_people: int
    roles: dict[str, int]
    """`base`, `reference`, and `not stated` where preparation decides."""
    licences: dict[str, int]
    labels: tuple[LabelSummary, ...]
    groups: tuple[GroupCount, ...]
    left_out: tuple[LeftOutCount, ...]
    notes: tuple[str, ...]
