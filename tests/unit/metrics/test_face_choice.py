from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import MetricError
from metrics.face_choice import choose_face

SIZE = (100, 100)
BASE = (40, 40, 60, 60)


def test_the_face_that_overlaps_the_base_face_most():
    # Overlap with BASE: 10 x 20 / (400 + 400 - 200) = 1/3; 20 x 20 / (900 + 400 - 400) = 4/9.
    boxes = np.array([[50, 40, 70, 60], [35, 35, 65, 65]])
    assert choose_face(boxes, SIZE, BASE, SIZE) == 1


def test_overlap_wins_over_size():
    assert choose_face(np.array([[0, 0, 39, 100], [55, 55, 65, 65]]), SIZE, BASE, SIZE) == 1


def test_without_overlap_the_largest():
    assert choose_face(np.array([[0, 0, 10, 10], [70, 70, 95, 95], [0, 80, 5, 90]]), SIZE, BASE, SIZE) == 1


def test_the_base_box_is_scaled_to_the_image():
    # The base face is at (80..120)/200 x (80..120)/400: in a 100 x 100 image at x 40..60, y 20..30.
    boxes = np.array([[40, 40, 60, 60], [40, 20, 60, 30]])
    assert choose_face(boxes, SIZE, (80, 80, 120, 120), (200, 400)) == 1


@pytest.mark.parametrize("boxes", [np.zeros((0, 4)), np.array([])])
def test_no_box(boxes):
    assert choose_face(boxes, SIZE, BASE, SIZE) is None


def test_ties_go_to_the_larger_then_to_the_left_then_up():
    equal = np.array([[80, 0, 90, 10], [0, 10, 10, 20], [0, 0, 10, 10]])
    assert choose_face(equal, SIZE, BASE, SIZE) == 2
    # Each shares 1/4 of its union with BASE: 100 / 400 inside it, and 1600 around it 400 / 1600.
    same_overlap = np.array([[45, 45, 55, 55], [30, 30, 70, 70]])
    assert choose_face(same_overlap, SIZE, BASE, SIZE) == 1


def test_a_box_without_area_overlaps_nothing():
    assert choose_face(np.array([[50, 50, 50, 50], [0, 0, 9, 9]]), SIZE, BASE, SIZE) == 1
    assert choose_face(np.array([[50, 50, 50, 50]]), SIZE, (50, 50, 50, 50), SIZE) == 0


corner = st.integers(0, 80)
side = st.integers(1, 20)
box = st.tuples(corner, corner, side, side).map(lambda b: (b[0], b[1], b[0] + b[2], b[1] + b[3]))


@given(st.lists(box, min_size=1, max_size=6), box, st.randoms())
def test_order_of_detection_does_not_matter(boxes, base, random):
    shuffled = list(boxes)
    random.shuffle(shuffled)
    first = choose_face(np.array(boxes), SIZE, base, SIZE)
    second = choose_face(np.array(shuffled), SIZE, base, SIZE)
    assert boxes[first] == shuffled[second]
    assert boxes[choose_face(np.array(boxes + boxes), SIZE, base, SIZE)] == boxes[first]


@given(st.lists(box, min_size=1, max_size=6), box, st.integers(1, 9), st.integers(1, 9), st.integers(1, 9))
def test_scaling_the_image_does_not_matter(boxes, base, across, down, base_scale):
    scaled = np.array(boxes) * (across, down, across, down)
    found = choose_face(
        scaled, (100 * across, 100 * down), np.array(base) * base_scale, (100 * base_scale,) * 2
    )
    assert boxes[found] == boxes[choose_face(np.array(boxes), SIZE, base, SIZE)]


@pytest.mark.parametrize(
    ("boxes", "size", "base", "message"),
    [
        ([[0, 0, 1]], SIZE, BASE, r"shape \(1, 3\)"),
        ([0, 0, 1, 1], SIZE, BASE, r"shape \(4,\)"),
        ([[5, 0, 1, 1]], SIZE, BASE, "inside out"),
        ([[0, 5, 1, 1]], SIZE, BASE, "inside out"),
        ([[0, 0, math.nan, 1]], SIZE, BASE, "not finite"),
        ([[0, 0, 1, 1]], (0, 100), BASE, "not a width"),
        ([[0, 0, 1, 1]], (100, math.inf), BASE, "not a width"),
        ([[0, 0, 1, 1]], SIZE, (1, 2, 3), r"shape \(1, 3\)"),
        ([[0, 0, 1, 1]], SIZE, (5, 0, 1, 1), "inside out"),
    ],
)
def test_malformed_input_raises(boxes, size, base, message):
    with pytest.raises(MetricError, match=message):
        choose_face(np.array(boxes, dtype=float), size, base, SIZE)
