"""Smooth outlines from which drawn things are made."""

from __future__ import annotations

import numpy as np

from adapters.imaging.frame import Points


def superellipse(
    center: tuple[float, float], half: tuple[float, float], power: float = 2, tilt: float = 0, count: int = 72
) -> Points:
    """A closed outline between an ellipse (power 2) and a rectangle (large power); tilt in radians."""
    t = np.linspace(0, 2 * np.pi, count, endpoint=False)
    x = np.sign(np.cos(t)) * np.abs(np.cos(t)) ** (2 / power) * half[0]
    y = np.sign(np.sin(t)) * np.abs(np.sin(t)) ** (2 / power) * half[1]
    cos, sin = np.cos(tilt), np.sin(tilt)
    return np.stack([center[0] + x * cos - y * sin, center[1] + x * sin + y * cos], axis=1)


def curve(points: list[tuple[float, float]], closed: bool = False, steps: int = 8) -> Points:
    """A smooth line through points (Catmull-Rom)."""
    knots = np.array(points)
    if closed:
        knots = np.concatenate([knots[-1:], knots, knots[:2]])
    else:
        knots = np.concatenate([2 * knots[:1] - knots[1:2], knots, 2 * knots[-1:] - knots[-2:-1]])
    t = np.linspace(0, 1, steps, endpoint=False)[:, None]
    pieces: list[Points] = []
    for a, b, c, d in zip(knots, knots[1:], knots[2:], knots[3:], strict=False):
        pieces.append(
            0.5 * (2 * b + (c - a) * t + (2 * a - 5 * b + 4 * c - d) * t**2 + (3 * b - a - 3 * c + d) * t**3)
        )
    if not closed:
        pieces.append(knots[-2:-1])
    return np.concatenate(pieces)
