"""Choosing so many photos of each group, the same ones whenever they are there."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

from domain.errors import MetricError

Group = TypeVar("Group", bound=Hashable)


def choose_per_group(groups: Mapping[str, Group], n: int, seed: int = 0) -> frozenset[str]:
    """At most `n` photos of each group, by the rank of a hash of seed and content.

    A photo's rank hangs on nothing but itself, so that adding photos moves out at most as many as it adds:
    those chosen before stay unless a newcomer ranks higher. Each group is a simple random sample.

    Args:
        groups: Of each photo's content (its sha256) its group.
        n: Photos wanted of each group, at least 1.
        seed: Of the draw.

    Returns:
        The chosen contents; all of a group that has no more than `n`.

    Raises:
        MetricError: `n` is below 1.

    """
    if n < 1:
        raise MetricError(f"{n} photos a group are wanted, not at least 1")
    found: dict[Group, list[str]] = {}
    for content, group in groups.items():
        found.setdefault(group, []).append(content)
    return frozenset(name for members in found.values() for name in _first(members, n, seed))


def _first(members: Sequence[str], n: int, seed: int) -> list[str]:
    return sorted(members, key=lambda content: (_rank(seed, content), content))[:n]


def _rank(seed: int, content: str) -> bytes:
    return hashlib.sha256(f"{seed}:{content}".encode()).digest()
