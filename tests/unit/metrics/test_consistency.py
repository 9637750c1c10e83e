from __future__ import annotations

import math

import numpy as np
import pytest

from domain.errors import MetricError
from metrics.consistency import session_consistency, step_consistency

NAN = math.nan


def steps(*scores):
    return step_consistency(*np.array(scores, dtype=float).T)[np.newaxis]


def all_planned(values):
    return np.ones(values.shape, dtype=bool)


@pytest.mark.parametrize(
    ("success", "overediting", "expected"), [(8, 9, 0.8), (10, 3, 0.3), (0, 10, 0), (10, 10, 1)]
)
def test_the_worse_of_the_two_numbers(success, overediting, expected):
    assert steps((success, overediting)).item() == pytest.approx(expected, abs=1e-12)


def test_a_session_is_the_mean_of_its_steps():
    # (0.8 + 0.3 + 0 + 1) / 4 = 0.525
    found = steps((8, 9), (10, 3), (0, 10), (10, 10))
    assert session_consistency(found, all_planned(found)).item() == pytest.approx(0.525, abs=1e-12)


def test_a_missing_step_is_never_imputed():
    found = steps((8, 9), (NAN, NAN))
    assert math.isnan(session_consistency(found, all_planned(found)).item())


def test_a_step_that_was_not_planned_misses_nothing():
    found = session_consistency(steps((8, 9), (NAN, NAN)), np.array([[True, False]]))
    assert found.item() == pytest.approx(0.8, abs=1e-12)


def test_no_step_raises():
    with pytest.raises(MetricError, match="without steps"):
        session_consistency(np.zeros((1, 0)), np.zeros((1, 0), dtype=bool))


@pytest.mark.parametrize("value", [-0.1, 10.1, math.inf])
def test_scores_outside_0_to_10_raise(value):
    with pytest.raises(MetricError, match="editing success"):
        steps((value, 5))
    with pytest.raises(MetricError, match="overediting degree"):
        steps((5, value))
