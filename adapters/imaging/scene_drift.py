"""Losing a person's likeness a little at each step, by a known amount and always in one direction.

Features are pushed, fine detail is smoothed and the colour of the skin shifts toward one fixed other look, so
that what is lost adds up over the steps although no step knows of the others. Nothing outside the face moves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from adapters.imaging import warp
from adapters.imaging.frame import Face, Geometry, Image, Plane

_LOOK_SEED, _FEATURES = 20, 10
_JITTER = 0.25
"""How much a push differs from step to step, in parts of its size."""
_SOFTER, _TINT = 8.0, 1.5
"""Share of detail lost, and of the way to `_SKIN` gone, a unit of strength."""
_SKIN = np.array([196, 150, 128], np.float32)
_AS_LARGE = 0.6
"""Faces of at least this share of the largest one's area drift with it: which of them is the largest may
change with a pixel."""
_REACH = 2.4


def drifting(faces: Sequence[Face]) -> list[Geometry]:
    """The largest face that has landmarks and all that are nearly as large."""
    seen = [face for face in faces if face.landmarks is not None]
    areas = [float((face.box[2] - face.box[0]) * (face.box[3] - face.box[1])) for face in seen]
    return [
        Geometry.of(face.landmarks)
        for face, area in zip(seen, areas, strict=True)
        if face.landmarks is not None and area >= _AS_LARGE * max(areas)
    ]


def drift_face(rgb: Image, geometry: Geometry, strength: float, rng: np.random.Generator) -> Image:
    """The picture with one face a step further from its look; strength is the push in face units."""
    if strength == 0:
        return rgb
    look = np.random.default_rng(_LOOK_SEED).normal(0, 1, (_FEATURES, 2))
    push = (strength * (look + rng.normal(0, _JITTER, look.shape))).astype(np.float32)
    half = _REACH * geometry.unit_px
    middle = geometry.origin + geometry.axes @ np.array([0, 0.45])
    x0, y0 = (max(0, int(value - half)) for value in middle)
    x1, y1 = (min(edge, int(value + half) + 1) for value, edge in zip(middle, rgb.shape[1::-1], strict=True))
    if x0 >= x1 or y0 >= y1:
        return rgb
    part = np.ascontiguousarray(rgb[y0:y1, x0:x1])
    local = replace(geometry, origin=geometry.origin - np.array([x0, y0]))
    moved = warp.soften(warp.move(part, local, 0.0, push), local, min(_SOFTER * strength, 0.9))
    tint = min(_TINT * strength, 0.5)
    aged = moved * (1 - tint) + _SKIN * np.float32(tint)
    weight = _oval(local, part.shape)[..., None]
    out = rgb.copy()
    out[y0:y1, x0:x1] = (part * (1 - weight) + aged * weight + 0.5).astype(np.uint8)
    return out


def _oval(geometry: Geometry, shape: tuple[int, ...]) -> Plane:
    """1 inside the face, 0 outside, soft between."""
    pixels = np.stack(np.meshgrid(np.arange(shape[1]), np.arange(shape[0])), axis=-1).astype(np.float64)
    places = (pixels - geometry.origin) @ np.linalg.inv(geometry.axes).T
    inside = 1 - (places[..., 0] / 1.35) ** 2 - ((places[..., 1] - 0.45) / 1.9) ** 2
    return np.clip(inside * 2.5, 0, 1).astype(np.float32)
