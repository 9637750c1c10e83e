from __future__ import annotations

import numpy as np
import pytest

from domain.errors import MetricError
from metrics.floors import fss_floor

X, Y, Z = np.eye(3, dtype=np.float32)
XY = ((X + Y) / np.sqrt(2)).astype(np.float32)


def test_a_photo_is_compared_with_everyone_but_its_own_person():
    references = {"a": np.stack([X]), "b": np.stack([Y, XY]), "c": np.stack([Z])}
    found = fss_floor([("a", X), ("b", XY)], references)
    assert found is not None
    # a's photo: best of b is cos 45 degrees, c is 0; b's photo: a is cos 45 degrees, c is 0.
    assert found.value == pytest.approx((np.sqrt(0.5) + 0 + np.sqrt(0.5) + 0) / 4)
    assert (found.n_photos, found.n_pairs) == (2, 4)


def test_one_person_alone_has_no_floor():
    assert fss_floor([("a", X)], {"a": np.stack([X, Y])}) is None
    assert fss_floor([], {"a": np.stack([X])}) is None
    assert fss_floor([("a", X)], {}) is None


def test_what_is_not_finite_or_not_there_is_an_error():
    with pytest.raises(MetricError, match="not finite"):
        fss_floor([("a", X * np.nan)], {"b": np.stack([X])})
    with pytest.raises(MetricError, match="without reference"):
        fss_floor([("a", X)], {"b": np.empty((0, 3), np.float32)})
