"""Comparing two pictures of a scene: which drawn things came, went or changed, and what else did."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import cv2
import numpy as np

from adapters.imaging.frame import Face, FaceFinder, Image, Plane
from adapters.imaging.scene_finding import Found, find_things, letters_colour
from adapters.imaging.scene_items import Mask, shape_of
from adapters.imaging.scene_places import Box, head_boxes, place_of
from adapters.imaging.scene_prompts import SIGNS

_SAME_PLACE = 0.02
"""Share of the shorter side by which the middle of a thing that stayed may move."""
_COARSE_PX = 160
_NOISE = 22.0
"""Largest difference of coarse 8-bit values that recompression and smoothing make."""
_LARGE = 0.004
"""Share of the picture from which on a change is a large one."""
_SAME_FRAMING = 0.6
"""Least correlation of the edges of two pictures of the same section."""
_LEFT_OVER = 0.25
_STILL = 12
_MARGIN = 0.12


@dataclass(frozen=True)
class Sight:
    """One picture and what is seen in it."""

    rgb: Image
    faces: tuple[Face, ...]
    things: tuple[Found, ...]


def look(rgb: Image, faces: FaceFinder) -> Sight:
    """Look at a picture."""
    return Sight(rgb, tuple(faces.find(rgb)), find_things(rgb))


@dataclass(frozen=True)
class Changes:
    """The drawn things of two pictures, matched by kind and place."""

    stayed: tuple[tuple[Found, Found], ...]
    """Before and after; the colour may differ."""
    gone: tuple[Found, ...]
    come: tuple[Found, ...]

    def now(self, thing: Found) -> Found | None:
        """What a thing of the first picture is in the second one, where it stayed."""
        return next((after for before, after in self.stayed if before == thing), None)


def changes(old: Sight, new: Sight) -> Changes:
    """Match the things of two pictures of one size."""
    reach = _SAME_PLACE * min(old.rgb.shape[:2])
    left = list(new.things)
    stayed: list[tuple[Found, Found]] = []
    for thing in old.things:
        same = [other for other in left if other.kind == thing.kind and near(thing, other, reach)]
        if same:
            stayed.append((thing, same[0]))
            left.remove(same[0])
    kept = [before for before, _ in stayed]
    return Changes(tuple(stayed), tuple(t for t in old.things if t not in kept), tuple(left))


def near(one: Found, other: Found, reach: float) -> bool:
    """Whether the middles of two things are no further apart."""
    return bool(np.hypot(one.centre[0] - other.centre[0], one.centre[1] - other.centre[1]) <= reach)


def is_left(old: Sight, new: Sight, thing: Found) -> bool:
    """Whether something of a thing of the first picture is still where it was in the second.

    Its dark outline is looked at: a gap may well be filled with the colour of the thing itself.
    """
    x0, y0, x1, y1 = thing.box
    shape = shape_of(thing.kind, thing.cell)
    line = shape.whole & ~shape.filled
    for other in new.things:
        if other not in old.things:
            line = line & ~_on_cell(other, thing)
    if not line.any():
        return False
    before, after = (sight.rgb[y0:y1, x0:x1][line].astype(np.int16) for sight in (old, new))
    return float((np.abs(after - before).max(-1) <= _STILL).mean()) > _LEFT_OVER


def _on_cell(other: Found, thing: Found) -> Mask:
    """The pixels of one thing on the cell of another."""
    width, height = thing.cell
    out = np.zeros((height, width), np.uint8)
    matrix = np.array([[1.0, 0, other.x - thing.x], [0, 1, other.y - thing.y]])
    mask = shape_of(other.kind, other.cell).whole.astype(np.uint8)
    return cv2.warpAffine(mask, matrix, (width, height), dst=out, flags=cv2.INTER_NEAREST) > 0


def has_changed(old: Sight, new: Sight, sign: Found) -> bool:
    """Whether a sign looks different now."""
    x0, y0, x1, y1 = sign.box
    before, after = (sight.rgb[y0:y1, x0:x1].astype(np.int16) for sight in (old, new))
    return float((np.abs(after - before).max(-1) > 60).mean()) > 0.02


class Comparison:
    """Two pictures of one size, coarsely, and which of their pixels are accounted for."""

    def __init__(self, old: Sight, new: Sight) -> None:
        self._shape = old.rgb.shape
        self._old, self._new = _coarse(old.rgb), _coarse(new.rgb)
        self._ratio = self._old.shape[1] / self._shape[1], self._old.shape[0] / self._shape[0]
        self._explained = np.zeros(self._old.shape[:2], bool)
        for box in [*head_boxes(old.faces), *head_boxes(new.faces)]:
            self.explain(box, 0.0)

    def explain(self, box: Box, margin: float = _MARGIN) -> None:
        """Leave a box, in pixels, out of what is compared; the margin is a share of its sides."""
        across, down = margin * (box[2] - box[0]), margin * (box[3] - box[1])
        x0, x1 = (box[0] - across) * self._ratio[0], (box[2] + across) * self._ratio[0]
        y0, y1 = (box[1] - down) * self._ratio[1], (box[3] + down) * self._ratio[1]
        self._explained[max(0, int(y0)) : max(0, int(y1) + 2), max(0, int(x0)) : max(0, int(x1) + 2)] = True

    def explain_mask(self, mask: Mask) -> None:
        """Leave the pixels of a mask out, and what is beside them."""
        size = self._old.shape[1], self._old.shape[0]
        small = cv2.resize(mask.astype(np.uint8), size, interpolation=cv2.INTER_NEAREST)
        self._explained |= cv2.dilate(small, np.ones((7, 7), np.uint8)) > 0

    def large_changes(self) -> list[str]:
        """Where else the pictures differ over a large area, in words."""
        difference = np.abs(self._new.astype(np.float32) - self._old).mean(-1)
        changed = ((difference > _NOISE) & ~self._explained).astype(np.uint8)
        changed = cv2.morphologyEx(changed, cv2.MORPH_OPEN, np.ones((2, 2), np.uint8))
        _, _, stats, centres = cv2.connectedComponentsWithStats(changed, connectivity=8)
        large = [i for i in range(1, len(stats)) if stats[i, cv2.CC_STAT_AREA] >= _LARGE * changed.size]
        places = {place_of((float(centres[i][0]), float(centres[i][1])), changed.shape) for i in large}
        return [f"something else changed at the {place}" for place in sorted(places)]

    def same_framing(self) -> bool:
        """Whether the edges of both pictures, where nothing was asked for, lie at the same places."""
        one, other = (_edges(image) for image in (self._old, self._new))
        seen = ~self._explained
        if seen.mean() < 0.1:
            seen = np.ones_like(seen)
        a, b = one[seen] - one[seen].mean(), other[seen] - other[seen].mean()
        norm = float(np.sqrt((a**2).sum() * (b**2).sum()))
        return norm == 0 or float((a * b).sum()) / norm >= _SAME_FRAMING


def _coarse(rgb: Image) -> Image:
    height, width = rgb.shape[:2]
    ratio = min(1.0, _COARSE_PX / max(height, width))
    size = max(1, round(width * ratio)), max(1, round(height * ratio))
    return np.asarray(cv2.resize(rgb, size, interpolation=cv2.INTER_AREA), np.uint8)


def _edges(rgb: Image) -> Plane:
    grey = cast(Plane, cv2.cvtColor(rgb, cv2.COLOR_RGB2GRAY).astype(np.float32))
    across, down = cv2.Sobel(grey, cv2.CV_32F, 1, 0), cv2.Sobel(grey, cv2.CV_32F, 0, 1)
    return cast(Plane, cv2.magnitude(across, down))


def unasked(old: Sight, new: Sight, found: Changes, asked: Sequence[Found]) -> list[str]:
    """The drawn things that came, went or changed although nobody asked, in words."""
    shape, out = old.rgb.shape, list[str]()
    for words, things in (("vanished from", found.gone), ("appeared at", found.come)):
        for thing in things:
            if thing not in asked:
                out.append(f"a {thing.colour} {thing.kind} {words} the {place_of(thing.centre, shape)}")
    for before, after in found.stayed:
        if before in asked or after in asked:
            continue
        if after.colour != before.colour:
            out.append(f"the {before.colour} {before.kind} became {after.colour}")
        elif before.kind in SIGNS and (
            letters_colour(new.rgb, after) != before.letters or has_changed(old, new, before)
        ):
            out.append(f"the {before.kind} was rewritten")
    return out
