"""A photo, what is known of the face in it, and that photo rendered with layers."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from adapters.imaging import hair, hats, paint, palette, warp
from adapters.imaging.decode import decode_rgb
from adapters.imaging.frame import Canvas, FaceFinder, Geometry, Image, Plane, largest
from adapters.imaging.memory import Layer, Memory
from adapters.imaging.palette import Rgb

STRAIGHT, LEFT, RIGHT = "looking straight ahead", "looking left", "looking right"
"""Left and right are the viewer's."""
_YAW = {STRAIGHT: 0.0, LEFT: -warp.TURNED, RIGHT: warp.TURNED}
_BARE_HAIR: Rgb = (70, 48, 36)


@dataclass(frozen=True)
class Subject:
    """A decoded photo with the face that is edited."""

    rgb: Image
    geometry: Geometry
    hair: hair.Hair | None
    skin: Rgb


def study(photo: bytes, faces: FaceFinder) -> Subject | None:
    """Decode a photo and look at its largest face; None without a face.

    Raises:
        PhotoError: the photo does not decode.
    """
    rgb = decode_rgb(photo)
    geometry = largest(faces.find(rgb))
    if geometry is None:
        return None
    view, _ = hair.VIEW.view(rgb, geometry)
    skin, _ = hair.skin_of(palette.lab(view), hair.VIEW, geometry)
    return Subject(rgb, geometry, hair.find_hair(rgb, geometry), palette.rgb_of(skin))


def headroom(subject: Subject, category: str) -> float:
    """Share of a hat of a category that would lie inside the picture."""
    mask = hair.VIEW.mask(*hats.hat(subject.geometry, category).values())
    _, inside = hair.VIEW.view(subject.rgb, subject.geometry)
    return float((mask * inside).sum() / max(float(mask.sum()), 1.0))


def render(subject: Subject, memory: Memory, drift: float) -> Image:
    """The photo with its layers, after as many steps of drift as the memory holds."""
    position = memory.layers.get("head position")
    target = None if position is None else _YAW[position.category]
    subject = _facing(subject, target)
    steps = len(memory.drift_seeds)
    rgb = warp.soften(subject.rgb, subject.geometry, 1 - (1 - min(8 * drift, 0.9)) ** steps)
    color = memory.layers.get("hair color")
    if color is not None and color.rgb is not None and subject.hair is not None:
        rgb = hair.recolor(rgb, subject.geometry, subject.hair, color.rgb)
    rgb = _worn(subject, memory.layers).over(rgb, subject.geometry)
    turn = 0.0 if target is None else warp.turn_to(subject.geometry, target)
    return warp.move(rgb, subject.geometry, turn, warp.drift_vectors(memory.drift_seeds, drift))


def _facing(subject: Subject, target: float | None) -> Subject:
    """The subject, mirrored when it looks the opposite way of where it is to look."""
    yaw = subject.geometry.yaw
    if not target or abs(yaw) < warp.TURNED_FROM or np.sign(yaw) == np.sign(target):
        return subject
    geometry = subject.geometry.mirrored(subject.rgb.shape[1])
    locks = None if subject.hair is None else replace(subject.hair, mask=_mirror(subject.hair.mask))
    return Subject(np.ascontiguousarray(subject.rgb[:, ::-1]), geometry, locks, subject.skin)


def _mirror(mask: Plane) -> Plane:
    return np.ascontiguousarray(mask[:, ::-1])


def _worn(subject: Subject, layers: dict[str, Layer]) -> paint.Sheet:
    geometry = subject.geometry
    canvas = Canvas(float(np.clip(geometry.unit_px, 40, 150)))

    def sheet_seed(name: str) -> np.random.Generator:
        return np.random.default_rng(layers[name].seed)

    sheet = paint.Sheet(canvas, np.random.default_rng(0))
    area: Plane = np.zeros(canvas.shape, np.float32)
    if subject.hair is not None and "hair type" in layers:
        area = hair.on_canvas(subject.hair.mask, canvas)
    if "hair style" in layers:
        sheet.rng = sheet_seed("hair style")
        covered = paint.paint_style(
            sheet, geometry, layers["hair style"].category, _hair_rgb(subject, layers)
        )
        area = np.maximum(area, covered)
    if "hair type" in layers:
        paint.paint_hair_type(sheet, layers["hair type"].category, area)
    for name, painter in (("beard", paint.paint_beard), ("mustache", paint.paint_mustache)):
        if name in layers:
            sheet.rng = sheet_seed(name)
            painter(sheet, geometry, layers[name].category, subject.skin)
    if "glasses" in layers:
        paint.paint_glasses(sheet, geometry, layers["glasses"].form or "round", layers["glasses"].tinted)
    if "hats" in layers:
        sheet.rng = sheet_seed("hats")
        paint.paint_hat(sheet, geometry, layers["hats"].category)
    return sheet


def _hair_rgb(subject: Subject, layers: dict[str, Layer]) -> Rgb:
    dyed = layers.get("hair color")
    if dyed is not None and dyed.rgb is not None:
        return dyed.rgb
    return _BARE_HAIR if subject.hair is None else subject.hair.rgb
