"""Looking for mustaches and beards: darkness and grain where the editor would draw them."""

from __future__ import annotations

import cv2
import numpy as np

from adapters.imaging import shapes
from adapters.imaging.look import VIEW, Look, Mask, share, shifted

_DARK = 0.60
"""Lightness, as a share of the skin's, below which a pixel of the lower face is hair."""
_VERY_DARK = 0.40
_MUSTACHE_SCORE = 0.25
_LEAST_HIT = 0.50
_COVERED = 0.66
_BARE = 0.5
_SPECKLE = 0.095


def see_mustache(look: Look) -> str | None:
    """The mustache that fits best, if it fits well enough."""
    scores = mustache_scores(look)
    best = max(scores, key=lambda name: scores[name])
    return best if scores[best] > _MUSTACHE_SCORE else None


def mustache_scores(look: Look) -> dict[str, float]:
    """Overlap of each mustache's outline with what is very dark around the upper lip, at its best fit."""
    geometry = look.geometry
    dark = look.colors[..., 0] < _VERY_DARK * look.skin[0]
    _, down = VIEW.grid()
    lips = VIEW.mask(geometry.points[[52, 55, 56, 53, 59, 58, 61, 68, 67, 71, 63, 64]])
    lips = cv2.dilate(lips, np.ones((5, 5), np.uint8)) > 0.5
    masks = {name: VIEW.mask(*shapes.mustache(geometry, name)) > 0.5 for name in shapes.MUSTACHES}
    zone = cv2.dilate(np.any(list(masks.values()), axis=0).astype(np.uint8), np.ones((5, 5), np.uint8)) > 0
    window = zone & (down > geometry.nose_base[1]) & look.inside
    moves = [(dx, dy) for dx in (-3, 0, 3) for dy in (-3, 0, 3, 6)]
    return {
        name: max(_overlap(dark, shifted(mask, dx, dy), window, lips) for dx, dy in moves)
        for name, mask in masks.items()
    }


def _overlap(dark: Mask, mask: Mask, window: Mask, lips: Mask) -> float:
    # Lips and an open mouth are dark by themselves: they count where the mustache covers them, not elsewhere.
    if share(dark, mask) < _LEAST_HIT:
        return 0.0
    counted = window & (mask | ~lips)
    union = ((dark | mask) & counted).sum()
    return float((dark & mask & counted).sum()) / float(union) if union else 0.0


def beard_measures(look: Look, mustache: str | None) -> dict[str, float]:
    """Share of each region of a beard that is as dark as hair, and the grain of the jaw beside a mustache."""
    dark = (look.colors[..., 0] < _DARK * look.skin[0]) & look.inside
    geometry = look.geometry
    across, down = VIEW.grid()
    chin = (VIEW.mask(*shapes.beard(geometry, "goatee")) > 0.5) & (down < geometry.chin[1])
    jaw = (VIEW.mask(*shapes.beard(geometry, "stubble")) > 0.5) & (VIEW.mask(geometry.contour) > 0.5)
    if mustache is not None:
        worn = VIEW.mask(*shapes.mustache(geometry, mustache))
        jaw &= cv2.dilate(worn, np.ones((17, 17), np.uint8)) < 0.1
    return {
        "chin": share(dark, chin),
        "left": _side_share(look, dark, across < geometry.chin[0]),
        "right": _side_share(look, dark, across > geometry.chin[0]),
        "speckle": _speckle(look, jaw),
    }


def _side_share(look: Look, dark: Mask, half: Mask) -> float:
    """How dark one side of the jaw is at its best fit: a drawn beard pulls the contour inwards."""
    _, down = VIEW.grid()
    best = 0.0
    middle = look.geometry.nose_base
    for wide in (1.0, 1.08, 1.16):
        areas = [
            (area - middle) * np.array([wide, 1.0]) + middle
            for area in shapes.beard(look.geometry, "mutton chops")
        ]
        best = max(best, share(dark, (VIEW.mask(*areas) > 0.5) & half & (down > 0.35)))
    return best


def _speckle(look: Look, jaw: Mask) -> float:
    """How far the darkest tenth of the jaw's grain lies below its surroundings, in units of the skin."""
    lightness = look.colors[..., 0]
    fine = lightness - cv2.GaussianBlur(lightness, (0, 0), 2.0)
    if not jaw.any():
        return 0.0
    return -float(np.quantile(fine[jaw], 0.1)) / max(float(look.skin[0]), 5.0)


def see_beard(look: Look, mustache: str | None) -> str:
    """The beard that is seen, `clean shaven` where there is none, given the mustache that is seen."""
    seen = beard_measures(look, mustache)
    sides = min(seen["left"], seen["right"])
    if seen["chin"] > _COVERED:
        return "full beard" if sides > _COVERED else "goatee"
    if sides > _COVERED and seen["chin"] < _BARE:
        return "mutton chops"
    return "stubble" if seen["speckle"] > _SPECKLE else "clean shaven"
