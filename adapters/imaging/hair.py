"""Finding the hair of a photo and giving it another colour.

No weights: seeds come from the landmarks and from the skin colour of the cheeks, and GrabCut grows them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import cv2
import numpy as np
from numpy.typing import NDArray

from adapters.imaging import palette
from adapters.imaging.frame import Canvas, Geometry, Image, Plane
from adapters.imaging.palette import Rgb

VIEW = Canvas(scale=30)
"""Where hair is looked for."""
Mask = NDArray[np.bool_]
_LEAST_AREA = 0.35
"""Square face units; less hair than this is called none."""


@dataclass(frozen=True)
class Hair:
    """Hair found in a photo."""

    mask: Plane
    """0 to 1 on `VIEW`."""
    mean: NDArray[np.float32]
    """Mean L*a*b*."""

    @property
    def rgb(self) -> Rgb:
        """The mean as 8-bit RGB."""
        return palette.rgb_of(self.mean)


def skin_of(view_lab: Plane, canvas: Canvas, geometry: Geometry) -> tuple[NDArray[np.float32], Plane]:
    """Median L*a*b* of the cheeks and nose, and each pixel's distance from it in units of its spread."""
    across, down = canvas.grid()
    left, right = geometry.mouth
    nose = float(geometry.nose_base[1])
    cheeks = (down > 0.28) & (down < nose) & (across > left[0] - 0.22) & (across < right[0] + 0.22)
    skin = view_lab[cheeks]
    middle = np.median(skin, axis=0).astype(np.float32)
    deviation = 1.4826 * np.median(np.abs(skin - middle), axis=0)
    spread = np.clip(deviation, [5.0, 2.5, 2.5], [7.0, 3.5, 3.5]).astype(np.float32)
    delta = (view_lab - middle) / spread
    # Skin in light or shade keeps its hue; hair differs in lightness by more than shading does.
    weights = np.array([0.45, 1.0, 1.0], np.float32)
    return middle, cast(Plane, np.sqrt(((delta * weights) ** 2).sum(-1)))


def face_area(canvas: Canvas, geometry: Geometry) -> Plane:
    """The face from the eyebrows to the chin, 0 to 1."""
    brow = geometry.brow_top - 0.08
    left, right = geometry.contour[0], geometry.contour[-1]
    top = np.array([[right[0] * 0.9, brow], [left[0] * 0.9, brow]])
    return canvas.mask(np.concatenate([geometry.contour, top]))


@dataclass(frozen=True)
class _Scene:
    """A photo on `VIEW`, sorted into what surely is hair and what surely is not."""

    view: Image
    colors: Plane
    core: Mask
    never: Mask


def _survey(rgb: Image, geometry: Geometry) -> _Scene:
    view, inside = VIEW.view(rgb, geometry)
    colors = palette.lab(view)
    face = face_area(VIEW, geometry) > 0.5
    skin, unlike_skin = skin_of(colors, VIEW, geometry)
    across, down = VIEW.grid()
    brow = geometry.brow_top - 0.12
    # A forehead shines: only what is darker than skin is hair there.
    forehead = ((across / 0.75) ** 2 + ((down - brow) / 0.72) ** 2 < 1) & (colors[..., 0] > skin[0] - 12)
    head = (across / 1.22) ** 2 + ((down + 0.25) / 1.32) ** 2 < 1
    around = (across / 2.1) ** 2 + ((down + 0.2) / 2.3) ** 2 < 1
    falling = (np.abs(across) < 1.7) & (down > 0) & (down < 2.2) & (np.abs(across) > 0.75)
    never = ~(around | falling) | ~inside | face | forehead | ((unlike_skin < 2.0) & (down > brow - 0.35))
    return _Scene(view, colors, head & (down < brow) & (unlike_skin > 2.9) & ~never, never)


