"""The named places of a picture, and where in them a thing finds room beside faces and other things."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from adapters.imaging.frame import Face
from adapters.imaging.scene_finding import Found
from adapters.imaging.scene_items import SCALES, cell_of

Box = tuple[float, float, float, float]
"""Left, top, right, bottom in pixels."""
_SIDE = 0.42
"""What lies within this share of the picture from an edge is at that edge."""
_STEP = 0.02
_MARGIN = 0.03


def is_at(place: str, centre: tuple[float, float], shape: tuple[int, ...]) -> bool:
    """Whether a point lies at a named place of a picture; left and right are the viewer's."""
    x, y = centre[0] / shape[1], centre[1] / shape[0]
    across = x < _SIDE if "left" in place else x > 1 - _SIDE if "right" in place else 0.25 < x < 0.75
    down = y < _SIDE if "top" in place else y > 1 - _SIDE if "bottom" in place else 0.25 < y < 0.75
    return across and down


def place_of(centre: tuple[float, float], shape: tuple[int, ...]) -> str:
    """The name of the place nearest to a point, for a person to read."""
    x, y = centre[0] / shape[1], centre[1] / shape[0]
    words = [
        "top" if y < 1 / 3 else "bottom" if y > 2 / 3 else "",
        "left" if x < 1 / 3 else "right" if x > 2 / 3 else "",
    ]
    return " ".join(word for word in words if word) or "middle"


def head_boxes(faces: Sequence[Face]) -> list[Box]:
    """Around every face, with its hair and neck: nothing is drawn there while there is room elsewhere."""
    return [_around(face, 0.3, 0.4, 0.25) for face in faces]


def face_boxes(faces: Sequence[Face]) -> list[Box]:
    """Around every face, without its hair and neck: nothing is ever drawn there."""
    return [_around(face, 0.06, 0.1, 0.08) for face in faces]


def _around(face: Face, beside: float, above: float, below: float) -> Box:
    """The box of a face with margins, in widths and heights of it."""
    x0, y0, x1, y1 = (float(value) for value in face.box)
    width, height = x1 - x0, y1 - y0
    return x0 - beside * width, y0 - above * height, x1 + beside * width, y1 + below * height


def room_beside(
    faces: Sequence[Face],
    kind: str,
    place: str,
    shape: tuple[int, ...],
    things: Sequence[Found],
    cell: tuple[int, int] | None = None,
) -> Found | None:
    """The free cell for a thing as `room_for` finds it: beside the heads, or else at least beside the faces.

    A portrait may hold little more than a head; what then hides some hair or the neck hides no face.
    """
    for kept_free in (head_boxes(faces), face_boxes(faces)):
        found = room_for(kind, place, shape, kept_free, things, cell)
        if found is not None:
            return found
    return None


def room_for(
    kind: str,
    place: str,
    shape: tuple[int, ...],
    kept_free: Sequence[Box],
    things: Sequence[Found],
    cell: tuple[int, int] | None = None,
) -> Found | None:
    """The free cell at a place that is largest and then nearest to its edges, or None where there is none.

    A thing that is already drawn keeps its cell. What is returned has no colour: nothing is there yet.
    """
    gap = 0.01 * min(shape[:2])
    taken = [
        *kept_free,
        *((x0 - gap, y0 - gap, x1 + gap, y1 + gap) for x0, y0, x1, y1 in (t.box for t in things)),
    ]
    for size in [cell] if cell else [cell_of(kind, shape, scale) for scale in SCALES]:
        for x, y in _corners(place, shape, size):
            at = Found(kind, "", x, y, size)
            if is_at(place, at.centre, shape) and not any(overlap(at.box, other) for other in taken):
                return at
    return None


def overlap(one: Box, other: Box) -> bool:
    """Whether two boxes have an area in common."""
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _corners(place: str, shape: tuple[int, ...], cell: tuple[int, int]) -> Iterator[tuple[int, int]]:
    """Corners of cells inside the picture, those nearest to where a place is meant first."""
    side = min(shape[:2])
    margin, step = round(_MARGIN * side), max(2, round(_STEP * side))
    xs, ys = (
        np.arange(margin, length - size - margin + 1, step)
        for length, size in ((shape[1], cell[0]), (shape[0], cell[1]))
    )
    if not len(xs) or not len(ys):
        return
    wanted = (
        xs[0] if "left" in place else xs[-1] if "right" in place else (xs[0] + xs[-1]) / 2,
        ys[0] if "top" in place else ys[-1] if "bottom" in place else (ys[0] + ys[-1]) / 2,
    )
    across, down = np.meshgrid(xs, ys)
    far = np.hypot(across - wanted[0], down - wanted[1]).ravel()
    for i in np.argsort(far, kind="stable"):
        yield int(across.ravel()[i]), int(down.ravel()[i])
