"""A model that tells what it really did, against what was measured of it.

Only the procedural editor does: it draws its edits and reports each change. That makes it a gauge for
the tracker, the judge and the overediting rules.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from metrics.agreement import Cell


@dataclass(frozen=True)
class StepTruth:
    """What a model reports of one step."""

    asked_sub_axis: str
    keep: bool
    made: bool
    """Whether the asked edit was carried out; meaningless for `keep`."""
    changed: Mapping[str, str | None]
    """Every sub-axis that really changed, with its new category; None = removed."""

    @property
    def overedits(self) -> int:
        """Changes nobody asked for, one a sub-axis."""
        return sum(sub_axis != self.asked_sub_axis for sub_axis in self.changed)


def true_oer(steps: Sequence[StepTruth]) -> float | None:
    """Overedits of a session per step, ≥ 0, low is good; None without steps."""
    return sum(step.overedits for step in steps) / len(steps) if steps else None


def missed(steps: Sequence[StepTruth]) -> tuple[int, int]:
    """Edits asked for and not made, and edits asked for; "Keep" prompts ask for none."""
    asked = [step for step in steps if not step.keep]
    return sum(not step.made for step in asked), len(asked)


def recognition_cells(step: StepTruth, seen: Mapping[str, Sequence[str] | None]) -> list[Cell]:
    """What the tracker saw of each change in the image after the step, for `metrics.agreement`.

    Args:
        step: The changes.
        seen: The tracker's state after the step: sub-axis to categories, None = unknown.

    Returns:
        One (sub-axis, truth, found) a change.

    """
    return [
        (sub_axis, () if category is None else (category,), seen.get(sub_axis))
        for sub_axis, category in sorted(step.changed.items())
    ]
