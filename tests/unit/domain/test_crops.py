"""The square around a face, worked out by hand."""

from __future__ import annotations

import pytest
from builders import SHA

from domain.crops import Box, crop_box, largest_face
from domain.errors import PhotoError


def square(size: tuple[int, int], *boxes: Box) -> tuple[int, int, int]:
    found = crop_box("anna-1", SHA, size, boxes)
    return found.x, found.y, found.side


@pytest.mark.parametrize(
    ("size", "box", "expected"),
    [
        # 100 wide, 120 high: side 1.7 × 120 = 204; centre (450, 460 − 6) → corner (348, 352).
        ((1248, 832), (400, 400, 500, 520), (348, 352, 204)),
        # The wider side counts: 100 × 80 → 170; centre (450, 440 − 4) → (365, 351).
        ((1248, 832), (400, 400, 500, 480), (365, 351, 170)),
        # Left: centre 50 − 102 < 0 → 0. Right: corner 1198 − 102 = 1096 > 1248 − 204 = 1044.
        ((1248, 832), (0, 400, 100, 520), (0, 352, 204)),
        ((1248, 832), (1148, 400, 1248, 520), (1044, 352, 204)),
        # Top: 54 − 102 < 0 → 0. Bottom: centre 772 − 6, corner 664 > 832 − 204 = 628.
        ((1248, 832), (400, 0, 500, 120), (348, 0, 204)),
        ((1248, 832), (400, 712, 500, 832), (348, 628, 204)),
        # Two corners.
        ((1248, 832), (0, 0, 100, 120), (0, 0, 204)),
        ((1248, 832), (1148, 712, 1248, 832), (1044, 628, 204)),
        # A face of 600 in a photo of 1024 × 832: side 1020 is higher than the photo, not wider. Across it
        # is shifted inside (centre 300 − 510 → 0); down it must hold rows 0–832, so its corner is in
        # −188…0; the centre 400 − 30 = 370 asks for −140, which is there.
        ((1024, 832), (0, 100, 600, 700), (0, -140, 1020)),
        # The same further up: 300 − 30 − 510 = −240 is shifted to −188. Further down: 50 → 0.
        ((1024, 832), (0, 0, 600, 600), (0, -188, 1020)),
        ((1024, 832), (0, 232, 600, 832), (0, -8, 1020)),
        # Exactly as large as the photo.
        ((170, 170), (10, 10, 110, 110), (0, 0, 170)),
        # Rounding, halves up: 1.7 × 25 = 42.5 → 43; corners 112.5 − 21.5 = 91 and 111.25 − 21.5 = 89.75.
        ((400, 400), (100, 100, 125, 125), (91, 90, 43)),
        # 1.7 × 10 = 17; corners 105 − 8.5 = 96.5 → 97 and 104.5 − 8.5 = 96.
        ((400, 400), (100, 100, 110, 110), (97, 96, 17)),
        # A face that reaches outside of the photo, as detectors return them.
        ((400, 400), (-20, -20, 30, 40), (0, 0, 102)),
    ],
)
def test_the_square_of_a_face(size: tuple[int, int], box: Box, expected: tuple[int, int, int]) -> None:
    assert square(size, box) == expected


def test_the_largest_face_by_area_wins_and_ties_go_left_then_up() -> None:
    small, large = (0.0, 0.0, 90.0, 100.0), (200.0, 200.0, 300.0, 300.0)
    assert largest_face([small, large]) == large
    assert largest_face([(50, 0, 60, 10), (20, 5, 30, 15), (20, 0, 30, 10)]) == (20, 0, 30, 10)
    assert largest_face([(0, 0, 100, 20), (200, 0, 250, 50)]) == (200, 0, 250, 50)  # 2000 < 2500
    assert square((1248, 832), small, large) == square((1248, 832), large)
    assert crop_box("anna-1", SHA, (1248, 832), [small, large]).face == large


@pytest.mark.parametrize("boxes", [[], [(10, 10, 10, 30)], [(30, 10, 20, 30)]])
def test_without_a_face_there_is_no_square(boxes: list[Box]) -> None:
    with pytest.raises(PhotoError, match="no face") as raised:
        largest_face(boxes)
    assert raised.value.reason == "no_face"
