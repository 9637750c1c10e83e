"""A face's own coordinates, in which every shape is drawn and looked for.

Origin between the eyes, x to the viewer's right along the line of the eyes, y down, and one unit about the
distance between the eyes. The editor draws and the local judge looks in the same coordinates, each with the
landmarks it found itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, cast

import cv2
import numpy as np
from numpy.typing import NDArray

Image = NDArray[np.uint8]
"""Height x width x 3, RGB."""
Plane = NDArray[np.float32]
"""Height x width, or with channels behind."""
Points = NDArray[np.float64]
"""n x 2, x before y."""

_LEFT_EYE = slice(33, 43)
_RIGHT_EYE = slice(87, 97)
_CONTOUR = (
    1, 9, 10, 11, 12, 13, 14, 15, 16, 2, 3, 4, 5, 6, 7, 8, 0,
    24, 23, 22, 21, 20, 19, 18, 32, 31, 30, 29, 28, 27, 26, 25, 17,
)  # fmt: skip
_LEFT_BROW = slice(43, 52)
_RIGHT_BROW = slice(97, 106)


class Face(Protocol):
    """One face as a detector found it."""

    @property
    def box(self) -> NDArray[np.floating]:
        """Left, top, right, bottom in pixels."""
        ...

    @property
    def landmarks(self) -> NDArray[np.floating] | None:
        """106 points in pixels, or None when the landmark model is missing."""
        ...


class FaceFinder(Protocol):
    """Whatever finds faces in an RGB image, largest first."""

    def find(self, pixels: Image, /) -> Sequence[Face]:
        """All faces of an image."""
        ...


@dataclass(frozen=True)
class Geometry:
    """Where the parts of one face are."""

    origin: Points
    """The point between the eyes, in pixels."""
    axes: NDArray[np.float64]
    """2 x 2: columns are the x and the y unit in pixels."""
    points: Points
    """The 106 landmarks in face units."""

    @classmethod
    def of(cls, landmarks: NDArray[np.floating]) -> Geometry:
        """Coordinates from 106 landmarks in pixels."""
        pixels = landmarks.astype(np.float64)
        left, right = pixels[_LEFT_EYE].mean(0), pixels[_RIGHT_EYE].mean(0)
        across = right - left
        along = across / max(float(np.hypot(*across)), 1e-6)
        down = np.array([-along[1], along[0]])
        origin = (left + right) / 2
        mouth = (pixels[52] + pixels[61]) / 2 - origin
        # A turned head shortens the distance of the eyes, a nod that of the mouth: the mean moves least.
        unit = max(0.5 * float(np.hypot(*across)) + 0.5 * abs(float(mouth @ down)), 1e-3)
        axes = np.stack([along, down], axis=1) * unit
        return cls(origin, axes, (pixels - origin) @ np.linalg.inv(axes).T)

    @property
    def unit_px(self) -> float:
        """Pixels in one face unit."""
        return float(np.hypot(self.axes[0, 0], self.axes[1, 0]))

    @cached_property
    def eyes(self) -> tuple[Points, Points]:
        """Centres of the eye at the viewer's left and of the one at the right."""
        return self.points[_LEFT_EYE].mean(0), self.points[_RIGHT_EYE].mean(0)

    @cached_property
    def contour(self) -> Points:
        """33 points from the viewer's left temple over the chin to the right temple."""
        return self.points[list(_CONTOUR)]

    @cached_property
    def brow_top(self) -> float:
        """Y of the upper edge of the eyebrows (negative: above the eyes)."""
        return float(min(self.points[_LEFT_BROW, 1].min(), self.points[_RIGHT_BROW, 1].min()))

    @property
    def nose_base(self) -> Points:
        """Where the nose ends and the upper lip begins."""
        return self.points[80]

    @property
    def mouth(self) -> tuple[Points, Points]:
        """The corners of the mouth, viewer's left first."""
        return self.points[52], self.points[61]

    @property
    def lip_top(self) -> float:
        """Y of the upper edge of the upper lip."""
        return float(self.points[[63, 71, 67], 1].mean())

    @property
    def lip_bottom(self) -> float:
        """Y of the lower edge of the lower lip."""
        return float(self.points[53, 1])

    @property
    def chin(self) -> Points:
        """The lowest point of the chin."""
        return self.points[0]

    @cached_property
    def yaw(self) -> float:
        """How far the nose sits from the middle of the face, in half face widths; viewer's left is < 0."""
        left, right = float(self.contour[:6, 0].mean()), float(self.contour[-6:, 0].mean())
        nose = float(self.points[[73, 74, 86, 80], 0].mean())
        return (nose - (left + right) / 2) / max((right - left) / 2, 1e-3)

    def mirrored(self, width: int) -> Geometry:
        """The geometry of the same face in the picture mirrored left to right."""
        landmarks = self.points @ self.axes.T + self.origin
        landmarks = np.stack([width - 1 - landmarks[:, 0], landmarks[:, 1]], axis=1)
        return Geometry.of(landmarks[_MIRROR])


