"""Filling the outlines of `adapters.imaging.shapes` with colour, shade and texture.

Everything worn is painted on one transparent sheet in the face's coordinates and laid on the photo at once.
"""

from __future__ import annotations

from typing import cast

import cv2
import numpy as np

from adapters.imaging import hats, palette, shapes
from adapters.imaging.frame import Canvas, Geometry, Image, Plane
from adapters.imaging.palette import Rgb


class Sheet:
    """A transparent picture over a face, premultiplied by its own opacity."""

    def __init__(self, canvas: Canvas, rng: np.random.Generator) -> None:
        self.canvas = canvas
        self.rng = rng
        self.paint: Plane = np.zeros((*canvas.shape, 4), np.float32)

    def lay(self, mask: Plane, color: Rgb, shade: Plane | None = None) -> None:
        """Paint a colour where the mask is, `shade` a factor on its brightness."""
        rows, columns = np.flatnonzero(mask.any(1)), np.flatnonzero(mask.any(0))
        if not len(rows):
            return
        box = slice(rows[0], rows[-1] + 1), slice(columns[0], columns[-1] + 1)
        part = mask[box][..., None]
        filled = np.array(color, np.float32)
        if shade is not None:
            filled = np.clip(filled * shade[box][..., None], 0, 255)
        under = self.paint[box]
        under *= 1 - part
        under[..., :3] += filled * part
        under[..., 3:] += part

    def noise(self, across: float, down: float) -> Plane:
        """Smooth noise of mean 0 and deviation 1 with grain sizes in face units."""
        height, width = self.canvas.shape
        grain = self.rng.standard_normal((height, width), np.float32)
        sigma = max(across * self.canvas.scale, 0.4), max(down * self.canvas.scale, 0.4)
        smooth = cast(Plane, cv2.GaussianBlur(grain, (0, 0), sigmaX=sigma[0], sigmaY=sigma[1]))
        return smooth / np.float32(max(float(smooth.std()), 1e-6))

    def over(self, rgb: Image, geometry: Geometry) -> Image:
        """The photo with the sheet laid on it."""
        if not self.paint[..., 3].any():
            return rgb
        height, width = rgb.shape[:2]
        matrix = self.canvas.to_image(geometry)
        warped = cv2.warpAffine(self.paint, matrix, (width, height), flags=cv2.INTER_LINEAR)
        mixed = rgb.astype(np.float32) * (1 - warped[..., 3:]) + warped[..., :3]
        return np.clip(mixed + 0.5, 0, 255).astype(np.uint8)


def paint_hat(sheet: Sheet, geometry: Geometry, category: str) -> None:
    """A hat of one category."""
    across, _ = sheet.canvas.grid()
    round_shade = np.float32(1.1) - np.float32(0.1) * across**2
    weave = _weave(sheet, category)
    for name, outline in hats.hat(geometry, category).items():
        color = palette.HATS[category][name]
        shade = round_shade if name == "band" else round_shade * weave
        sheet.lay(sheet.canvas.mask(outline), color, shade)
        edge = sheet.canvas.stroke(outline, 0.025, closed=True) * np.float32(0.7)
        sheet.lay(edge, color, np.full(edge.shape, 0.55, np.float32))


def _weave(sheet: Sheet, category: str) -> Plane:
    across, down = sheet.canvas.grid()
    if category == "beanie hat":
        return 1 + np.float32(0.10) * np.sin(across * np.float32(2 * np.pi / 0.16))
    if category == "panama hat":
        straw = np.sin(across * np.float32(2 * np.pi / 0.11)) * np.sin(down * np.float32(2 * np.pi / 0.11))
        return 1 + np.float32(0.05) * straw
    return 1 + np.float32(0.03) * sheet.noise(0.05, 0.05)


def paint_glasses(sheet: Sheet, geometry: Geometry, form: shapes.LensForm, tinted: bool) -> None:
    """Glasses with clear or tinted lenses."""
    drawn = shapes.glasses(geometry, form)
    for lens in drawn.lenses:
        opacity = np.float32(0.50 if tinted else 0.05)
        sheet.lay(sheet.canvas.mask(lens) * opacity, palette.TINT)
        sheet.lay(sheet.canvas.stroke(lens, 0.045, closed=True), palette.FRAME)
    for bar in drawn.bars:
        sheet.lay(sheet.canvas.stroke(bar, 0.05), palette.FRAME)


def paint_mustache(sheet: Sheet, geometry: Geometry, category: str, skin: Rgb) -> None:
    """A mustache of one category, darker than the skin in any case."""
    mask = sheet.canvas.mask(*shapes.mustache(geometry, category))
    sheet.lay(
        mask, palette.darker(palette.MUSTACHE, skin, 0.3), 1 + np.float32(0.25) * sheet.noise(0.012, 0.03)
    )


def paint_beard(sheet: Sheet, geometry: Geometry, category: str, skin: Rgb) -> None:
    """A beard of one category, darker than the skin in any case; stubble lets the skin show."""
    mask = sheet.canvas.mask(*shapes.beard(geometry, category))
    if category == "stubble":
        dots = np.clip(sheet.noise(0.013, 0.017) - np.float32(0.35), 0, 1).astype(np.float32)
        soft = cv2.GaussianBlur(mask, (0, 0), 0.04 * sheet.canvas.scale).astype(np.float32)
        opacity = soft * (np.float32(0.18) + np.float32(0.8) * dots)
        sheet.lay(opacity, palette.darker(palette.MUSTACHE, skin, 0.15))
        return
    soft = cv2.GaussianBlur(mask, (0, 0), 0.045 * sheet.canvas.scale)
    ragged = soft * 1.25 + 0.2 * sheet.noise(0.012, 0.03) * (soft > 0.03)
    opacity = np.clip(ragged, 0, 1).astype(np.float32) * np.float32(0.80)
    sheet.lay(
        opacity, palette.darker(palette.BEARD, skin, 0.42), 1 + np.float32(0.22) * sheet.noise(0.012, 0.04)
    )


def paint_style(sheet: Sheet, geometry: Geometry, category: str, color: Rgb) -> Plane:
    """A hair style in a colour; returns the area that it covers."""
    mask = sheet.canvas.mask(*shapes.hair_style(geometry, category))
    across, down = sheet.canvas.grid()
    shine = np.float32(1.08) - np.float32(0.10) * np.abs(across) - np.float32(0.04) * down
    strands = sheet.noise(0.02, 0.4 if category == "bob cut" else 0.12)
    shade = (shine + np.float32(0.14) * strands).astype(np.float32)
    sheet.lay(mask, color, shade)
    if category == "spiked cut":
        for spike in shapes.hair_style(geometry, category):
            sheet.lay(sheet.canvas.stroke(spike[:3], 0.02) * np.float32(0.5), color, shade * np.float32(0.5))
    return mask


def paint_hair_type(sheet: Sheet, category: str, area: Plane) -> None:
    """Curls or smooth strands over an area of hair."""
    dark, light = shapes.hair_pattern(category, sheet.canvas)
    sheet.lay(area * dark * np.float32(0.45), (0, 0, 0))
    sheet.lay(area * light * np.float32(0.30), (255, 255, 255))
