from __future__ import annotations

import math

import pytest

from domain.errors import MetricError
from domain.judging import Scores
from metrics.consistency import SessionConsistency, session_consistency, step_consistency


@pytest.mark.parametrize(
    ("success", "overediting", "expected"), [(8, 9, 0.8), (10, 3, 0.3), (0, 10, 0), (10, 10, 1)]
)
def test_the_worse_of_the_two_numbers(success, overediting, expected):
    assert step_consistency(Scores(success, overediting)) == pytest.approx(expected, abs=1e-12)


def test_a_session_is_the_mean_of_its_steps():
    # (0.8 + 0.3 + 0 + 1) / 4 = 0.525
    found = session_consistency([Scores(8, 9), Scores(10, 3), Scores(0, 10), Scores(10, 10)])
    assert found == SessionConsistency(value=pytest.approx(0.525, abs=1e-12), n_steps=4, n_missing=0)


def test_a_missing_step_is_counted_and_never_imputed():
    assert session_consistency([Scores(8, 9), None]) == SessionConsistency(None, n_steps=2, n_missing=1)
    assert session_consistency([None]) == SessionConsistency(None, n_steps=1, n_missing=1)


def test_no_step_raises():
    with pytest.raises(MetricError, match="without steps"):
        session_consistency([])


@pytest.mark.parametrize("value", [-0.1, 10.1, math.nan, math.inf])
def test_scores_outside_0_to_10_raise(value):
    with pytest.raises(MetricError, match="editing success"):
        step_consistency(Scores(value, 5))
    with pytest.raises(MetricError, match="overediting degree"):
        session_consistency([Scores(5, value)])