def _mirror_order() -> list[int]:
    """Landmark i of a mirrored face is landmark order[i] of the face.

    The points of an eye or of a brow are only ever used together, so their order within it is free.
    """
    order = list(range(106))
    pairs = [*zip(_CONTOUR[:16], _CONTOUR[:16:-1], strict=True), (52, 61), (63, 67)]
    pairs += zip(range(33, 43), range(87, 97), strict=True)
    pairs += zip(range(43, 52), range(97, 106), strict=True)
    for one, other in pairs:
        order[one], order[other] = other, one
    return order


_MIRROR = _mirror_order()


@dataclass(frozen=True)
class Canvas:
    """A raster over the face's coordinates: a fixed window at a chosen scale."""

    scale: float
    """Pixels a face unit."""
    left: float = -2.7
    top: float = -2.7
    right: float = 2.7
    bottom: float = 2.7

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width in pixels."""
        return (
            round((self.bottom - self.top) * self.scale),
            round((self.right - self.left) * self.scale),
        )

    def pixels(self, points: Points) -> Points:
        """Face units to canvas pixels."""
        return (points - np.array([self.left, self.top])) * self.scale

    def to_image(self, geometry: Geometry) -> NDArray[np.float64]:
        """2 x 3 matrix from canvas pixels to image pixels."""
        linear = geometry.axes / self.scale
        corner = geometry.axes @ np.array([self.left, self.top]) + geometry.origin
        return np.concatenate([linear, corner[:, None]], axis=1)

    def grid(self) -> tuple[Plane, Plane]:
        """X and y in face units of every pixel."""
        height, width = self.shape
        x = np.arange(width, dtype=np.float32) / np.float32(self.scale) + np.float32(self.left)
        y = np.arange(height, dtype=np.float32) / np.float32(self.scale) + np.float32(self.top)
        across, down = np.meshgrid(x, y)
        return across, down

    def mask(self, *polygons: Points) -> Plane:
        """The union of polygons, anti-aliased, 0 to 1."""
        out = np.zeros(self.shape, np.uint8)
        for polygon in polygons:
            corners = np.round(self.pixels(polygon) * 16).astype(np.int32)
            cv2.fillPoly(out, [corners], (255,), cv2.LINE_AA, 4)
        return out.astype(np.float32) / np.float32(255)

    def stroke(self, line: Points, width: float, closed: bool = False) -> Plane:
        """A line of a width in face units, anti-aliased, 0 to 1."""
        out = np.zeros(self.shape, np.uint8)
        corners = np.round(self.pixels(line) * 16).astype(np.int32)
        cv2.polylines(out, [corners], closed, (255,), max(1, round(width * self.scale)), cv2.LINE_AA, 4)
        return out.astype(np.float32) / np.float32(255)

    def view(self, rgb: Image, geometry: Geometry) -> tuple[Image, NDArray[np.bool_]]:
        """The picture seen in the face's coordinates, and which pixels lie inside the picture."""
        height, width = self.shape
        flags = cv2.INTER_AREA | cv2.WARP_INVERSE_MAP
        matrix = self.to_image(geometry)
        source, matrix = _shrink(rgb, matrix, geometry.unit_px / self.scale)
        seen = cv2.warpAffine(source, matrix, (width, height), flags=flags, borderMode=cv2.BORDER_REPLICATE)
        across, down = np.meshgrid(np.arange(width), np.arange(height))
        x = matrix[0, 0] * across + matrix[0, 1] * down + matrix[0, 2]
        y = matrix[1, 0] * across + matrix[1, 1] * down + matrix[1, 2]
        inside = (x >= 0) & (y >= 0) & (x <= source.shape[1] - 1) & (y <= source.shape[0] - 1)
        return cast(Image, seen), inside


def _shrink(rgb: Image, matrix: NDArray[np.float64], factor: float) -> tuple[Image, NDArray[np.float64]]:
    """Average the picture down first where the view is much smaller: warping alone would alias."""
    if factor <= 1.2:
        return rgb, matrix
    height, width = rgb.shape[:2]
    size = max(1, round(width / factor)), max(1, round(height / factor))
    small = cv2.resize(rgb, size, interpolation=cv2.INTER_AREA)
    ratio = np.array([[size[0] / width], [size[1] / height]])
    return cast(Image, small), matrix * ratio


def largest(faces: Sequence[Face]) -> Geometry | None:
    """The geometry of the largest face that has landmarks, or None."""
    for face in faces:
        if face.landmarks is not None:
            return Geometry.of(face.landmarks)
    return None
