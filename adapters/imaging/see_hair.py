"""Looking at hair: its colour by nearest named colour, its type and style by the editor's patterns."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from adapters.imaging import hair, palette, shapes
from adapters.imaging.frame import Plane
from adapters.imaging.look import VIEW, Look, Mask, share

_STYLE = {"bob cut": 0.45, "spiked cut": 0.27}
_PATTERN = 0.25
_VIVID = ("red hair", "blue hair", "green hair", "pink hair", "purple hair", "orange hair")


def _hue(name: str) -> float:
    color = palette.lab_of(palette.HAIR[name])
    return float(np.degrees(np.arctan2(color[2], color[1])) % 360)


_VIVID_HUES = {name: _hue(name) for name in _VIVID}


def median_color(look: Look) -> NDArray[np.float32] | None:
    """Median L*a*b* of what surely is hair, or None where no hair is found."""
    if look.hair is None:
        return None
    core, colors = look.hair
    return np.median(colors[core], axis=0).astype(np.float32)


def name_color(color: NDArray[np.float32]) -> str | None:
    """The named colour of hair nearest to a L*a*b* colour, or None for those without a name, such as blond.

    The limits between natural colours lie where few photos have their median, so that it rarely crosses
    one by chance.
    """
    lightness, chroma = float(color[0]), float(np.hypot(color[1], color[2]))
    hue = float(np.degrees(np.arctan2(color[2], color[1])) % 360)
    if chroma > 34:
        name = min(_VIVID_HUES, key=lambda key: abs((hue - _VIVID_HUES[key] + 180) % 360 - 180))
        if name != "orange hair" or chroma > 52:
            return name
    if lightness + 1.2 * chroma < 28:
        return "black hair"
    if chroma < 12 and lightness > 60:
        return "white hair"
    return "brown hair" if 20 < hue < 95 and chroma > 2 and lightness < 53 else None


def see_color(look: Look) -> tuple[str, ...] | None:
    """The named colour of the hair, if it has one; None where no hair is found."""
    color = median_color(look)
    if color is None:
        return None
    name = name_color(color)
    return () if name is None else (name,)


def see_type(look: Look) -> tuple[str, ...] | None:
    """The drawn pattern of hair that is seen; None where no hair is found."""
    if look.hair is None:
        return None
    return tuple(name for name, score in pattern_scores(look).items() if score > _PATTERN)


def see_style(look: Look) -> tuple[str, ...]:
    """The drawn style of hair that is seen."""
    scores = {name: score - _STYLE[name] for name, score in style_scores(look).items()}
    best = max(scores, key=lambda name: scores[name])
    return (best,) if scores[best] > 0 else ()


def pattern_scores(look: Look) -> dict[str, float]:
    """Correlation of the hair's fine light and shade with each pattern that the editor draws."""
    if look.hair is None:
        return {}
    area = hair.on_canvas(look.hair[0].astype(np.float32), VIEW) > 0.7
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
    bob = VIEW.mask(*shapes.hair_style(look.geometry, "bob cut")) > 0.5
    around = _grown(bob, 13) & ~_grown(bob, 3)
    spikes = VIEW.mask(*shapes.hair_style(look.geometry, "spiked cut")) > 0.5
    tips = shapes.spike_tips(VIEW)
    gaps = tips & ~_grown(spikes, 3)
    return {"bob cut": _contrast(look, bob, around), "spiked cut": _contrast(look, spikes & tips, gaps)}


def _grown(mask: Mask, by: int) -> Mask:
    return cv2.dilate(mask.astype(np.uint8), np.ones((by, by), np.uint8)) > 0


def _contrast(look: Look, area: Mask, ring: Mask) -> float:
    area, ring = area & look.inside, ring & look.inside
    if area.sum() < 40:
        return 0.0
    middle = np.median(look.colors[area], axis=0).astype(np.float32)
    alike = palette.distance(look.colors, middle, 0.6) < 16
    return share(alike, area) - share(alike, ring)
