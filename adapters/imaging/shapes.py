"""The outlines of glasses, hats, facial hair and hair styles in a face's coordinates.

The editor fills these outlines and the local judge looks for them; what a category looks like is said here
once. All numbers are face units (see `adapters.imaging.frame`), y down.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from adapters.imaging.frame import Canvas, Geometry, Plane, Points

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
HATS = ("baseball hat", "beanie hat", "beret hat", "panama hat", "bucket hat", "cowboy hat")
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


def superellipse(
    center: tuple[float, float], half: tuple[float, float], power: float = 2, tilt: float = 0, count: int = 72
) -> Points:
    """A closed outline between an ellipse (power 2) and a rectangle (large power); tilt in radians."""
    t = np.linspace(0, 2 * np.pi, count, endpoint=False)
    x = np.sign(np.cos(t)) * np.abs(np.cos(t)) ** (2 / power) * half[0]
    y = np.sign(np.sin(t)) * np.abs(np.sin(t)) ** (2 / power) * half[1]
    cos, sin = np.cos(tilt), np.sin(tilt)
    return np.stack([center[0] + x * cos - y * sin, center[1] + x * sin + y * cos], axis=1)


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
    bridge = _curve([(inner[0], y), ((inner[0] + inner[1]) / 2, y - 0.06), (inner[1], y)])
    bars = [bridge]
    for hinge, ear in zip(outer, edge, strict=True):
        if abs(ear) > abs(hinge):
            bars.append(np.array([(hinge, y), (ear, y - 0.02)]))
    return Glasses((lenses[0], lenses[1]), tuple(bars))


def hat(geometry: Geometry, category: str) -> dict[str, Points]:
    """Parts of a hat by name, in painting order; every hat has `crown` and a second telling part."""
    y = geometry.brow_top - 0.26
    x = float(geometry.contour[[0, -1], 0].mean()) * 0.5
    parts = _HAT_PARTS[category]()
    return {name: outline + np.array([x, y]) for name, outline in parts.items()}


def _dome(half: float, height: float, power: float) -> Points:
    t = np.linspace(np.pi, 2 * np.pi, 60)
    x = np.sign(np.cos(t)) * np.abs(np.cos(t)) ** (2 / power) * half
    return np.stack([x, -(np.abs(np.sin(t)) ** (2 / power)) * height], axis=1)


def _baseball() -> dict[str, Points]:
    bill = _curve([(-1.12, -0.10), (-0.55, -0.24), (0, -0.28), (0.55, -0.24), (1.12, -0.10)])
    front = _curve([(1.12, -0.10), (0.80, 0.12), (0, 0.24), (-0.80, 0.12), (-1.12, -0.10)])
    return {"crown": _dome(1.28, 1.12, 2.3), "bill": np.concatenate([bill, front])}


def _beanie() -> dict[str, Points]:
    crown = _dome(1.27, 1.42, 2.1)
    cuff = superellipse((0, -0.14), (1.36, 0.25), 7)
    return {"pompom": superellipse((0, -1.5), (0.27, 0.25)), "crown": crown, "cuff": cuff}


def _beret() -> dict[str, Points]:
    band = np.concatenate([
        _curve([(-1.18, -0.22), (0, -0.32), (1.18, -0.22)]),
        _curve([(1.18, 0.0), (0, -0.10), (-1.18, 0.0)]),
    ])
    crown = superellipse((0.22, -0.62), (1.72, 0.52), 2.2, -0.16)
    stem = np.array([(0.24, -1.05), (0.34, -1.06), (0.40, -1.34), (0.31, -1.35)])
    return {"stem": stem, "band": band, "crown": crown}


def _panama() -> dict[str, Points]:
    crown = np.concatenate([
        _curve([(-1.12, -0.05), (-1.02, -0.75), (-0.85, -1.08), (-0.4, -1.18), (0, -1.10)]),
        _curve([(0, -1.10), (0.4, -1.18), (0.85, -1.08), (1.02, -0.75), (1.12, -0.05)]),
    ])
    band = np.array([(-1.13, -0.08), (-1.07, -0.40), (1.07, -0.40), (1.13, -0.08)])
    return {"crown": crown, "band": band, "brim": superellipse((0, 0.0), (2.05, 0.23), 2.2)}


def _bucket() -> dict[str, Points]:
    crown = np.array([(-1.18, -0.15), (-1.0, -0.86), (-0.86, -0.95), (0.86, -0.95), (1.0, -0.86), (1.18, -0.15)])
    brim = np.concatenate([
        _curve([(-1.18, -0.28), (0, -0.22), (1.18, -0.28)]),
        _curve([(1.18, -0.28), (1.48, 0.02), (1.72, 0.42)]),
        _curve([(1.72, 0.42), (0.95, 0.17), (0, 0.09), (-0.95, 0.17), (-1.72, 0.42)]),
        _curve([(-1.72, 0.42), (-1.48, 0.02), (-1.18, -0.28)]),
    ])
    return {"crown": crown, "brim": brim}


def _cowboy() -> dict[str, Points]:
    crown = np.concatenate([
        _curve([(-1.08, -0.05), (-1.02, -0.8), (-0.86, -1.32), (-0.5, -1.44), (0, -1.22)]),
        _curve([(0, -1.22), (0.5, -1.44), (0.86, -1.32), (1.02, -0.8), (1.08, -0.05)]),
    ])
    brim = np.concatenate([
        _curve([(-2.3, -0.62), (-1.75, -0.30), (-1.0, -0.16), (0, -0.12)]),
        _curve([(0, -0.12), (1.0, -0.16), (1.75, -0.30), (2.3, -0.62)]),
        _curve([(2.3, -0.62), (1.8, -0.02), (1.0, 0.12), (0, 0.15)]),
        _curve([(0, 0.15), (-1.0, 0.12), (-1.8, -0.02), (-2.3, -0.62)]),
    ])
    band = np.array([(-1.09, -0.10), (-1.07, -0.32), (1.07, -0.32), (1.09, -0.10)])
    return {"crown": crown, "band": band, "brim": brim}


_HAT_PARTS = dict(zip(HATS, (_baseball, _beanie, _beret, _panama, _bucket, _cowboy), strict=True))


def mustache(geometry: Geometry, category: str) -> tuple[Points, ...]:
    """Areas of a mustache between nose, lip and the corners of the mouth."""
    nose, lip = float(geometry.nose_base[1]), geometry.lip_top
    left, right = geometry.mouth
    x = float(left[0] + right[0]) / 2 * 0.6 + float(geometry.nose_base[0]) * 0.4
    half = max(float(right[0] - left[0]) / 2, 0.25)
    gap = max(lip - nose, 0.12)
    corner = float(left[1] + right[1]) / 2

    def at(points: list[tuple[float, float]], mirrored: bool = False) -> Points:
        out = _curve(points, closed=True)
        return out * np.array([-1.0 if mirrored else 1.0, 1.0]) + np.array([x, 0])

    if category == "toothbrush mustache":
        return (superellipse((x, nose + 0.54 * gap), (0.40 * half, 0.44 * gap), 6),)
    if category == "pencil mustache":
        strip = [(0.02, lip - 0.075), (0.5 * half, lip - 0.08), (1.0 * half, corner - 0.06), (1.04 * half, corner)]
        strip += [(0.5 * half, lip - 0.01), (0.02, lip - 0.005)]
    elif category == "walrus mustache":
        strip = [(-0.02, nose + 0.12 * gap), (0.6 * half, nose + 0.2 * gap), (1.1 * half, corner - 0.1)]
        strip += [(1.2 * half, corner + 0.18), (0.75 * half, lip + 0.16), (-0.02, lip + 0.1)]
    elif category == "handlebar mustache":
        strip = [(0.0, nose + 0.35 * gap), (0.7 * half, nose + 0.5 * gap), (1.15 * half, corner - 0.02)]
        strip += [(1.50 * half, corner - 0.12), (1.42 * half, corner - 0.36), (1.64 * half, corner - 0.16)]
        strip += [(1.50 * half, corner + 0.08), (1.0 * half, corner + 0.1), (0.5 * half, lip), (0.0, lip - 0.02)]
    else:
        low = float(geometry.chin[1]) + 0.12
        strip = [(0.0, lip - 0.14), (0.7 * half, lip - 0.13), (1.2 * half, corner - 0.05), (1.32 * half, corner + 0.3)]
        strip += [(1.28 * half, low), (1.16 * half, low), (1.08 * half, corner + 0.3), (0.95 * half, corner + 0.03)]
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
    middle = np.array([float(geometry.nose_base[0]) * 0.3 + float(geometry.chin[0]) * 0.7, geometry.lip_bottom])
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
        outer = _curve([(-1.30, jaw), (-1.50, 0.5), (-1.42, -0.6), (-0.9, -1.4), (0, -1.68)])
        inner = _curve([(0.86, jaw + 0.02), (0.98, 0.5), (0.90, y)])
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
    return (angle < 1.3) & ((across / 1.45) ** 2 + (up / 1.5) ** 2 > 1) & ((across / 1.8) ** 2 + (up / 1.95) ** 2 < 1)


def _flip(points: Points) -> Points:
    return points * np.array([-1.0, 1.0])


def _curve(points: list[tuple[float, float]], closed: bool = False, steps: int = 8) -> Points:
    """A smooth line through points (Catmull-Rom)."""
    knots = np.array(points)
    if closed:
        knots = np.concatenate([knots[-1:], knots, knots[:2]])
    else:
        knots = np.concatenate([2 * knots[:1] - knots[1:2], knots, 2 * knots[-1:] - knots[-2:-1]])
    t = np.linspace(0, 1, steps, endpoint=False)[:, None]
    pieces: list[Points] = []
    for a, b, c, d in zip(knots, knots[1:], knots[2:], knots[3:], strict=False):
        pieces.append(0.5 * (2 * b + (c - a) * t + (2 * a - 5 * b + 4 * c - d) * t**2 + (3 * b - a - 3 * c + d) * t**3))
    if not closed:
        pieces.append(knots[-2:-1])
    return np.concatenate(pieces)


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
