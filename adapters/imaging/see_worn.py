"""Looking for hats and glasses: the editor's outlines, and how well the pixels agree with them."""

from __future__ import annotations

import cv2
import numpy as np

from adapters.imaging import hats, palette, shapes
from adapters.imaging.frame import Plane, Points
from adapters.imaging.look import VIEW, Look, Mask, share, shifted

_TELLING_PARTS: dict[str, tuple[str, ...]] = {
    "baseball hat": ("crown", "bill"),
    "beanie hat": ("crown", "cuff"),
    "beret hat": ("crown",),
    "panama hat": ("crown", "brim", "band"),
    "bucket hat": ("crown", "brim"),
    "cowboy hat": ("crown", "brim", "band"),
}
"""What must be there, each in its colour."""
_HAT_COLOR_DISTANCE = 17.0
_HAT_SCORE = 0.40
_BANDED_HAT_SCORE = 0.20
"""Enough where a dark band was found between crown and brim."""
_RING_CONTRAST = 7.0
_FRAME_SHARE = 0.45
_SIZES = np.array([0.93, 1.0, 1.07])[:, None, None]
_MOVES = np.array([(dx, dy) for dx in (-0.06, -0.03, 0, 0.03, 0.06) for dy in (-0.06, -0.03, 0, 0.03, 0.06)])[
    None, :, None
]


def see_hat(look: Look) -> str | None:
    """The hat that fits best, if it fits well enough."""
    scores = hat_scores(look)
    best = max(scores, key=lambda name: scores[name])
    enough = _BANDED_HAT_SCORE if "band" in _TELLING_PARTS[best] else _HAT_SCORE
    return best if scores[best] > enough else None


def hat_scores(look: Look) -> dict[str, float]:
    """How far the telling parts of each hat have its colours, less how far its surroundings have them."""
    return {category: _hat_score(look, category) for category in hats.HATS}


def _hat_score(look: Look, category: str) -> float:
    outlines, names = hats.hat(look.geometry, category), _TELLING_PARTS[category]
    parts = [VIEW.mask(outlines[name]) > 0.5 for name in names]
    if "band" in names:
        parts[0] &= ~parts[names.index("band")]
    alike = [_alike(look, palette.HATS[category][name]) for name in names]
    whole = VIEW.mask(*outlines.values()) > 0.3
    ring = (cv2.dilate(whole.astype(np.uint8), np.ones((15, 15), np.uint8)) > 0) & ~whole
    anywhere = np.any([seen for name, seen in zip(names, alike, strict=True) if name != "band"], axis=0)
    best = -1.0
    for dx in (-9, -4, 0, 4, 9):
        for dy in (-7, 0, 7):
            places = [shifted(part, dx, dy) & look.inside for part in parts]
            hit = min(share(seen, place) for seen, place in zip(alike, places, strict=True))
            if hit > best:
                best = max(best, hit - share(anywhere, shifted(ring, dx, dy) & look.inside))
    return best


def _alike(look: Look, color: palette.Rgb) -> Mask:
    return palette.distance(look.colors, palette.lab_of(color), 0.4) < _HAT_COLOR_DISTANCE


def see_glasses(look: Look) -> str | None:
    """The category of glasses that fits best, if it fits well enough."""
    scores = glasses_scores(look)
    best = max(scores, key=lambda name: scores[name])
    return best if scores[best] > _FRAME_SHARE else None


def glasses_scores(look: Look) -> dict[str, float]:
    """For each category of glasses the share of its rims that is dark against outside, at its best fit."""
    lightness = np.ascontiguousarray(look.colors[..., 0])
    limit = max(0.55 * float(look.skin[0]), 14.0)
    scores = dict.fromkeys(shapes.LENSES, 0.0)
    for category, forms in shapes.LENSES.items():
        for form in forms:
            left, right = shapes.glasses(look.geometry, form).lenses
            score = np.minimum(*(_rim_scores(lightness, lens, limit) for lens in (left, right))).max()
            scores[category] = max(scores[category], float(score))
    return scores


def _rim_scores(lightness: Plane, lens: Points, limit: float) -> Plane:
    """For each small move and size of a lens, the share of its rim that is dark against outside."""
    middle = lens.mean(0)
    rims = (middle + (lens - middle) * _SIZES)[:, None] + _MOVES
    away = lens - middle
    away /= np.linalg.norm(away, axis=1, keepdims=True)
    ring, outside = _sample(lightness, rims), _sample(lightness, rims + away * 0.09)
    return ((outside - ring > _RING_CONTRAST) & (ring < limit)).mean(-1).ravel()


def _sample(plane: Plane, points: Points) -> Plane:
    places = VIEW.pixels(points).astype(np.float32).reshape(-1, points.shape[-2], 2)
    across, down = np.ascontiguousarray(places[..., 0]), np.ascontiguousarray(places[..., 1])
    seen = cv2.remap(plane, across, down, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    return seen.astype(np.float32, copy=False)