def hair_core(rgb: Image, geometry: Geometry) -> tuple[Mask, Plane] | None:
    """What surely is hair, on `VIEW`, and the L*a*b* there; None where there is next to none.

    Less than `find_hair` finds, but it hardly changes when something else in the photo does.
    """
    scene = _survey(rgb, geometry)
    if scene.core.sum() / VIEW.scale**2 < _LEAST_AREA:
        return None
    return scene.core, scene.colors


def find_hair(rgb: Image, geometry: Geometry) -> Hair | None:
    """The hair of a face, or None where there is next to none."""
    scene = _survey(rgb, geometry)
    if scene.core.sum() / VIEW.scale**2 < _LEAST_AREA:
        return None
    trimap = np.where(scene.never, cv2.GC_BGD, cv2.GC_PR_BGD).astype(np.uint8)
    trimap[scene.core] = cv2.GC_PR_FGD
    trimap[cv2.erode(scene.core.astype(np.uint8), np.ones((3, 3), np.uint8)) > 0] = cv2.GC_FGD
    mask = _grow(scene.view, trimap, scene.core)
    if mask.sum() / VIEW.scale**2 < _LEAST_AREA:
        return None
    soft = cast(Plane, cv2.GaussianBlur(mask.astype(np.float32), (0, 0), 0.8))
    return Hair(soft, scene.colors[mask].mean(0).astype(np.float32))


def _grow(view: Image, trimap: NDArray[np.uint8], likely: Mask) -> Mask:
    cv2.setRNGSeed(0)
    background, foreground = np.zeros((1, 65)), np.zeros((1, 65))
    bgr = np.ascontiguousarray(view[..., ::-1])
    # In mask mode OpenCV fills the trimap in place and reads no rectangle.
    cv2.grabCut(bgr, trimap, (0, 0, 1, 1), background, foreground, 2, cv2.GC_INIT_WITH_MASK)
    mask = ((trimap == cv2.GC_FGD) | (trimap == cv2.GC_PR_FGD)).astype(np.uint8)
    mask = cv2.morphologyEx(mask, cv2.MORPH_CLOSE, np.ones((3, 3), np.uint8))
    _, labels = cv2.connectedComponents(mask)
    touched = np.unique(labels[likely & (mask > 0)])
    return np.isin(labels, touched[touched > 0])


def on_canvas(mask: Plane, canvas: Canvas) -> Plane:
    """A mask of `VIEW` on another canvas of the same window."""
    height, width = canvas.shape
    grown = cast(Plane, cv2.resize(mask, (width, height), interpolation=cv2.INTER_LINEAR))
    return np.clip((grown - 0.25) * 2, 0, 1).astype(np.float32)


def recolor(rgb: Image, geometry: Geometry, hair: Hair, color: Rgb) -> Image:
    """The photo with its hair in another colour, light and shade kept."""
    height, width = rgb.shape[:2]
    alpha = cv2.warpAffine(hair.mask, VIEW.to_image(geometry), (width, height), flags=cv2.INTER_LINEAR)
    alpha = np.clip((cast(Plane, alpha) - 0.25) * 2, 0, 1)[..., None]
    rows, columns = np.flatnonzero(alpha.any((1, 2))), np.flatnonzero(alpha.any((0, 2)))
    if not len(rows):
        return rgb
    box = slice(rows[0], rows[-1] + 1), slice(columns[0], columns[-1] + 1)
    target = palette.lab_of(color)
    old = palette.lab(rgb[box])
    new = np.empty_like(old)
    contrast = 0.75 if 20 < target[0] < 85 else 0.45
    new[..., 0] = np.clip(target[0] + (old[..., 0] - hair.mean[0]) * np.float32(contrast), 4, 97)
    new[..., 1:] = target[1:] + (old[..., 1:] - hair.mean[1:]) * np.float32(0.15)
    dyed = np.clip(cv2.cvtColor(new, cv2.COLOR_LAB2RGB) * 255 + 0.5, 0, 255)
    out = rgb.copy()
    out[box] = (rgb[box] * (1 - alpha[box]) + dyed * alpha[box]).astype(np.uint8)
    return out
