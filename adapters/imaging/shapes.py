"""The outlines of glasses, facial hair and hair styles in a face's coordinates.

The editor fills these outlines and the local judge looks for them; what a category looks like is said here
once. All numbers are face units (see `adapters.imaging.frame`), y down.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from adapters.imaging.frame import Canvas, Geometry, Plane, Points
from adapters.imaging.outlines import curve, superellipse

LensForm = Literal["round", "oval", "rectangle", "square"]
LENSES: dict[str, tuple[LensForm, ...]] = {
    "round glasses": ("round", "oval"),
    "rectangle-shaped glasses": ("rectangle", "square"),
}
"""The forms of lens that belong to each category of glasses."""
_HALF_SIZE: dict[LensForm, tuple[float, float]] = {
    "round": (0.37, 0.37),
    "oval": (0.42, 0.30),
    "rectangle": (0.42, 0.26),
    "square": (0.38, 0.34),
}
_POWER: dict[LensForm, float] = {"round": 2, "oval": 2, "rectangle": 9, "square": 9}
MUSTACHES = (
    "pencil mustache", "walrus mustache", "toothbrush mustache", "handlebar mustache", "fumanchu mustache",
)  # fmt: skip
BEARDS = ("stubble", "goatee", "mutton chops", "full beard")
STYLES = ("bob cut", "spiked cut")


@dataclass(frozen=True)
class Glasses:
    """Outlines of one pair of glasses."""

    lenses: tuple[Points, Points]
    bars: tuple[Points, ...]
    """Bridge and temples: lines, not areas."""


def glasses(geometry: Geometry, form: LensForm) -> Glasses:
    """A pair of glasses with one form of lens, sitting on the eyes."""
    (left, right), gap = geometry.eyes, float(geometry.eyes[1][0] - geometry.eyes[0][0])
    half = _HALF_SIZE[form][0] * max(gap, 0.7), _HALF_SIZE[form][1]
    away, low = 0.02 * gap, 0.05
    lenses = tuple(
        superellipse((float(eye[0]) + side * away, float(eye[1]) + low), half, _POWER[form])
        for eye, side in ((left, -1), (right, 1))
    )
    y = float(left[1] + right[1]) / 2 + low - 0.08
    inner = float(left[0]) - away + half[0], float(right[0]) + away - half[0]
    outer = float(left[0]) - away - half[0], float(right[0]) + away + half[0]
    edge = float(geometry.contour[:3, 0].min()) - 0.03, float(geometry.contour[-3:, 0].max()) + 0.03
    bridge = curve([(inner[0], y), ((inner[0] + inner[1]) / 2, y - 0.06), (inner[1], y)])
    bars = [bridge]
    for hinge, ear in zip(outer, edge, strict=True):
        if abs(ear) > abs(hinge):
            bars.append(np.array([(hinge, y), (ear, y - 0.02)]))
    return Glasses((lenses[0], lenses[1]), tuple(bars))


def mustache(geometry: Geometry, category: str) -> tuple[Points, ...]:
    """Areas of a mustache between nose, lip and the corners of the mouth."""
    nose, lip = float(geometry.nose_base[1]), geometry.lip_top
    left, right = geometry.mouth
    x = float(left[0] + right[0]) / 2 * 0.6 + float(geometry.nose_base[0]) * 0.4
    half = max(float(right[0] - left[0]) / 2, 0.25)
    gap = max(lip - nose, 0.12)
    corner = float(left[1] + right[1]) / 2

    def at(points: list[tuple[float, float]], mirrored: bool = False) -> Points:
        out = curve(points, closed=True)
        return out * np.array([-1.0 if mirrored else 1.0, 1.0]) + np.array([x, 0])

    if category == "toothbrush mustache":
        return (superellipse((x, nose + 0.54 * gap), (0.40 * half, 0.44 * gap), 6),)
    if category == "pencil mustache":
        strip = [
            (0.02, lip - 0.075),
            (0.5 * half, lip - 0.08),
            (1.0 * half, corner - 0.06),
            (1.04 * half, corner),
        ]
        strip += [(0.5 * half, lip - 0.01), (0.02, lip - 0.005)]
    elif category == "walrus mustache":
        strip = [(-0.02, nose + 0.12 * gap), (0.6 * half, nose + 0.2 * gap), (1.1 * half, corner - 0.1)]
        strip += [(1.2 * half, corner + 0.18), (0.75 * half, lip + 0.16), (-0.02, lip + 0.1)]
    elif category == "handlebar mustache":
        strip = [(0.0, nose + 0.35 * gap), (0.7 * half, nose + 0.5 * gap), (1.15 * half, corner - 0.02)]
        strip += [(1.50 * half, corner - 0.12), (1.42 * half, corner - 0.36), (1.64 * half, corner - 0.16)]
        strip += [
            (1.50 * half, corner + 0.08),
            (1.0 * half, corner + 0.1),
            (0.5 * half, lip),
            (0.0, lip - 0.02),
        ]
    else:
        low = float(geometry.chin[1]) + 0.12
        strip = [
            (0.0, lip - 0.14),
            (0.7 * half, lip - 0.13),
            (1.2 * half, corner - 0.05),
            (1.32 * half, corner + 0.3),
        ]
        strip += [
            (1.28 * half, low),
            (1.16 * half, low),
            (1.08 * half, corner + 0.3),
            (0.95 * half, corner + 0.03),
        ]
        strip += [(0.5 * half, lip - 0.02), (0.0, lip - 0.02)]
    return at(strip), at(strip, mirrored=True)


def beard(geometry: Geometry, category: str) -> tuple[Points, ...]:
    """Areas of a beard along the jaw, none of them on the upper lip or the lips."""
    contour, chin = geometry.contour, geometry.chin
    if category == "goatee":
        x = float(chin[0]) * 0.7 + float(geometry.mouth[0][0] + geometry.mouth[1][0]) * 0.15
        top, low = geometry.lip_bottom + 0.06, float(chin[1]) + 0.13
        return (superellipse((x, (top + low) / 2), (0.34, (low - top) / 2), 2.6),)
    if category == "mutton chops":
        return _side(geometry, 2, 13), _side(geometry, 30, 19)
    lower = _side(geometry, 1, 31) if category == "full beard" else _side(geometry, 4, 28)
    grown = (contour[8:25] - np.array([0, 0.1])) * np.array([1.03, 1.0]) + np.array([0, 0.34])
    if category == "stubble":
        return (lower,)
    return lower, np.concatenate([contour[8:25], grown[::-1]])


def _side(geometry: Geometry, first: int, last: int) -> Points:
    """The band inside the contour between two of its points, narrow at the temples, wide at the chin."""
    step = 1 if first < last else -1
    outer = geometry.contour[first : last + step : step] * np.array([1.01, 1.0])
    middle = np.array(
        [float(geometry.nose_base[0]) * 0.3 + float(geometry.chin[0]) * 0.7, geometry.lip_bottom]
    )
    corner_y = float(geometry.mouth[0][1] + geometry.mouth[1][1]) / 2
    inner: list[tuple[float, float]] = []
    for x, y in outer[::-1]:
        down = np.clip((y - 0.15) / max(corner_y - 0.15, 0.3), 0, 1)
        keep = 1 - (0.16 + 0.22 * down)
        px = middle[0] + (x - middle[0]) * keep
        py = y - 0.06 if y < corner_y else max(corner_y, min(y - 0.1, geometry.lip_bottom + 0.07))
        inner.append((float(px), float(py)))
    return np.concatenate([outer, np.array(inner)])


def hair_style(geometry: Geometry, category: str) -> tuple[Points, ...]:
    """Areas of hair that make a style."""
    y = geometry.brow_top - 0.02
    if category == "bob cut":
        jaw = max(float(geometry.chin[1]) - 0.22, 1.1)
        outer = curve([(-1.30, jaw), (-1.50, 0.5), (-1.42, -0.6), (-0.9, -1.4), (0, -1.68)])
        inner = curve([(0.86, jaw + 0.02), (0.98, 0.5), (0.90, y)])
        return (np.concatenate([
            outer, _flip(outer)[::-1][1:], inner, [(0.0, y + 0.03)], _flip(inner)[::-1],
        ]),)  # fmt: skip
    spikes: list[Points] = []
    for angle in np.linspace(-1.2, 1.2, 9):
        tip = _on_skull(angle, 1.95, 2.15)
        left, right = (_on_skull(angle + side * 0.15, 1.12, 0.95) for side in (-1, 1))
        spikes.append(np.stack([left, tip, right, np.array([0.0, -0.6])]))
    return tuple(spikes)


def _on_skull(angle: float, across: float, up: float) -> Points:
    return np.array([np.sin(angle) * across, -0.45 - np.cos(angle) * up])


def spike_tips(canvas: Canvas) -> NDArray[np.bool_]:
    """The band around the head that only the outer parts of spikes reach."""
    across, down = canvas.grid()
    up = -0.45 - down
    angle = np.abs(np.arctan2(across / 1.6, up / 1.65))
    return (
        (angle < 1.3)
        & ((across / 1.45) ** 2 + (up / 1.5) ** 2 > 1)
        & ((across / 1.8) ** 2 + (up / 1.95) ** 2 < 1)
    )


def _flip(points: Points) -> Points:
    return points * np.array([-1.0, 1.0])


def hair_pattern(category: str, canvas: Canvas) -> tuple[Plane, Plane]:
    """Where curls or straight strands are darker and where lighter than the hair, 0 to 1."""
    across, down = canvas.grid()
    if category == "straight hair":
        # Strands fall from the crown: lines of equal angle above, parallel lines below.
        fan = across / np.maximum(np.float32(1), np.float32(1.0) - np.minimum(down + np.float32(0.6), 0))
        wave = np.sin(fan * np.float32(2 * np.pi / 0.13))
    else:
        pitch = np.float32(0.36)
        row = np.floor(down / pitch)
        x = np.mod(across + row * pitch / 2, pitch) - pitch / 2
        y = np.mod(down, pitch) - pitch / 2
        wave = np.cos(np.sqrt(x**2 + y**2) * np.float32(2 * np.pi / 0.14) - np.arctan2(y, x))
    wave = wave.astype(np.float32)
    return np.clip(wave, 0, 1) ** 2, np.clip(-wave, 0, 1) ** 2
