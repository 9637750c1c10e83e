from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import MetricError
from metrics import similarity
from metrics.similarity import cosine_to_references

EXACT = pytest.approx


def row(values):
    """One session; None = no face."""
    return np.array([[math.nan if value is None else value for value in values]])


def counted_fss(fss, no_face="zero"):
    held = row(fss)
    (found,) = similarity.counted_fss(held, np.ones(held.shape, dtype=bool), no_face).tolist()
    return [None if math.isnan(value) else value for value in found]


def drop_fss(fss0, fss, no_face="zero", floor=0.0):
    held = row(fss)
    counted = similarity.counted_fss(held, np.ones(held.shape, dtype=bool), no_face)
    value = similarity.drop_fss(np.array([fss0]), counted, floor).item()
    return None if math.isnan(value) else value


def test_fss_is_the_largest_cosine():
    # (3, 4) against (1, 0): 3/5; against (0, 2): 4/5.
    found = cosine_to_references(np.array([3.0, 4.0]), np.array([[1.0, 0.0], [0.0, 2.0]]))
    assert found == EXACT(0.8, abs=1e-12)


def test_fss_can_be_negative():
    assert cosine_to_references(np.array([1.0, 0.0]), np.array([[-2.0, 0.0]])) == -1.0


@given(st.integers(0, 2**32 - 1), st.sampled_from([1e-160, 1e-30, 1.0, 1e30, 1e160]))
def test_a_face_is_itself_at_any_scale(seed, scale):
    face = np.random.default_rng(seed).normal(size=512)
    assert cosine_to_references(face * scale, face[np.newaxis, :]) == EXACT(1.0, abs=1e-5)
    single = face.astype(np.float32)
    assert cosine_to_references(single, single[np.newaxis, :]) == EXACT(1.0, abs=1e-5)


@given(st.integers(0, 2**32 - 1))
def test_order_and_copies_of_references_do_not_matter(seed):
    rng = np.random.default_rng(seed)
    face, others = rng.normal(size=16), rng.normal(size=(5, 16))
    found = cosine_to_references(face, others)
    assert cosine_to_references(face, others[rng.permutation(5)]) == EXACT(found, abs=1e-12)
    assert cosine_to_references(face, np.vstack([others, others])) == EXACT(found, abs=1e-12)
    assert -1.0 <= found <= 1.0


@pytest.mark.parametrize(
    ("face", "others", "message"),
    [
        ([0.0, 0.0], [[1.0, 0.0]], "embedding 0 is zero or not finite"),
        ([math.nan, 0.0], [[1.0, 0.0]], "embedding 0"),
        ([1.0, 0.0], [[1.0, 0.0], [0.0, 0.0]], "reference 1"),
        ([1.0, 0.0], [[math.inf, 0.0]], "reference 0"),
        ([1.0, 0.0], np.zeros((0, 2)), "no reference photo"),
        ([1.0, 0.0], [[1.0, 0.0, 0.0]], r"not \(d,\) and \(r, d\)"),
        ([[1.0, 0.0]], [[1.0, 0.0]], r"not \(d,\) and \(r, d\)"),
        ([1.0, 0.0], [1.0, 0.0], r"not \(d,\) and \(r, d\)"),
        (np.zeros(0), np.zeros((1, 0)), "reference 0"),
    ],
)
def test_embeddings_without_a_cosine_raise(face, others, message):
    with pytest.raises(MetricError, match=message):
        cosine_to_references(np.array(face), np.array(others))


def test_drop_is_the_mean_of_the_steps():
    # (0.8 - 0.6, 0.8 - 0.4, 0.8 - 0.8, 0.8 - 0.2) / 0.8 = 25, 50, 0, 75 %; mean 37.5.
    assert drop_fss(0.8, [0.6, 0.4, 0.8, 0.2]) == EXACT(37.5, abs=1e-12)


def test_negative_fss_is_clipped_and_negative_drop_is_kept():
    assert drop_fss(0.8, [-0.4]) == 100.0
    # (0.8 - 1.0) / 0.8 = -25 %.
    assert drop_fss(0.8, [1.0]) == EXACT(-25.0, abs=1e-12)


@pytest.mark.parametrize(
    ("fss", "no_face", "expected"),
    [
        ([0.6, None], "zero", 62.5),  # (25 + 100) / 2
        ([0.6, None], "skip", 25.0),
        ([0.6, None], "exclude", None),
        ([0.6, 0.6], "exclude", 25.0),
        ([None, None], "zero", 100.0),
        ([None, None], "skip", None),
    ],
)
def test_a_step_without_a_face(fss, no_face, expected):
    found = drop_fss(0.8, fss, no_face)
    assert found == (None if expected is None else EXACT(expected, abs=1e-12))


def test_counted_fss_applies_both_rules():
    assert counted_fss([0.6, None, -0.1]) == [0.6, 0.0, 0.0]
    assert counted_fss([0.6, None], "skip") == [0.6, None]
    assert counted_fss([0.6, None], "exclude") == [None, None]


def test_steps_that_a_shorter_session_does_not_have_do_not_count():
    fss, planned = row([0.6, None, 0.2]), np.array([[True, False, False]])
    for rule in ("zero", "skip", "exclude"):
        assert similarity.counted_fss(fss, planned, rule)[0, 0] == 0.6
        assert np.isnan(similarity.counted_fss(fss, planned, rule)[0, 1:]).all()


@pytest.mark.parametrize("fss0", [0.0, -0.2, math.nan])
def test_a_base_photo_without_similarity_has_no_drop(fss0):
    assert drop_fss(fss0, [0.5]) is None


def test_shapes_that_do_not_fit_and_infinities_raise():
    with pytest.raises(MetricError, match="do not fit"):
        similarity.drop_fss(np.array([0.8, 0.8]), np.array([[0.5]]))
    with pytest.raises(MetricError, match="but steps"):
        similarity.counted_fss(np.array([[0.5]]), np.ones((1, 2), dtype=bool))
    with pytest.raises(MetricError, match="FSS of step 2 of session 0 is inf"):
        drop_fss(0.8, [0.5, math.inf])


def test_floor_normalised_drop():
    # Floor 0.2: (0.8 - 0.5) / 0.6 = 50 %; a stranger (0.2) is at 100 %; no face 0.8 / 0.6 = 133.33 %.
    assert drop_fss(0.8, [0.5], floor=0.2) == EXACT(50.0, abs=1e-12)
    assert drop_fss(0.8, [0.2], floor=0.2) == EXACT(100.0, abs=1e-12)
    assert drop_fss(0.8, [None], floor=0.2) == EXACT(400 / 3, abs=1e-12)
    assert drop_fss(0.8, [None], "skip", 0.2) is None


def test_a_floor_that_is_not_below_the_base_photo_leaves_no_drop():
    assert drop_fss(0.8, [0.5], floor=0.8) is None
    assert drop_fss(0.8, [0.5], floor=0.9) is None
    assert drop_fss(-0.1, [0.5], floor=-0.5) is None
    with pytest.raises(MetricError, match="floor is nan"):
        drop_fss(0.8, [0.5], floor=math.nan)


@given(
    st.floats(0.05, 1.0),
    st.lists(st.one_of(st.none(), st.floats(-1.0, 1.0)), min_size=1, max_size=4),
    st.randoms(),
)
def test_drop_is_at_most_100_and_free_of_step_order(fss0, fss, random):
    shuffled = list(fss)
    random.shuffle(shuffled)
    found = drop_fss(fss0, fss)
    assert found is not None
    assert found <= 100
    assert drop_fss(fss0, shuffled) == EXACT(found, rel=1e-12, abs=1e-9)
