"""Everyday photos out of installed packages, and the scene editor asked about them."""

from __future__ import annotations

import io
import random
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

import insightface
import numpy as np
import skimage.data
from PIL import Image

from adapters.editors.scene import SceneEditor, SceneSettings
from adapters.imaging.decode import decode_rgb
from adapters.imaging.face_models import FaceModels, align
from adapters.imaging.scene_prompts import COLOURS, ITEMS, PLACES, SIGNS
from domain.edits import Edited, EditOutcome, EditRequest

_GROUP = Path(insightface.__file__).parent / "data" / "images" / "t1.jpg"
_CUTS = {
    "astronaut": ((0, 0, 512, 512), (1024, 1024)),
    "group-left": ((0, 80, 420, 710), (832, 1248)),
    "group-middle": ((386, 190, 890, 526), (1248, 832)),
    "group-right": ((980, 212, 1280, 662), (832, 1248)),
    "group-three": ((0, 110, 690, 570), (1248, 832)),
    "group-four": ((0, 90, 885, 680), (1248, 832)),
}
"""Left, top, right, bottom in the picture, and the size of the photo."""
PHOTOS = tuple(_CUTS)


def png(rgb: np.ndarray) -> bytes:
    """An image as PNG bytes."""
    out = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(rgb)).save(out, "PNG", compress_level=1)
    return out.getvalue()


@cache
def photo(name: str, scale: float = 1.0) -> bytes:
    """A photo by its name, smaller where a test needs many edits."""
    pixels = cast(Any, skimage.data).astronaut() if name == "astronaut" else decode_rgb(_GROUP.read_bytes())
    box, (width, height) = _CUTS[name]
    size = round(width * scale), round(height * scale)
    return png(np.asarray(Image.fromarray(pixels).crop(box).resize(size, Image.Resampling.LANCZOS)))


@cache
def portrait() -> bytes:
    """A face that fills the picture: only above the hair and beside it anything is free."""
    pixels = cast(Any, skimage.data).astronaut()
    cut = Image.fromarray(pixels).crop((168, 10, 280, 178)).resize((832, 1248), Image.Resampling.LANCZOS)
    return png(np.asarray(cut))


class Scenes:
    """The editor, its settings given with each edit."""

    def __init__(self, faces: FaceModels) -> None:
        self.faces = faces

    def ask(
        self, image: bytes, prompt: str, seed: int | None = 0, attempt: int = 1, **settings: Any
    ) -> EditOutcome:
        """One edit; without settings it does just what is asked."""
        editor = SceneEditor(SceneSettings(**settings), self.faces)
        request = EditRequest("scene", image, sha256(image).hexdigest(), prompt, seed, attempt)
        return editor.collect(editor.submit(request))

    def edit(self, image: bytes, *prompts: str, **settings: Any) -> bytes:
        """The image after some edits, each of which must be made."""
        for prompt in prompts:
            outcome = self.ask(image, prompt, **settings)
            assert isinstance(outcome, Edited), (prompt, outcome)
            assert truth(outcome)["made"], prompt
            image = outcome.image
        return image

    def likeness(self, original: bytes, image: bytes) -> float:
        """Cosine of the largest face of the original and the face of the image nearest to its place."""
        before, after = decode_rgb(original), decode_rgb(image)
        first = self.faces.detect(before).faces[0]
        found = self.faces.detect(after).faces
        nearest = min(found, key=lambda face: float(np.abs(face.box - first.box).sum()))
        one, other = self.faces.embed([align(before, first), align(after, nearest)])
        return float(one @ other)


def truth(outcome: EditOutcome) -> dict[str, Any]:
    """What the editor says it did."""
    assert isinstance(outcome, Edited), outcome
    return cast("dict[str, Any]", outcome.details["truth"])


def any_prompt(rng: random.Random, there: list[str]) -> str:
    """Something to ask of a picture in which these items are."""
    colour, other = rng.sample(list(COLOURS), 2)
    item, place = f"{colour} {rng.choice(ITEMS)}", rng.choice(PLACES)
    known = rng.choice(there) if there else item
    letters = f'{other} letters saying "{rng.choice(("OPEN", "SALE", "No 7"))}"'
    options: list[Any] = [
        f"Change the colour of the shirt to {colour}",
        f"Change the hair colour to {rng.choice(('red', 'blue', 'green', 'purple'))}",
        f"Put a {colour} {rng.choice(SIGNS)} with {letters} at the {place}",
        *[f"Add a {item} at the {place}"] * 2,
        f"Move the {known} to the {place}",
        f"Remove the {known}",
        f"Replace the {known} with a {item}",
    ]
    return rng.choice(options)
