"""Semantic consistency (SC): did the edit follow its instruction and leave the rest alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from domain.errors import MetricError
from domain.judging import Scores


@dataclass(frozen=True)
class SessionConsistency:
    """SC of one session."""

    value: float | None
    """Mean SC of the steps, 0 to 1, high is good; None where any step has no valid judgement."""
    n_steps: int
    n_missing: int
    """Steps without a valid judgement; they are counted, never imputed."""


def step_consistency(scores: Scores) -> float:
    """SC of one step: min(editing success, overediting degree) / 10.

    Args:
        scores: The judge's two numbers, 0 to 10, high is good.

    Returns:
        SC_k, 0 to 1; high is good.

    Raises:
        MetricError: A number is not finite or outside 0 to 10.

    References:
        arXiv 2608.28802 (SC); Ku et al. (2024), VIEScore, arXiv 2312.14867.

    """
    for name, value in (("editing success", scores.success), ("overediting degree", scores.overediting)):
        if not (math.isfinite(value) and 0 <= value <= 10):
            raise MetricError(f"{name} is {value}, outside 0 to 10")
    return min(scores.success, scores.overediting) / 10


def session_consistency(steps: Sequence[Scores | None]) -> SessionConsistency:
    """SC of a session: the mean over its steps.

    Args:
        steps: The judge's numbers for each step in order; None where no valid answer was given.

    Returns:
        The mean, 0 to 1, high is good, and how many steps miss a judgement; one such step leaves the
        session without SC.

    Raises:
        MetricError: There is no step, or a number is not finite or outside 0 to 10.

    References:
        arXiv 2608.28802 (SC).

    """
    if not steps:
        raise MetricError("a session without steps has no semantic consistency")
    values = [step_consistency(scores) for scores in steps if scores is not None]
    missing = len(steps) - len(values)
    return SessionConsistency(
        value=None if missing else math.fsum(values) / len(values), n_steps=len(steps), n_missing=missing
    )
