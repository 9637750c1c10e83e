"""The clothes of one person: where they are below the face, and giving them another colour.

No weights: the body is taken to hang straight down from the chin, as wide as bodies are beside their faces,
and within it what has the colours of the chest is cloth.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import cv2
import numpy as np
from numpy.typing import NDArray

from adapters.imaging import palette
from adapters.imaging.frame import Face, Image, Plane, largest
from adapters.imaging.scene_finding import Found
from adapters.imaging.scene_items import Mask
from adapters.imaging.scene_prompts import COLOURS

_BODY = ((-0.9, 0.1), (-2.9, 1.0), (-3.7, 4.5), (-3.7, 12), (3.7, 12), (3.7, 4.5), (2.9, 1.0), (0.9, 0.1))
_CHEST = ((-1.0, 1.1), (-1.9, 1.7), (-1.9, 4.2), (1.9, 4.2), (1.9, 1.7), (1.0, 1.1))
"""Corners from the chin, in face units."""
_LEAST_CHEST = 0.004
"""Share of the picture that the chest must take to be called visible."""
_FACE = np.array([0.58, 0.62])
"""Half axes of what is kept free around a face, in widths and heights of its box."""
_SHADE = 0.25
"""What a difference in lightness counts against one in hue: arms have shadows."""
_UNLIKE_SKIN = 12.0, 8.0
"""Distances in L*a*b* from the skin: what is nearer than the first is none of the clothes; softness."""
_COARSE_PX = 320
_LEAST_CLOTH = 0.6
"""Share of the chest that is coloured at least; where less is found, all of the chest is."""
_KEPT_HUE = 0.12
"""Share of the old differences in hue that remains."""


@dataclass(frozen=True)
class Body:
    """Where clothes can be, without faces and drawn things."""

    whole: Mask
    chest: Mask
    cheeks: tuple[slice, slice]
    """Where skin is seen: rows and columns in the middle of the face."""


def body_below(shape: tuple[int, ...], faces: Sequence[Face], things: Sequence[Found]) -> Body | None:
    """The body below the largest face, or None where its chest is not in the picture."""
    geometry = largest(faces)
    if geometry is None:
        return None
    chin = geometry.chin @ geometry.axes.T + geometry.origin
    taken = np.zeros(shape[:2], np.uint8)
    for face in faces:
        middle, half = (face.box[2:] + face.box[:2]) / 2, (face.box[2:] - face.box[:2]) * _FACE
        axes = max(1, round(float(half[0]))), max(1, round(float(half[1])))
        cv2.ellipse(taken, (int(middle[0]), int(middle[1])), axes, 0, 0, 360, (1,), cv2.FILLED)
    for x0, y0, x1, y1 in (thing.box for thing in things):
        taken[y0 : y1 + 1, x0 : x1 + 1] = 1
    whole, chest = (
        _filled(np.array(corners) * geometry.unit_px + chin, shape) & (taken == 0)
        for corners in (_BODY, _CHEST)
    )
    x, y, reach = (round(float(value)) for value in (*geometry.origin, 0.4 * geometry.unit_px))
    cheeks = slice(max(0, y), max(1, y + 2 * reach)), slice(max(0, x - reach), max(1, x + reach))
    return Body(whole, chest, cheeks) if chest.mean() >= _LEAST_CHEST else None


def _filled(corners: NDArray[np.float64], shape: tuple[int, ...]) -> Mask:
    out = np.zeros(shape[:2], np.uint8)
    cv2.fillPoly(out, [np.round(corners).astype(np.int32)], (1,))
    return out > 0


def recolour(rgb: Image, body: Body, colour: str) -> Image:
    """The picture with the clothes in another colour, light and shade kept."""
    weight = _cloth(rgb, body)
    rows, columns = np.flatnonzero(weight.any(1)), np.flatnonzero(weight.any(0))
    box = slice(rows[0], rows[-1] + 1), slice(columns[0], columns[-1] + 1)
    alpha, old = weight[box][..., None], palette.lab(rgb[box])
    middle = np.median(old[body.chest[box]], axis=0).astype(np.float32)
    target = palette.lab_of(COLOURS[colour])
    contrast = np.float32(0.75 if 30 < target[0] < 85 else 0.4)
    new = target + (old - middle) * np.array([contrast, _KEPT_HUE, _KEPT_HUE], np.float32)
    new[..., 0] = np.clip(new[..., 0], 3, 98)
    dyed = np.clip(cv2.cvtColor(new, cv2.COLOR_LAB2RGB) * 255 + 0.5, 0, 255)
    out = rgb.copy()
    out[box] = (rgb[box] * (1 - alpha) + dyed * alpha).astype(np.uint8)
    return out


def _cloth(rgb: Image, body: Body) -> Plane:
    """How far each pixel is cloth, 0 to 1: bodies and backgrounds by how often they have its colour."""
    height, width = rgb.shape[:2]
    ratio = min(1.0, _COARSE_PX / max(height, width))
    size = max(1, round(width * ratio)), max(1, round(height * ratio))
    small = palette.lab(cast(Image, cv2.resize(rgb, size, interpolation=cv2.INTER_AREA)))
    whole, chest = (_resized(mask, size) > 0.5 for mask in (body.whole, body.chest))
    bins = np.clip(small / np.array([12.5, 8, 8], np.float32) + np.array([0, 16, 16], np.float32), 0, 31)
    index = bins.astype(np.int64) @ np.array([1024, 32, 1])
    inside, outside = (_frequencies(index[mask]) for mask in (chest, ~whole))
    likely = (inside / np.maximum(inside + outside, 1e-9))[index]
    skin = np.median(palette.lab(rgb[body.cheeks]).reshape(-1, 3), axis=0).astype(np.float32)
    unlike = palette.distance(small, skin, _SHADE)
    if float(np.median(unlike[chest])) > sum(_UNLIKE_SKIN):
        likely = likely * np.clip((unlike - _UNLIKE_SKIN[0]) / _UNLIKE_SKIN[1], 0, 1)
    likely = cast(Plane, cv2.GaussianBlur(likely.astype(np.float32), (0, 0), 2.0))
    soft = np.clip((likely - 0.3) * 3, 0, 1) * cv2.GaussianBlur(whole.astype(np.float32), (0, 0), 1.5)
    if chest.any() and float(soft[chest].mean()) < _LEAST_CLOTH:
        soft = np.maximum(soft, chest)
    grown = cast(Plane, cv2.resize(soft.astype(np.float32), (width, height), interpolation=cv2.INTER_LINEAR))
    return grown * body.whole


def _resized(mask: Mask, size: tuple[int, int]) -> Plane:
    return cast(Plane, cv2.resize(mask.astype(np.float32), size, interpolation=cv2.INTER_AREA))


def _frequencies(index: NDArray[np.int64]) -> Plane:
    """How often each of 32 x 32 x 32 colours occurs, smoothed over its neighbours."""
    counts = np.bincount(index, minlength=32**3).astype(np.float32)
    cube = counts.reshape(32, 32, 32) / np.float32(max(len(index), 1))
    for axis in range(3):
        cube = (np.roll(cube, 1, axis) + np.roll(cube, -1, axis) + 2 * cube) / 4
    return cube.reshape(-1).astype(np.float32)


def chest_colour(rgb: Image, body: Body) -> NDArray[np.float32]:
    """Median L*a*b* of the chest."""
    return np.median(palette.lab(rgb[body.chest][None])[0], axis=0).astype(np.float32)


def colour_name(color: NDArray[np.float32]) -> str:
    """The named colour nearest to a L*a*b* colour."""
    return min(_NAMED, key=lambda name: float(np.linalg.norm(_NAMED[name] - color)))


_NAMED = {name: palette.lab_of(value) for name, value in COLOURS.items()}
