"""What every dataset adapter yields: photos as they were found, not yet looked at."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from domain.photos import LeftOut


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


class DatasetSource(Protocol):
    """A place where photos come from."""

    def read(self) -> Iterator[SourcePhoto | LeftOut]:
        """Every candidate in a fixed order, subjects together, and what was left out unread."""
        ...


def slug(name: str, taken: Mapping[str, str]) -> str:
    """A name in the characters that ids allow; two different names never share one.

    Args:
        name: What people call it.
        taken: Slugs given so far, with the names they stand for.
    """
    plain = re.sub(r"[^a-z0-9._-]+", "-", name.casefold()).strip("-._") or "photo"
    plain = plain[:60]
    if taken.get(plain, name) != name:
        plain = f"{plain}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"
    return plain
