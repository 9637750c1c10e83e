"""Face size and view at their limits."""

from __future__ import annotations

import pytest

from metrics.photo_dimensions import face_share, face_size, view_of


@pytest.mark.parametrize(
    ("share", "expected"),
    [
        (0.10, "small"),
        (0.1499, "small"),
        (0.15, "medium"),
        (0.2499, "medium"),
        (0.25, "large"),
        (0.9, "large"),
    ],
)
def test_face_sizes(share: float, expected: str):
    assert face_size(share) == expected


def test_the_share_is_that_of_the_height():
    assert face_share((0, 100, 400, 225), 1000) == 0.125


@pytest.mark.parametrize(
    ("top", "face", "expected"),
    [
        (100, 300, "half"),  # 900 / 300 = 3
        (101, 300, "close"),
        (400, 100, "full"),  # 600 / 100 = 6
        (401, 100, "half"),
        (0, 90, "full"),
    ],
)
def test_views_by_the_faces_that_fit_below_the_top_of_one(top: int, face: int, expected: str):
    assert view_of((0, top, 200, top + face), 1000) == expected
