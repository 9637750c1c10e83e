"""Semantic consistency (SC): did the edit follow its instruction and leave the rest alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from domain.errors import MetricError

Floats = NDArray[np.float64]


def step_consistency(success: Floats, overediting: Floats) -> Floats:
    """SC of steps: min(editing success, overediting degree) / 10.

    Args:
        success: The judge's number, 0 to 10, high is good, any shape; NaN = no valid judgement.
        overediting: Its other number, the same shape.

    Returns:
        SC_k, 0 to 1, the same shape; high is good; NaN where a number is missing.

    Raises:
        MetricError: A number is outside 0 to 10.

    References:
        arXiv 2608.28802 (SC); Ku et al. (2024), VIEScore, arXiv 2312.14867.

    """
    for name, values in (("editing success", success), ("overediting degree", overediting)):
        outside = (values < 0) | (values > 10)
        if outside.any():
            raise MetricError(f"{name} is {values[outside][0]}, outside 0 to 10")
    return np.minimum(success, overediting) / 10


def session_consistency(consistency: Floats, planned: NDArray[np.bool_]) -> Floats:
    """SC of sessions: the mean over their steps.

    Args:
        consistency: SC of the steps, shape `(sessions, steps)`; NaN where no valid answer was given.
        planned: Which steps a session has, the same shape.

    Returns:
        Shape `(sessions,)`, 0 to 1, high is good. NaN where any step misses a judgement: it is never
        imputed.

    Raises:
        MetricError: A session has no step.

    References:
        arXiv 2608.28802 (SC).

    """
    n_steps = np.count_nonzero(planned, axis=1)
    if (n_steps == 0).any():
        raise MetricError("a session without steps has no semantic consistency")
    return np.where(planned, consistency, 0.0).sum(axis=1) / n_steps
