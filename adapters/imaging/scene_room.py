"""What a photo has room for, before anything is drawn: who plans edits can ask, and need not guess.

The editor will find the faces again in each picture that it gets, a few pixels away from where they are now.
So a plan is made for several photos at once, with the faces where they are, larger and smaller; what has room
in all of them has room in the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from adapters.imaging.frame import Face, Image
from adapters.imaging.scene_cloth import body_below, chest_colour, colour_name
from adapters.imaging.scene_finding import Found
from adapters.imaging.scene_places import room_beside

_SLACK = (0.0, 0.04, -0.04)
"""Of a face's width and height, by which its box may be found larger on each side."""
_PLAIN_CHEST = 0.008
"""Share of the photo that the chest must take to be sure to be found again: twice what the editor needs."""


@dataclass(frozen=True)
class _Grown:
    """A face whose box is a little larger than it was found."""

    box: NDArray[np.floating]
    landmarks: NDArray[np.floating] | None


@dataclass
class _Plan:
    """The faces as they may be found, and the things that were planned beside them."""

    faces: Sequence[Face]
    things: list[Found] = field(default_factory=list[Found])


class SceneRoom:
    """The free places of one photo; what is put into it takes its place."""

    def __init__(self, rgb: Image, faces: Sequence[Face]) -> None:
        self._shape = rgb.shape
        self._plans = [_Plan([_grown(face, slack) for face in faces]) for slack in _SLACK]
        body = body_below(rgb.shape, faces, ())
        plain = body is not None and float(body.chest.mean()) >= _PLAIN_CHEST
        self.clothes: str | None = colour_name(chest_colour(rgb, body)) if body and plain else None
        """The colour of the clothes; None where too little of them is seen."""

    def put(self, kind: str, place: str) -> bool:
        """Plan a thing at a place, if there is room for it."""
        cells = [room_beside(plan.faces, kind, place, self._shape, plan.things) for plan in self._plans]
        found = [cell for cell in cells if cell is not None]
        if len(found) < len(cells):
            return False
        for plan, cell in zip(self._plans, found, strict=True):
            plan.things.append(cell)
        return True


def _grown(face: Face, slack: float) -> _Grown:
    x0, y0, x1, y1 = (float(value) for value in face.box)
    across, down = slack * (x1 - x0), slack * (y1 - y0)
    return _Grown(np.array([x0 - across, y0 - down, x1 + across, y1 + down]), face.landmarks)
