"""What the items and signs of drawn scenes look like, as masks of exact pixels.

Each is flat in one colour inside a dark outline, at one of three sizes that follow from the picture's, so
that whoever looks for one knows its shape to the pixel.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import cv2
import numpy as np
from numpy.typing import NDArray

from adapters.imaging.frame import Image
from adapters.imaging.outlines import superellipse
from adapters.imaging.palette import Rgb
from adapters.imaging.scene_prompts import COLOURS, ITEMS, SIGNS

Mask = NDArray[np.bool_]
OUTLINE: Rgb = (75, 72, 70)
SCALES = (1.0, 0.75, 0.55)
"""Sizes that are tried in turn where there is little room."""
_HEIGHT = 0.17
_SIGNS = {
    "sign": (0.36, 0.14), "poster": (0.2, 0.26), "banner": (0.44, 0.09), "board": (0.28, 0.18),
    "label": (0.2, 0.09),
}  # fmt: skip
"""Width and height of what words are on, and above the height of an item, in shorter sides of the picture."""
_LEAST_PX = 12

Corners = tuple[tuple[float, float], ...]
_ROUND: Corners = tuple((float(x), float(y)) for x, y in superellipse((0.5, 0.5), (0.5, 0.5), 2))
_BODIES: dict[str, tuple[Corners, ...]] = {
    "mug": (((0.02, 0), (0.7, 0), (0.66, 1), (0.06, 1)),
            ((0.6, 0.2), (0.98, 0.2), (0.98, 0.75), (0.6, 0.75))),
    "book": (((0.14, 0), (0.86, 0), (0.86, 1), (0.14, 1)),),
    "ball": (_ROUND,),
    "bottle": (((0.4, 0), (0.6, 0), (0.6, 0.3), (0.72, 0.45), (0.72, 1),
                (0.28, 1), (0.28, 0.45), (0.4, 0.3)),),
    "vase": (((0.3, 0), (0.7, 0), (0.6, 0.25), (0.88, 0.6), (0.66, 1), (0.34, 1), (0.12, 0.6), (0.4, 0.25)),),
    "lamp": (((0.34, 0), (0.66, 0), (0.96, 0.5), (0.04, 0.5)),
             ((0.44, 0.48), (0.56, 0.48), (0.56, 0.88), (0.78, 1), (0.22, 1), (0.44, 0.88))),
    "box": (((0, 0.1), (1, 0.1), (1, 0.9), (0, 0.9)),),
    "kite": (((0.5, 0), (0.86, 0.36), (0.5, 1), (0.14, 0.36)),),
}  # fmt: skip
"""Corners of the parts of each item, in its square; y down."""
_MARKS: dict[str, Corners] = {
    "mug": ((0.72, 0.32), (0.86, 0.32), (0.86, 0.63), (0.71, 0.63)),
    "book": ((0.3, 0.16), (0.7, 0.16), (0.7, 0.32), (0.3, 0.32)),
    "ball": ((0.28, 0.3), (0.42, 0.22), (0.46, 0.3), (0.34, 0.42)),
    "bottle": ((0.36, 0.58), (0.64, 0.58), (0.64, 0.8), (0.36, 0.8)),
    "vase": ((0.4, 0.55), (0.6, 0.55), (0.5, 0.7)),
    "lamp": ((0.42, 0.14), (0.5, 0.14), (0.42, 0.36), (0.32, 0.36)),
    "box": ((0.42, 0.2), (0.58, 0.2), (0.58, 0.42), (0.42, 0.42)),
    "kite": ((0.5, 0.2), (0.62, 0.36), (0.5, 0.56), (0.38, 0.36)),
}
"""A small dark mark inside each, which makes it easier to recognise for people."""


@dataclass(frozen=True)
class Shape:
    """Masks of one thing on its cell."""

    filled: Mask
    """Everything inside the outline."""
    whole: Mask
    """With the outline."""
    marks: Mask


def cell_of(kind: str, shape: tuple[int, ...], scale: float) -> tuple[int, int]:
    """Width and height in pixels of the cell that a thing takes in a picture of a shape."""
    side = min(shape[:2])
    across, down = _SIGNS.get(kind, (_HEIGHT, _HEIGHT))
    return max(_LEAST_PX, round(side * across * scale)), max(_LEAST_PX, round(side * down * scale))


@cache
def shape_of(kind: str, cell: tuple[int, int]) -> Shape:
    """The masks of an item or of a board without words."""
    width, height = cell
    line = max(2, round(height * 0.03))
    if kind in SIGNS:
        filled = np.zeros((height, width), np.uint8)
        filled[line : height - line, line : width - line] = 1
        marks = np.zeros_like(filled)
    else:
        filled = _drawn(_BODIES[kind], cell, line)
        marks = _drawn((_MARKS[kind],), cell, line)
    whole = cv2.dilate(filled, np.ones((2 * line + 1, 2 * line + 1), np.uint8))
    return Shape(filled > 0, whole > 0, (marks > 0) & (filled > 0))


def _drawn(parts: tuple[Corners, ...], cell: tuple[int, int], line: int) -> NDArray[np.uint8]:
    width, height = cell
    out = np.zeros((height, width), np.uint8)
    inner = np.array([width - 1 - 2 * line, height - 1 - 2 * line])
    for part in parts:
        corners = np.round(np.array(part) * inner + line).astype(np.int32)
        cv2.fillPoly(out, [corners], (1,))
    return out


def picture_of(kind: str, colour: str, cell: tuple[int, int]) -> tuple[Image, Mask]:
    """A thing in a colour on its cell, and which pixels of the cell are its."""
    shape = shape_of(kind, cell)
    out = np.zeros((*shape.whole.shape, 3), np.uint8)
    out[shape.whole] = OUTLINE
    out[shape.filled] = COLOURS[colour]
    out[shape.marks] = OUTLINE
    return out, shape.whole


@cache
def words_of(words: str, cell: tuple[int, int]) -> Mask:
    """Where the letters of a sign are on its cell."""
    width, height = cell
    (across, _), _ = cv2.getTextSize(words, cv2.FONT_HERSHEY_DUPLEX, 1.0, 2)
    (_, tall), _ = cv2.getTextSize("H", cv2.FONT_HERSHEY_DUPLEX, 1.0, 2)
    size = min(0.84 * width / across, 0.52 * height / tall)
    bold = max(1, round(2.2 * size))
    (across, tall), _ = cv2.getTextSize(words, cv2.FONT_HERSHEY_DUPLEX, size, bold)
    corner = round((width - across) / 2), round((height + tall) / 2)
    out = np.zeros((height, width), np.uint8)
    cv2.putText(out, words, corner, cv2.FONT_HERSHEY_DUPLEX, size, (255,), bold, cv2.LINE_AA)
    return (out > 127) & shape_of(SIGNS[0], cell).filled


def sign_of(words: str, letters: str, board: str, cell: tuple[int, int]) -> tuple[Image, Mask]:
    """A sign with its words, and which pixels of the cell are its."""
    out, whole = picture_of(SIGNS[0], board, cell)
    out[words_of(words, cell)] = COLOURS[letters]
    return out, whole


KINDS = (*ITEMS, *SIGNS)
"""All that can be drawn and found."""
