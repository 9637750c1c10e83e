"""Finding drawn items and signs in a picture, by colour and exact shape; nobody remembers where they are.

A thing is found when a connected patch of one of the named colours has the outline of its shape at one of
the sizes that a picture of that size allows, and a dark line runs around it. A large picture may be
recompressed in between, a small one hardly. A thing that is half covered is not found, nor is one in a
picture that was made larger or smaller by much.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from adapters.imaging.frame import Image
from adapters.imaging.scene_items import KINDS, OUTLINE, SCALES, Mask, cell_of, shape_of, words_of
from adapters.imaging.scene_prompts import COLOURS, SIGNS, Thing

_COLOUR_REACH = 22
"""Largest difference of an 8-bit channel from a named colour."""
_SAME_SHAPE = 0.86
"""Least share that two masks of the same shape have in common (intersection over union)."""
_SAME_WORDS = 0.988
"""As strict as that, since an O and a Q share so much."""
_LINE_SHARE = 0.5
"""Least share of the outline that must be dark."""
_SIZE_SLACK = 3


@dataclass(frozen=True)
class Found:
    """One drawn thing in a picture."""

    kind: str
    colour: str
    x: int
    y: int
    """Left and top of its cell."""
    cell: tuple[int, int]
    """Width and height."""
    letters: str | None = None
    """Colour of a sign's letters, where there are any."""

    @property
    def box(self) -> tuple[int, int, int, int]:
        """Left, top, right, bottom of the cell."""
        return self.x, self.y, self.x + self.cell[0], self.y + self.cell[1]

    @property
    def centre(self) -> tuple[float, float]:
        """Of the cell."""
        return self.x + self.cell[0] / 2, self.y + self.cell[1] / 2

    def is_a(self, thing: Thing) -> bool:
        """Whether a prompt can mean it."""
        return self.kind == thing.kind and thing.colour in (None, self.colour)


@dataclass(frozen=True)
class _Candidate:
    kind: str
    cell: tuple[int, int]
    filled: Mask
    thinner: Mask
    """What recompression leaves of it, a pixel less on every side."""
    left: int
    top: int
    """Of the filled part in the cell."""


def find_things(rgb: Image) -> tuple[Found, ...]:
    """Every drawn thing of a picture, in the order of the colours, from the top down."""
    candidates = _candidates(rgb.shape)
    heights = [candidate.filled.shape[0] for candidate in candidates]
    found: list[Found] = []
    for colour, value in COLOURS.items():
        low, high = (np.clip(np.array(value) + side * _COLOUR_REACH, 0, 255) for side in (-1, 1))
        patch = cv2.inRange(rgb, low.astype(np.uint8), high.astype(np.uint8))
        if cv2.countNonZero(patch) < min(heights) ** 2 // 4:
            continue
        _, labels, stats, _ = cv2.connectedComponentsWithStats(patch, connectivity=4)
        labels, stats = np.asarray(labels, np.int32), np.asarray(stats, np.int32)
        found += _things_of(rgb, colour, labels, stats, candidates)
    return tuple(found)


def _candidates(shape: tuple[int, ...]) -> list[_Candidate]:
    out: list[_Candidate] = []
    for kind in KINDS:
        for scale in SCALES:
            cell = cell_of(kind, shape, scale)
            filled = shape_of(kind, cell).filled
            thinner = cv2.erode(filled.astype(np.uint8), np.ones((3, 3), np.uint8)) > 0
            inner, left, top = _trimmed(filled)
            out.append(_Candidate(kind, cell, inner, _trimmed(thinner)[0], left, top))
    return out


