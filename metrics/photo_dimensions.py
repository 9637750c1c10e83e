"""What kind of photo it is, measured: how many people, how large a face, how much of a person."""

from __future__ import annotations

from domain.chains import FaceSize, View

VERSION = "1"
"""Raised whenever the same faces give another face size or view."""
SMALL_BELOW, MEDIUM_BELOW = 0.15, 0.25
"""Height of the largest face as a share of the image's."""
CLOSE_BELOW, HALF_BELOW = 3.0, 6.0
"""Heights of the largest face between its top and the lower edge of the image.

A detector's box of a face goes from the middle of the forehead to the chin, about four fifths of a head, and
a standing adult is seven and a half heads tall. So, counted from the top of the box, the chest is at 2.2
faces, the navel at 3.5, the middle of the thighs at 5.6 and the soles are at 9.
"""


def face_share(box: tuple[float, float, float, float], height: int) -> float:
    """Height of a face as a share of the image's.

    Args:
        box: x1, y1, x2, y2 in pixels.
        height: Of the image, in pixels.
    """
    return (box[3] - box[1]) / height


def face_size(share: float) -> FaceSize:
    """Small, medium or large, by the height of the largest face as a share of the image's."""
    return "small" if share < SMALL_BELOW else "medium" if share < MEDIUM_BELOW else "large"


def view_of(box: tuple[float, float, float, float], height: int) -> View:
    """How much of the person with the largest face is in the picture, if nothing hides it.

    A person who sits or lies shows less of the body than the rule takes for seen, which is why a view that
    the table states is preferred.

    Args:
        box: x1, y1, x2, y2 of the largest face, in pixels.
        height: Of the image, in pixels.
    """
    faces_down = (height - box[1]) / (box[3] - box[1])
    return "close" if faces_down < CLOSE_BELOW else "half" if faces_down < HALF_BELOW else "full"
