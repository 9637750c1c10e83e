"""Outlines and the coordinates that they are in, on a face made of numbers."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from adapters.imaging import hats, palette, shapes
from adapters.imaging.bounded import Bounded
from adapters.imaging.frame import Canvas, Geometry, Points
from adapters.imaging.outlines import superellipse
from adapters.imaging.warp import drift_vectors, move

CANVAS = Canvas(scale=40)


def a_face(turn: float = 0.0) -> Geometry:
    """A symmetric face, 100 pixels between the eyes; `turn` moves the nose to the right."""
    points = np.zeros((106, 2))
    contour = [1, 9, 10, 11, 12, 13, 14, 15, 16, 2, 3, 4, 5, 6, 7, 8, 0]
    contour += [24, 23, 22, 21, 20, 19, 18, 32, 31, 30, 29, 28, 27, 26, 25, 17]
    angle = np.linspace(np.pi, 0, len(contour))
    points[contour] = np.stack([1.05 * np.cos(angle), -0.05 + 1.75 * np.sin(angle)], axis=1)
    points[33:43], points[87:97] = (-0.5, 0), (0.5, 0)
    points[43:52], points[97:106] = (-0.5, -0.3), (0.5, -0.3)
    points[72:87] = (turn, 0.6)
    points[52:72] = (0, 1.0)
    points[52], points[61] = (-0.42, 1.0), (0.42, 1.0)
    points[[63, 71, 67]], points[53] = (0, 0.92), (0, 1.15)
    return Geometry.of(points * 100 + 300)


def area(*outlines: Points) -> float:
    return float(CANVAS.mask(*outlines).sum()) / CANVAS.scale**2


def test_coordinates_undo_rotation_and_size() -> None:
    face = a_face()
    pixels = face.points @ face.axes.T + face.origin
    cos, sin = np.cos(0.4), np.sin(0.4)
    turned = Geometry.of(pixels @ np.array([[cos, sin], [-sin, cos]]) * 2.5 + 40)
    assert np.allclose(turned.points, face.points, atol=1e-9)
    assert turned.unit_px == pytest.approx(2.5 * face.unit_px)


def test_yaw_is_negative_to_the_viewers_left() -> None:
    assert a_face(-0.3).yaw < -0.15 < a_face().yaw < 0.15 < a_face(0.3).yaw
    assert a_face(0.3).mirrored(600).yaw == pytest.approx(-a_face(0.3).yaw)


def test_turning_moves_the_nose_and_not_the_corners() -> None:
    picture = np.zeros((600, 600, 3), np.uint8)
    picture[350:370, 290:310] = 255
    moved = move(picture, a_face(), 0.4, drift_vectors((), 0.1))
    assert np.nonzero(moved.any(-1))[1].mean() > 310
    assert np.array_equal(moved[:40], picture[:40])
    assert np.array_equal(move(picture, a_face(), 0.0, drift_vectors((), 0.1)), picture)


def test_drift_adds_up_and_stays_bounded() -> None:
    one, two = drift_vectors((5,), 0.01), drift_vectors((5, 6), 0.01)
    assert np.allclose(two - one, drift_vectors((6,), 0.01), atol=1e-7)
    assert np.abs(drift_vectors(range(64), 0.05)).max() <= 0.12 + 1e-6


def test_superellipse_lies_between_ellipse_and_box() -> None:
    assert area(superellipse((0, 0), (1, 0.5))) == pytest.approx(np.pi / 2, rel=0.05)
    assert area(superellipse((0, 0), (1, 0.5), 40)) == pytest.approx(2, rel=0.08)


def test_hats_are_six_different_shapes_in_six_colours() -> None:
    masks = {name: CANVAS.mask(*hats.hat(a_face(), name).values()) > 0.5 for name in hats.HATS}
    for one, other in combinations(hats.HATS, 2):
        overlap = (masks[one] & masks[other]).sum() / (masks[one] | masks[other]).sum()
        assert overlap < 0.85, (one, other)
        colors = [palette.lab_of(palette.HATS[name]["crown"]) for name in (one, other)]
        assert np.linalg.norm(colors[0] - colors[1]) > 20, (one, other)
    _, down = CANVAS.grid()
    for name, mask in masks.items():
        assert not (mask & (down > -0.05)).any() or name == "bucket hat", name


def test_lenses_sit_on_the_eyes_and_do_not_touch() -> None:
    for forms in shapes.LENSES.values():
        for form in forms:
            left, right = shapes.glasses(a_face(), form).lenses
            assert left[:, 0].max() < right[:, 0].min(), form
            assert np.allclose(left.mean(0), (-0.5, 0), atol=0.1), form


def test_facial_hair_leaves_lips_and_each_other_free() -> None:
    face = a_face()
    for category in shapes.BEARDS:
        mask = CANVAS.mask(*shapes.beard(face, category)) > 0.5
        across, down = CANVAS.grid()
        upper_lip = (np.abs(across) < 0.4) & (down > 0.65) & (down < 1.0)
        assert mask.any(), category
        assert not (mask & upper_lip).any(), category
    masks = [CANVAS.mask(*shapes.mustache(face, name)) > 0.5 for name in shapes.MUSTACHES]
    for one, other in combinations(masks, 2):
        assert (one & other).sum() / (one | other).sum() < 0.7


def test_hair_patterns_are_unlike_each_other() -> None:
    straight, curly = (
        light - dark
        for dark, light in (shapes.hair_pattern(n, CANVAS) for n in ("straight hair", "curly hair"))
    )
    assert abs(float((straight * curly).sum() / np.sqrt((straight**2).sum() * (curly**2).sum()))) < 0.1


def test_bounded_keeps_the_latest() -> None:
    made: list[str] = []
    kept: Bounded[str, int] = Bounded(2)

    def make(key: str) -> int:
        return kept.get(key, lambda: made.append(key) or len(made))

    assert [make(key) for key in "abacb"] == [1, 2, 1, 3, 4]
    assert made == ["a", "b", "c", "b"]
