"""What pages show of prompt chains: how many attempts their steps took."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Part:
    """A part of a bar, in per cent of it."""

    label: str
    n: int
    start: float
    width: float
    kind: str
    """made1, made2, made3 or failed: a class of the style sheet."""


@dataclass(frozen=True)
class AttemptsLine:
    """One model's steps by how many attempts they took, and what its failed attempts came to."""

    model: str
    is_control: bool
    n_tried: int
    parts: Sequence[Part]
    failed_attempts: Sequence[tuple[str, int]]


@dataclass(frozen=True)
class Attempts:
    """Every model's attempts."""

    lines: Sequence[AttemptsLine]
    legend: Sequence[tuple[str, str]]
    """Class and meaning of each part of the bars."""
    verdicts: Sequence[str]
    """What a failed attempt can come to."""


def parts_of(counts: Sequence[tuple[str, str, int]]) -> list[Part]:
    """Labels, kinds and counts as the parts of one bar; parts of nothing are left out."""
    total = sum(n for _, _, n in counts)
    made: list[Part] = []
    before = 0
    for label, kind, n in counts:
        if n:
            made.append(Part(label, n, round(100 * before / total, 2), round(100 * n / total, 2), kind))
        before += n
    return made
