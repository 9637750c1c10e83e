"""The outlines of the hats in a face's coordinates; see `adapters.imaging.shapes`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from adapters.imaging.frame import Geometry, Points
from adapters.imaging.outlines import curve, superellipse

HATS = ("baseball hat", "beanie hat", "beret hat", "panama hat", "bucket hat", "cowboy hat")


def hat(geometry: Geometry, category: str) -> dict[str, Points]:
    """Parts of a hat by name, in painting order; every hat has `crown` and a second telling part."""
    y = geometry.brow_top - 0.32
    x = float(geometry.contour[[0, -1], 0].mean()) * 0.5
    return {name: outline + np.array([x, y]) for name, outline in _HAT_PARTS[category]().items()}


def _dome(half: float, height: float, power: float) -> Points:
    t = np.linspace(np.pi, 2 * np.pi, 60)
    x = np.sign(np.cos(t)) * np.abs(np.cos(t)) ** (2 / power) * half
    return np.stack([x, -(np.abs(np.sin(t)) ** (2 / power)) * height], axis=1)


def _baseball() -> dict[str, Points]:
    bill = curve([(-1.12, -0.10), (-0.55, -0.24), (0, -0.28), (0.55, -0.24), (1.12, -0.10)])
    front = curve([(1.12, -0.10), (0.80, 0.12), (0, 0.24), (-0.80, 0.12), (-1.12, -0.10)])
    return {"crown": _dome(1.28, 1.12, 2.3), "bill": np.concatenate([bill, front])}


def _beanie() -> dict[str, Points]:
    crown = _dome(1.27, 1.42, 2.1)
    cuff = superellipse((0, -0.14), (1.36, 0.25), 7)
    return {"pompom": superellipse((0, -1.5), (0.27, 0.25)), "crown": crown, "cuff": cuff}


def _beret() -> dict[str, Points]:
    band = np.concatenate(
        [
            curve([(-1.18, -0.22), (0, -0.32), (1.18, -0.22)]),
            curve([(1.18, 0.0), (0, -0.10), (-1.18, 0.0)]),
        ]
    )
    crown = superellipse((0.22, -0.62), (1.72, 0.52), 2.2, -0.16)
    stem = np.array([(0.24, -1.05), (0.34, -1.06), (0.40, -1.34), (0.31, -1.35)])
    return {"stem": stem, "band": band, "crown": crown}


def _panama() -> dict[str, Points]:
    crown = np.concatenate(
        [
            curve([(-1.12, -0.05), (-1.02, -0.75), (-0.85, -1.08), (-0.4, -1.18), (0, -1.10)]),
            curve([(0, -1.10), (0.4, -1.18), (0.85, -1.08), (1.02, -0.75), (1.12, -0.05)]),
        ]
    )
    band = np.array([(-1.13, -0.08), (-1.07, -0.40), (1.07, -0.40), (1.13, -0.08)])
    return {"crown": crown, "band": band, "brim": superellipse((0, 0.0), (2.05, 0.23), 2.2)}


def _bucket() -> dict[str, Points]:
    crown = np.array(
        [(-1.18, -0.15), (-1.0, -0.86), (-0.86, -0.95), (0.86, -0.95), (1.0, -0.86), (1.18, -0.15)]
    )
    brim = np.concatenate(
        [
            curve([(-1.18, -0.28), (0, -0.22), (1.18, -0.28)]),
            curve([(1.18, -0.28), (1.48, 0.02), (1.72, 0.42)]),
            curve([(1.72, 0.42), (0.95, 0.17), (0, 0.09), (-0.95, 0.17), (-1.72, 0.42)]),
            curve([(-1.72, 0.42), (-1.48, 0.02), (-1.18, -0.28)]),
        ]
    )
    return {"crown": crown, "brim": brim}


def _cowboy() -> dict[str, Points]:
    crown = np.concatenate(
        [
            curve([(-1.08, -0.05), (-1.02, -0.8), (-0.86, -1.32), (-0.5, -1.44), (0, -1.22)]),
            curve([(0, -1.22), (0.5, -1.44), (0.86, -1.32), (1.02, -0.8), (1.08, -0.05)]),
        ]
    )
    brim = np.concatenate(
        [
            curve([(-2.3, -0.62), (-1.75, -0.30), (-1.0, -0.16), (0, -0.12)]),
            curve([(0, -0.12), (1.0, -0.16), (1.75, -0.30), (2.3, -0.62)]),
            curve([(2.3, -0.62), (1.8, -0.02), (1.0, 0.12), (0, 0.15)]),
            curve([(0, 0.15), (-1.0, 0.12), (-1.8, -0.02), (-2.3, -0.62)]),
        ]
    )
    band = np.array([(-1.09, -0.10), (-1.07, -0.32), (1.07, -0.32), (1.09, -0.10)])
    return {"crown": crown, "band": band, "brim": brim}


_HAT_PARTS: dict[str, Callable[[], dict[str, Points]]] = dict(
    zip(HATS, (_baseball, _beanie, _beret, _panama, _bucket, _cowboy), strict=True)
)
