from __future__ import annotations

import numpy as np
import pytest

from domain.errors import MetricError
from metrics.near_duplicates import near_duplicates
from metrics.similarity import cosines


def at(degrees: float) -> list[float]:
    return [np.cos(np.radians(degrees)), np.sin(np.radians(degrees))]


BASE = np.array(at(0))


def test_a_cosine_above_the_bound_or_an_equal_hash():
    references = np.array([at(10), at(60), at(60), at(18.19), at(18.2)])  # cos 18.195° = 0.95
    found = near_duplicates(BASE, references, "f0", ["00", "f0", "0f", None, None])
    assert found.tolist() == [True, True, False, True, False]


def test_an_unknown_hash_equals_nothing():
    assert near_duplicates(BASE, np.array([at(60)]), None, [None]).tolist() == [False]


def test_the_bound_itself_is_not_above():
    assert near_duplicates(BASE, np.array([BASE]), None, [None], above=1.0).tolist() == [False]


def test_no_references():
    assert near_duplicates(BASE, np.zeros((0, 2)), "f0", []).shape == (0,)


@pytest.mark.parametrize(
    ("references", "hashes"),
    [(np.zeros((1, 2)), [None]), (np.ones((2, 2)), [None]), (np.ones(2), [None, None])],
)
def test_what_does_not_fit(references: np.ndarray, hashes: list[str | None]):
    with pytest.raises(MetricError):
        near_duplicates(BASE, references, None, hashes)


def test_cosines_know_no_scale():
    found = cosines(BASE * 1e-200, np.array([at(60), at(180)]) * 1e200)
    assert found == pytest.approx([0.5, -1.0])
