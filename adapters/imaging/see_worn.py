"""Looking for hats and glasses: the editor's outlines, and how well the pixels agree with them."""

from __future__ import annotations

import cv2
import numpy as np

from adapters.imaging import hats, palette, shapes
from adapters.imaging.frame import Plane, Points
from adapters.imaging.look import VIEW, Look, Mask, share, shifted

_TELLING_PART = {
    "baseball hat": "bill",
    "beanie hat": "cuff",
    "beret hat": "crown",
    "panama hat": "brim",
    "bucket hat": "brim",
    "cowboy hat": "brim",
}
_HAT_COLOR_DISTANCE = 17.0
_HAT_SCORE = 0.40
_RING_CONTRAST = 7.0
_FRAME_SHARE = 0.55
_SIZES = np.array([0.93, 1.0, 1.07])[:, None, None]
_MOVES = np.array([(dx, dy) for dx in (-0.06, -0.03, 0, 0.03, 0.06) for dy in (-0.06, -0.03, 0, 0.03, 0.06)])[
    None, :, None
]


def see_hat(look: Look) -> tuple[str, float]:
    """The hat that fits best and its score; above `hat_seen` it is there."""
    best = ("", -1.0)
    for category in hats.HATS:
        score = _hat_score(look, category)
        if score > best[1]:
            best = (category, score)
    return best


def hat_seen(score: float) -> bool:
    """Whether a score of `see_hat` is enough."""
    return score > _HAT_SCORE


def _hat_score(look: Look, category: str) -> float:
    outlines = hats.hat(look.geometry, category)
    names = {"crown", _TELLING_PART[category]}
    parts = {name: VIEW.mask(outlines[name]) > 0.5 for name in names}
    alike = {name: _alike(look, palette.HATS[category][name]) for name in names}
    whole = VIEW.mask(*outlines.values()) > 0.3
    grown = cv2.dilate(whole.astype(np.uint8), np.ones((15, 15), np.uint8)) > 0
    ring = grown & ~whole
    anywhere = alike["crown"] | alike[_TELLING_PART[category]]
    best = -1.0
    for dx in (-9, -4, 0, 4, 9):
        for dy in (-7, 0, 7):
            hits = [share(alike[n], shifted(parts[n], dx, dy) & look.inside) for n in names]
            if min(hits) <= best:
                continue
            best = max(best, min(hits) - share(anywhere, shifted(ring, dx, dy) & look.inside))
    return best


def _alike(look: Look, color: palette.Rgb) -> Mask:
    return palette.distance(look.colors, palette.lab_of(color), 0.4) < _HAT_COLOR_DISTANCE


def see_glasses(look: Look) -> tuple[str, float]:
    """The category of glasses that fits best, and the share of its rims that is dark against outside."""
    lightness = np.ascontiguousarray(look.colors[..., 0])
    limit = max(0.55 * float(look.skin[0]), 14.0)
    best = ("", -1.0)
    for category, forms in shapes.LENSES.items():
        for form in forms:
            left, right = shapes.glasses(look.geometry, form).lenses
            score = float(np.minimum(*(_rim_scores(lightness, lens, limit) for lens in (left, right))).max())
            if score > best[1]:
                best = (category, score)
    return best


def glasses_seen(score: float) -> bool:
    """Whether a score of `see_glasses` is enough."""
    return score > _FRAME_SHARE


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