def _trimmed(mask: Mask) -> tuple[Mask, int, int]:
    """The mask without its empty margins, and how wide those at the left and at the top were."""
    rows, columns = np.flatnonzero(mask.any(1)), np.flatnonzero(mask.any(0))
    inner = mask[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    return inner, int(columns[0]), int(rows[0])


def _things_of(
    rgb: Image,
    colour: str,
    labels: NDArray[np.int32],
    stats: NDArray[np.int32],
    candidates: list[_Candidate],
) -> list[Found]:
    found: list[Found] = []
    least = min(int(candidate.filled.sum()) for candidate in candidates) // 2
    for label in np.flatnonzero(stats[:, cv2.CC_STAT_AREA] >= least):
        x, y, width, height, area = (int(value) for value in stats[label])
        near = [c for c in candidates if _fits(c, width, height)]
        if label == 0 or not near:
            continue
        patch = _without_holes(labels[y : y + height, x : x + width] == label)
        scores = {
            i: max(_alike(patch, c.filled), _alike(patch, c.thinner)) if area > 0.5 * c.filled.sum() else 0.0
            for i, c in enumerate(near)
        }
        best = max(scores, key=lambda i: scores[i])
        like = near[best]
        left = x - like.left + round((width - like.filled.shape[1]) / 2)
        top = y - like.top + round((height - like.filled.shape[0]) / 2)
        thing = Found(like.kind, colour, left, top, like.cell)
        if scores[best] >= _SAME_SHAPE and _has_outline(rgb, thing):
            letters = letters_colour(rgb, thing) if thing.kind in SIGNS else None
            found.append(Found(thing.kind, colour, thing.x, thing.y, thing.cell, letters))
    return found


def _fits(candidate: _Candidate, width: int, height: int) -> bool:
    return any(
        abs(mask.shape[1] - width) <= _SIZE_SLACK and abs(mask.shape[0] - height) <= _SIZE_SLACK
        for mask in (candidate.filled, candidate.thinner)
    )


def _without_holes(patch: Mask) -> Mask:
    framed = np.pad(patch.astype(np.uint8), 1)
    outlines, _ = cv2.findContours(framed, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    out = np.zeros_like(framed)
    cv2.drawContours(out, outlines, -1, (1,), cv2.FILLED)
    return out[1:-1, 1:-1] > 0


def _alike(one: Mask, other: Mask) -> float:
    height, width = (max(a, b) for a, b in zip(one.shape, other.shape, strict=True))
    both = np.zeros((2, height, width), bool)
    for sheet, mask in zip(both, (one, other), strict=True):
        sheet[: mask.shape[0], : mask.shape[1]] = mask
    return float((both[0] & both[1]).sum()) / max(int((both[0] | both[1]).sum()), 1)


def _cut(rgb: Image, thing: Found) -> Image | None:
    x0, y0, x1, y1 = thing.box
    if x0 < 0 or y0 < 0 or x1 > rgb.shape[1] or y1 > rgb.shape[0]:
        return None
    return rgb[y0:y1, x0:x1]


def _has_outline(rgb: Image, thing: Found) -> bool:
    seen = _cut(rgb, thing)
    if seen is None:
        return False
    shape = shape_of(thing.kind, thing.cell)
    line = seen[shape.whole & ~shape.filled].astype(np.int16)
    dark = np.abs(line - np.array(OUTLINE)).max(-1) <= 2 * _COLOUR_REACH
    return float(dark.mean()) >= _LINE_SHARE


def _nearest_colours(pixels: NDArray[np.uint8]) -> NDArray[np.intp]:
    values = np.array(list(COLOURS.values()), np.int32)
    return np.abs(pixels[:, None].astype(np.int32) - values).sum(-1).argmin(-1)


def letters_colour(rgb: Image, sign: Found) -> str | None:
    """The colour of the letters of a sign, or None where it has none."""
    seen = _cut(rgb, sign)
    if seen is None:
        return None
    pixels = seen[shape_of(sign.kind, sign.cell).filled]
    counts = np.bincount(_nearest_colours(_flat(pixels)), minlength=len(COLOURS))
    names = list(COLOURS)
    counts[names.index(sign.colour)] = 0
    return names[int(counts.argmax())] if counts.max() > 0.01 * len(pixels) else None


def _flat(pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Only the pixels that have one of the named colours: the edges of letters mix two."""
    values = np.array(list(COLOURS.values()), np.int32)
    near = np.abs(pixels[:, None].astype(np.int32) - values).max(-1).min(-1) <= _COLOUR_REACH
    return pixels[near]


def has_words(rgb: Image, sign: Found, words: str) -> bool:
    """Whether a sign says these very words, by comparing it with how they would be drawn on it."""
    seen = _cut(rgb, sign)
    if seen is None or sign.letters is None:
        return False
    away = np.abs(seen.astype(np.int32) - np.array(COLOURS[sign.colour])).sum(-1)
    towards = np.abs(seen.astype(np.int32) - np.array(COLOURS[sign.letters])).sum(-1)
    inked = (towards < away) & shape_of(sign.kind, sign.cell).filled
    expected = words_of(words, sign.cell)
    shifts = [(x, y) for x in (-1, 0, 1) for y in (-1, 0, 1)]  # recompression moves edges
    return max(_alike(inked, np.roll(expected, shift, (1, 0))) for shift in shifts) >= _SAME_WORDS
