"""Where the face is cut out: a square around the largest face of the reference photo, and nothing else.

Source: the multi-step identity-drift leaderboard, on its face crops. It is found once, on the reference;
faces are never looked for in an output, so that a model cannot win by moving one.

Coordinates are pixels of the upright reference, and whole numbers: side and corner are rounded to the
nearest, halves up. Along an axis on which the square is larger than the photo it cannot be inside; there it
covers all of the photo with as little shift as that takes, and what is outside is neutral grey (see
`adapters.imaging.crops`): repeated edge pixels would differ between two outputs and say nothing of a face.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from domain.errors import PhotoError
from domain.matches import CropBox

SIDE = 1.7
"""Of the square, in larger sides of the face's box."""
RAISED = 0.05
"""Of the face's height, by which the square's centre is above the face's."""
CROP_PIXELS = 768
"""Width and height of a crop."""

Box = tuple[float, float, float, float]


def largest_face(boxes: Iterable[Box]) -> Box:
    """The largest box by area; of equal ones the one further left, then further up.

    Raises:
        PhotoError: there is none with an area.
    """
    found = sorted(boxes, key=lambda box: (-_area(box), box))
    if not found or not _area(found[0]) > 0:
        raise PhotoError("no face was found on the reference photo, so none can be cut out", reason="no_face")
    return found[0]


def crop_box(photo: str, image_sha256: str, size: tuple[int, int], boxes: Iterable[Box]) -> CropBox:
    """The square of a reference photo.

    Args:
        photo: Its id.
        image_sha256: Of its bytes.
        size: Its width and height, upright.
        boxes: Its faces, each x1, y1, x2, y2.

    Raises:
        PhotoError: it has no face.
    """
    x1, y1, x2, y2 = face = largest_face(boxes)
    side = max(1, _nearest(SIDE * max(x2 - x1, y2 - y1)))
    centre_x, centre_y = (x1 + x2) / 2, (y1 + y2) / 2 - RAISED * (y2 - y1)
    width, height = size
    return CropBox(
        photo=photo,
        image_sha256=image_sha256,
        width=width,
        height=height,
        face=face,
        x=_inside(_nearest(centre_x - side / 2), side, width),
        y=_inside(_nearest(centre_y - side / 2), side, height),
        side=side,
    )


def _inside(start: int, side: int, length: int) -> int:
    """Shifted until the square is inside the photo, or the photo inside the square."""
    room = length - side
    return min(max(start, min(room, 0)), max(room, 0))


def _nearest(value: float) -> int:
    return math.floor(value + 0.5)


def _area(box: Box) -> float:
    return max(box[2] - box[0], 0.0) * max(box[3] - box[1], 0.0)
