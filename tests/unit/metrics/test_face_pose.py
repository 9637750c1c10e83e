"""Poses of a face that was turned by known angles, and of points that are no face."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from metrics.face_pose import MODEL, face_pose


def turned(yaw_deg: float, pitch_deg: float, roll_deg: float) -> npt.NDArray[np.float64]:
    """The model as a camera far away sees it: nodded, then turned, then leant."""
    yaw, pitch, roll = np.radians([yaw_deg, pitch_deg, roll_deg])
    nod = [[1, 0, 0], [0, np.cos(pitch), -np.sin(pitch)], [0, np.sin(pitch), np.cos(pitch)]]
    turn = [[np.cos(yaw), 0, np.sin(yaw)], [0, 1, 0], [-np.sin(yaw), 0, np.cos(yaw)]]
    lean = [[np.cos(roll), -np.sin(roll), 0], [np.sin(roll), np.cos(roll), 0], [0, 0, 1]]
    return (MODEL @ np.array(lean @ np.array(nod) @ np.array(turn)).T)[:, :2]


@pytest.mark.parametrize("yaw", [-60, -40, -15, 0, 15, 40, 60])
@pytest.mark.parametrize("roll", [-30, 0, 30])
@pytest.mark.parametrize(("scale", "shift"), [(1.0, 0.0), (0.1, 900.0), (12.5, -40.0)])
def test_a_turn_is_found_whatever_the_size_place_and_lean(
    yaw: float, roll: float, scale: float, shift: float
):
    pose = face_pose(turned(yaw, 0, roll) * scale + shift)
    assert pose is not None
    assert pose.yaw_deg == pytest.approx(yaw, abs=1e-6)
    assert pose.pitch_deg == pytest.approx(0, abs=1e-6)
    assert pose.roll_deg == pytest.approx(roll, abs=1e-6)


@pytest.mark.parametrize("pitch", [-50, -20, 0, 20, 50])
def test_a_nod_is_found(pitch: float):
    pose = face_pose(turned(0, pitch, 0))
    assert pose is not None
    assert (pose.yaw_deg, pose.pitch_deg) == pytest.approx((0, pitch), abs=1e-6)


def test_which_way_is_positive():
    """The nose nearer to the right eye looks right; nearer to the eyes looks up."""
    seen = MODEL[:, :2].copy()
    seen[2, 0] += 8
    right = face_pose(seen)
    seen = MODEL[:, :2].copy()
    seen[2, 1] -= 8
    up = face_pose(seen)
    assert right is not None
    assert up is not None
    assert right.yaw_deg > 15
    assert up.pitch_deg > 15


def test_a_nose_off_the_middle_by_the_tangent_of_the_angle():
    """By hand: only the nose is ahead of the eyes, by 15; turned by 30° it moves by 15 · tan 30° = 8.66."""
    pose = face_pose(turned(30, 0, 0))
    assert pose is not None
    seen = turned(30, 0, 0)
    eyes, nose = seen[:2].mean(axis=0), seen[2]
    apart = seen[1, 0] - seen[0, 0]
    flat = face_pose(MODEL[:, :2])
    assert flat is not None
    expected = (MODEL[2, 0] - MODEL[:2, 0].mean()) / 35.2372 + 15 * np.tan(np.radians(30)) / 35.2372
    assert (nose[0] - eyes[0]) / apart == pytest.approx(expected, abs=1e-3)
    assert flat.yaw_deg == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("points", [np.zeros((5, 2)), np.outer(np.arange(5.0), [1.0, 2.0])])
def test_points_on_a_line_have_no_pose(points: npt.NDArray[np.float64]):
    assert face_pose(points) is None


def test_five_points_are_needed():
    with pytest.raises(ValueError, match="5 landmarks"):
        face_pose(np.zeros((4, 2)))
