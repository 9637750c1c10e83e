"""Moving the pixels of a face: turning the head, and the slow loss of likeness.

Displacements are smooth functions in the face's coordinates, so that whatever is worn moves along.
"""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np

from adapters.imaging.frame import Geometry, Image, Plane, Points

TURNED = 0.31
"""The yaw (see `Geometry.yaw`) of a head that was told to look left (negative) or right."""
TURNED_FROM = 0.17
"""Heads beyond this yaw look left or right, heads within it straight ahead."""
_YAW_PER_TURN = 0.45
"""Yaw gained a unit of turn, measured on frontal faces."""
_MOST_TURN = 0.95
_STEP_PX = 8
_FEATURES = (
    (-0.5, 0.0, 0.32), (0.5, 0.0, 0.32), (-0.5, -0.35, 0.30), (0.5, -0.35, 0.30), (0.0, 0.55, 0.30),
    (-0.3, 1.0, 0.28), (0.3, 1.0, 0.28), (0.0, 1.55, 0.40), (-0.85, 0.9, 0.40), (0.85, 0.9, 0.40),
)  # fmt: skip
"""x, y and radius of what drifts: eyes, brows, nose, corners of the mouth, chin and cheeks."""


def turn_to(geometry: Geometry, target: float) -> float:
    """The turn that brings a head to a yaw, limited to what can be warped."""
    return float(np.clip((target - geometry.yaw) / _YAW_PER_TURN, -_MOST_TURN, _MOST_TURN))


def drift_vectors(seeds: Sequence[int], strength: float) -> Plane:
    """The displacement of each feature after some steps: one seeded push a step, added up."""
    total = np.zeros((len(_FEATURES), 2), np.float32)
    for seed in seeds:
        total += np.random.default_rng(seed).normal(0, strength, total.shape).astype(np.float32)
    return np.clip(total, -0.12, 0.12)


def move(rgb: Image, geometry: Geometry, turn: float, drift: Plane) -> Image:
    """The photo with the head turned and its features displaced."""
    if turn == 0 and not drift.any():
        return rgb
    height, width = rgb.shape[:2]
    columns = np.arange(0, width + _STEP_PX, _STEP_PX, dtype=np.float64)
    rows = np.arange(0, height + _STEP_PX, _STEP_PX, dtype=np.float64)
    pixels = np.stack(np.meshgrid(columns, rows), axis=-1)
    places = (pixels - geometry.origin) @ np.linalg.inv(geometry.axes).T
    moved = pixels - _displacement(places, turn, drift) @ geometry.axes.T
    across, down = (_fine(moved[..., i].astype(np.float32), width, height) for i in (0, 1))
    out = cv2.remap(rgb, across, down, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    return out.astype(np.uint8, copy=False)


def _fine(coarse: Plane, width: int, height: int) -> Plane:
    # warpAffine and not resize, which would place the samples at cell centres.
    matrix = np.array([[1 / _STEP_PX, 0, 0], [0, 1 / _STEP_PX, 0]])
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    return np.asarray(cv2.warpAffine(coarse, matrix, (width, height), flags=flags), np.float32)


def _displacement(places: Points, turn: float, drift: Plane) -> Plane:
    x, y = places[..., 0], places[..., 1]
    out = np.zeros(places.shape, np.float32)
    if turn:
        head = np.clip(1 - (x / 1.35) ** 2 - ((y - 0.35) / 2.3) ** 2, 0, None)
        nose = np.exp(-((x / 0.42) ** 2) - ((y - 0.5) / 0.55) ** 2)
        out[..., 0] += turn * (0.68 * head + 0.32 * nose)
    for (cx, cy, radius), push in zip(_FEATURES, drift, strict=True):
        out += np.exp(-((x - cx) ** 2 + (y - cy) ** 2) / (2 * radius**2))[..., None] * push
    return out


def soften(rgb: Image, geometry: Geometry, share: float) -> Image:
    """The photo with a share (0 to 1) of the fine detail of the face gone."""
    if share <= 0:
        return rgb
    height, width = rgb.shape[:2]
    reach = geometry.axes @ np.array([1.5, 2.3])
    middle = geometry.origin + geometry.axes @ np.array([0, 0.5])
    half = int(max(abs(reach[0]), abs(reach[1]))) + 1
    x0, y0 = max(0, int(middle[0]) - half), max(0, int(middle[1]) - half)
    x1, y1 = min(width, int(middle[0]) + half), min(height, int(middle[1]) + half)
    if x0 >= x1 or y0 >= y1:
        return rgb
    part = rgb[y0:y1, x0:x1]
    smooth = cv2.GaussianBlur(part, (0, 0), max(0.045 * geometry.unit_px, 0.5))
    columns, rows = np.arange(x0, x1, dtype=np.float64), np.arange(y0, y1, dtype=np.float64)
    pixels = np.stack(np.meshgrid(columns, rows), axis=-1)
    places = (pixels - geometry.origin) @ np.linalg.inv(geometry.axes).T
    oval = 1 - (places[..., 0] / 1.1) ** 2 - ((places[..., 1] - 0.5) / 1.5) ** 2
    weight = (np.clip(oval * 3, 0, 1) * share)[..., None].astype(np.float32)
    out = rgb.copy()
    out[y0:y1, x0:x1] = (part * (1 - weight) + smooth * weight + 0.5).astype(np.uint8)
    return out
