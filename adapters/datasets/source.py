"""What every dataset adapter yields: photos as they were found, not yet looked at."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from domain.photos import Credit, LeftOut, Role


@dataclass(frozen=True)
class SourcePhoto:
    """One file or cut-out that may become a photo."""

    id: str
    subject: str
    data: bytes
    source: str
    """Where it was found; for people."""
    licence: str
    groups: Mapping[str, str] = field(default_factory=dict[str, str])
    role: Role | None = None
    """Where the source says which photos are edited; None where it does not."""
    credit: Credit | None = None
    """Of a photo that is to be cropped and resized."""


class DatasetSource(Protocol):
    """A place where photos come from."""

    def read(self) -> Iterator[SourcePhoto | LeftOut]:
        """Every candidate in a fixed order, subjects together, and what was left out unread."""
        ...


def slug(name: str, taken: dict[str, str], owner: str | None = None) -> str:
    """A name in the characters that ids allow; two different owners never share one.

    Args:
        name: What people call it.
        taken: Slugs given so far, with their owners; the new one is added.
        owner: What the slug stands for, where that is more than its name.
    """
    owner = name if owner is None else owner
    found = plain = (re.sub(r"[^a-z0-9._-]+", "-", name.casefold()).strip("-._") or "photo")[:60]
    if taken.get(found, owner) != owner:
        found = f"{plain}-{hashlib.sha256(owner.encode()).hexdigest()[:8]}"
    taken[found] = owner
    return found
