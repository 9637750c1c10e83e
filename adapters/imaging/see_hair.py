"""Looking at hair: its colour by nearest named colour, its type and style by the editor's patterns."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from adapters.imaging import hair, palette, shapes
from adapters.imaging.frame import Plane
from adapters.imaging.look import VIEW, Look, share

_MOST_OF_IT = 0.5
_STYLE = {"bob cut": 0.45, "spiked cut": 0.62}
_PATTERN = 0.30


def color_votes(colors: NDArray[np.float32]) -> dict[str, float]:
    """Share of L*a*b* pixels, n x 3, that have each named colour of hair."""
    lightness, chroma = colors[:, 0], np.hypot(colors[:, 1], colors[:, 2])
    hue = np.degrees(np.arctan2(colors[:, 2], colors[:, 1])) % 360
    vivid = chroma > np.where(lightness > 30, 36, 26)
    votes: dict[str, float] = {}
    names = ("red hair", "blue hair", "green hair", "pink hair", "purple hair", "orange hair")
    hues = np.array([np.degrees(np.arctan2(c[2], c[1])) % 360 for c in (palette.lab_of(palette.HAIR[n]) for n in names)])
    nearest = np.abs((hue[:, None] - hues + 180) % 360 - 180).argmin(1)
    for i, name in enumerate(names):
        votes[name] = float((vivid & (nearest == i)).mean())
    plain = ~vivid
    votes["black hair"] = float((plain & (lightness < 17)).mean())
    votes["white hair"] = float((plain & (lightness > 68) & (chroma < 16)).mean())
    votes["brown hair"] = float((plain & (lightness >= 17) & (lightness < 50) & (hue > 20) & (hue < 95) & (chroma > 7)).mean())
    return votes


def color_shares(look: Look) -> dict[str, float]:
    """Share of the hair that has each named colour; empty where no hair is found."""
    if look.hair is None:
        return {}
    view, _ = hair.VIEW.view(look.rgb, look.geometry)
    return color_votes(palette.lab(view)[look.hair.mask > 0.8])


def see_color(look: Look) -> tuple[str, ...]:
    """The colour that most of the hair has; none for hair without a name, such as blond."""
    shares = color_shares(look)
    return tuple(name for name, share_of_hair in shares.items() if share_of_hair > _MOST_OF_IT)


def see_type(look: Look) -> tuple[str, ...]:
    """The drawn pattern of hair that is seen."""
    return tuple(name for name, score in pattern_scores(look).items() if score > _PATTERN)


def see_style(look: Look) -> tuple[str, ...]:
    """The drawn style of hair that is seen."""
    scores = {name: score - _STYLE[name] for name, score in style_scores(look).items()}
    best = max(scores, key=lambda name: scores[name])
    return (best,) if scores[best] > 0 else ()


def pattern_scores(look: Look) -> dict[str, float]:
    """Correlation of the hair's fine light and shade with each pattern that the editor draws."""
    found = look.hair
    if found is None:
        return {}
    area = hair.on_canvas(found.mask, VIEW) > 0.7
    lightness = look.colors[..., 0]
    fine = lightness - cv2.GaussianBlur(lightness, (0, 0), 4.0)
    fine = np.clip(fine, -12, 12) * area
    scores: dict[str, float] = {}
    for category in ("straight hair", "curly hair"):
        dark, light = shapes.hair_pattern(category, VIEW)
        scores[category] = _correlate(fine, (light - dark) * area)
    return scores


def _correlate(fine: Plane, pattern: Plane) -> float:
    norm = float(np.sqrt((fine**2).sum() * (pattern**2).sum()))
    if norm == 0:
        return 0.0
    reach = np.pad(fine, 4)
    return float(cv2.matchTemplate(reach, pattern.astype(np.float32), cv2.TM_CCORR).max()) / norm


def style_scores(look: Look) -> dict[str, float]:
    """How far the area of each style is one colour that its surroundings are not."""
    geometry = look.geometry
    scores: dict[str, float] = {}
    for category in shapes.STYLES:
        areas = shapes.hair_style(geometry, category)
        mask = VIEW.mask(*areas) > 0.5
        near = cv2.dilate(mask.astype(np.uint8), np.ones((13, 13), np.uint8)) > 0
        ring = near & ~(cv2.dilate(mask.astype(np.uint8), np.ones((3, 3), np.uint8)) > 0) & look.inside
        mask &= look.inside
        if mask.sum() < 50:
            scores[category] = 0.0
            continue
        middle = np.median(look.colors[mask], axis=0).astype(np.float32)
        alike = palette.distance(look.colors, middle, 0.6) < 16
        scores[category] = share(alike, mask) - share(alike, ring)
    return scores
