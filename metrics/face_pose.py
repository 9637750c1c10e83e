"""How far a face is turned, from five landmarks.

A solid model is turned, scaled and shifted, without perspective, so that it fits the landmarks best (POS, the
first step of DeMenthon and Davis, "Model-Based Object Pose in 25 Lines of Code", IJCV 15, 1995). Across and
down the model is the mean frontal face to which ArcFace aligns (Deng et al., 2019; insightface's
`arcface_dst`), so a face like it has yaw and pitch 0. In depth the tip of the nose is 15 of the model's units
ahead of the eyes, which are 35 apart (27 mm of 63), and the corners of the mouth are nearly level with them.

Yaw is right to about 10°. Pitch is coarser: a smile draws the corners of the mouth up, and looks like a face
that is lowered by 10° to 15°.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

VERSION = "1"
"""Of the model."""
MODEL: npt.NDArray[np.float64] = np.array(
    [
        [38.2946, 51.6963, 0.0],
        [73.5318, 51.5014, 0.0],
        [56.0252, 71.7366, 15.0],
        [41.5493, 92.3655, 1.0],
        [70.7299, 92.2041, 1.0],
    ]
)
"""(5, 3): eyes, nose, corners of the mouth, the viewer's left first; x is right, y down, z to the viewer."""


@dataclass(frozen=True)
class FacePose:
    """Angles in degrees; 0 is a face that looks into the camera.

    A face is thought of as turned first (yaw), then nodded (pitch), then leant (roll).
    """

    yaw_deg: float
    """Positive when the face looks to the viewer's right."""
    pitch_deg: float
    """Positive when it looks up."""
    roll_deg: float
    """Positive when its top leans to the viewer's right; a leaning face is still frontal."""


def face_pose(keypoints: Sequence[tuple[float, float]] | npt.NDArray[np.float64]) -> FacePose | None:
    """The pose of a face.

    Args:
        keypoints: (5, 2), in pixels, in the order of `MODEL`.

    Returns:
        None where the points lie on one line or on one another, so that nothing can be told.

    Raises:
        ValueError: there are not five points.
    """
    seen = np.asarray(keypoints, np.float64)
    if seen.shape != (5, 2):
        raise ValueError(f"a face has 5 landmarks of x and y, not {seen.shape}")
    model = MODEL - MODEL.mean(axis=0)
    fitted = np.asarray(np.linalg.lstsq(model, seen - seen.mean(axis=0), rcond=None)[0], np.float64).T
    left, sizes, right = np.linalg.svd(fitted, full_matrices=False)
    if not np.isfinite(sizes).all() or sizes[1] <= 1e-3 * max(sizes[0], 1e-12):
        return None
    across, down = left @ right
    ahead = np.cross(across, down)
    yaw = np.arctan2(-ahead[0], ahead[2])
    level = np.array([np.cos(yaw), 0.0, np.sin(yaw)])
    return FacePose(
        yaw_deg=float(np.degrees(yaw)),
        pitch_deg=float(np.degrees(np.arctan2(ahead[1], np.hypot(ahead[0], ahead[2])))),
        roll_deg=float(np.degrees(np.arctan2(down @ level, across @ level))),
    )
