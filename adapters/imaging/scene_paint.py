"""Putting a drawn thing into a picture and taking it out again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import cv2
import numpy as np

from adapters.imaging.frame import Image, Plane
from adapters.imaging.scene_finding import Found
from adapters.imaging.scene_items import Mask, shape_of

_COARSE = 4
"""Gaps are filled in a picture smaller by this factor: what is left is smooth, and it is fast."""


def cut_out(rgb: Image, thing: Found) -> tuple[Image, Mask]:
    """A thing as it is in the picture, and which pixels of its cell are its."""
    x0, y0, x1, y1 = thing.box
    return rgb[y0:y1, x0:x1].copy(), shape_of(thing.kind, thing.cell).whole


def put(rgb: Image, at: Found, picture: Image, mask: Mask) -> Image:
    """The picture with a thing put into a cell."""
    x0, y0, x1, y1 = at.box
    out = rgb.copy()
    out[y0:y1, x0:x1][mask] = picture[mask]
    return out


def covers(things: Sequence[Found], shape: tuple[int, ...]) -> Mask:
    """The pixels of all things."""
    out = np.zeros(shape[:2], bool)
    for thing in things:
        x0, y0, x1, y1 = thing.box
        out[y0:y1, x0:x1] |= shape_of(thing.kind, thing.cell).whole
    return out


def erase(rgb: Image, thing: Found) -> Image:
    """The picture with a thing gone and its surroundings grown over the gap."""
    x0, y0, x1, y1 = thing.box
    margin = 4 * _COARSE + max(thing.cell) // 4
    left, top = max(0, x0 - margin), max(0, y0 - margin)
    right, bottom = min(rgb.shape[1], x1 + margin), min(rgb.shape[0], y1 + margin)
    part = rgb[top:bottom, left:right]
    gap = np.zeros(part.shape[:2], np.uint8)
    gap[y0 - top : y1 - top, x0 - left : x1 - left] = shape_of(thing.kind, thing.cell).whole
    gap = cv2.dilate(gap, np.ones((5, 5), np.uint8))
    size = max(2, part.shape[1] // _COARSE), max(2, part.shape[0] // _COARSE)
    small = cv2.resize(part, size, interpolation=cv2.INTER_AREA)
    # A coarse pixel that holds any of the thing would spread its colour.
    holes = (cv2.resize(gap.astype(np.float32), size, interpolation=cv2.INTER_AREA) > 0).astype(np.uint8)
    holes = cv2.dilate(holes, np.ones((3, 3), np.uint8))
    filled = cv2.inpaint(small, holes, 3, cv2.INPAINT_TELEA)
    grown = cast(Plane, cv2.resize(filled, part.shape[1::-1], interpolation=cv2.INTER_CUBIC)).astype(
        np.float32
    )
    alpha = np.maximum(cv2.GaussianBlur(gap.astype(np.float32), (0, 0), 1.5), gap)[..., None]
    out = rgb.copy()
    out[top:bottom, left:right] = np.clip(part * (1 - alpha) + grown * alpha + 0.5, 0, 255).astype(np.uint8)
    return out
