"""One image prepared for looking: the face's own view of it, in colours that compare like sight does."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from adapters.imaging import hair, palette
from adapters.imaging.frame import Canvas, FaceFinder, Geometry, Image, Plane, largest

VIEW = Canvas(scale=44)
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Look:
    """What the evidence is read from."""

    rgb: Image
    geometry: Geometry
    colors: Plane
    """L*a*b* on `VIEW`."""
    inside: Mask
    """Pixels of `VIEW` that lie in the picture."""
    skin: NDArray[np.float32]
    """Median L*a*b* of cheeks and nose."""

    @cached_property
    def hair(self) -> tuple[hair.Mask, Plane] | None:
        """What surely is hair on `hair.VIEW` and the L*a*b* there, or None where no hair is found."""
        return hair.hair_core(self.rgb, self.geometry)


def look_at(rgb: Image, faces: FaceFinder) -> Look | None:
    """Look at the largest face of an image; None without one."""
    geometry = largest(faces.find(rgb))
    if geometry is None:
        return None
    view, inside = VIEW.view(rgb, geometry)
    colors = palette.lab(view)
    skin, _ = hair.skin_of(colors, VIEW, geometry)
    return Look(rgb, geometry, colors, inside, skin)


def shifted(mask: Mask, dx: int, dy: int) -> Mask:
    """A mask moved by whole pixels; what moves out is lost."""
    out = np.zeros_like(mask)
    height, width = mask.shape
    out[max(dy, 0) : height + min(dy, 0), max(dx, 0) : width + min(dx, 0)] = mask[
        max(-dy, 0) : height + min(-dy, 0), max(-dx, 0) : width + min(-dx, 0)
    ]
    return out


def share(evidence: Mask, where: Mask) -> float:
    """Share of an area in which there is evidence; 0 for no area."""
    area = int(where.sum())
    return float((evidence & where).sum()) / area if area else 0.0
