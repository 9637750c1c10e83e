"""An editing model without a key or weights of its own: it makes everyday edits to a whole scene.

What it understands is the small grammar of `adapters.imaging.scene_prompts`. It recolours clothes and hair,
adds, moves, removes, replaces and recolours drawn items, and writes signs. It sees nothing but the image and
the prompt: what it must find again it finds by its looks, and what it does not find it leaves as it is. It
never draws over a face, and it loses the largest face's likeness at each step by as much as its card says
(see `adapters.imaging.scene_drift`), so that cards have a known order. It misses edits, refuses and
changes the shape of the picture as often as its card says; another attempt rolls the dice anew.

It tells what it really did in `details["truth"]`:

    {"verb": …, "target": kind, "made": bool, "why": null or a stable code, "drift": strength,
     "at": [left, top, right, bottom] of what was drawn, or null, "off_shape": bool}
"""

from __future__ import annotations

import io
from dataclasses import dataclass, replace
from hashlib import sha256

import numpy as np
from PIL import Image as PillowImage
from pydantic import BaseModel, ConfigDict, Field, JsonValue

from adapters.base import EditorContext
from adapters.imaging import hair, palette
from adapters.imaging.decode import decode_rgb
from adapters.imaging.frame import Face, FaceFinder, Image, largest
from adapters.imaging.scene_cloth import body_below, recolour
from adapters.imaging.scene_drift import drift_face, drifting
from adapters.imaging.scene_finding import Found, find_things
from adapters.imaging.scene_items import picture_of, sign_of
from adapters.imaging.scene_paint import covers, cut_out, erase, put
from adapters.imaging.scene_places import room_beside
from adapters.imaging.scene_prompts import CLOTHING, HAIR_KIND, SIGNS, Thing, Wish, read_wish
from domain.edits import Edited, EditOutcome, EditRequest, NoImage, Refused, Ticket
from domain.errors import PhotoError
from domain.model_cards import ModelCard

VERSION = "scene-2"
_CUT_OFF = 0.06
"""Share of the height that an answer of another shape lacks."""


class SceneSettings(BaseModel):
    """How badly the model edits."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    face_drift: float = Field(default=0.0, ge=0, le=0.1)
    """Typical push of each facial feature a step, in distances between the eyes; 0 leaves the face alone."""
    miss_rate: float = Field(default=0.0, ge=0, le=1)
    """Share of attempts in which the asked edit is not made, although it could be."""
    refusal_rate: float = Field(default=0.0, ge=0, le=1)
    """Share of attempts that are refused."""
    off_shape_rate: float = Field(default=0.0, ge=0, le=1)
    """Share of attempts that come back in another shape."""


@dataclass(frozen=True)
class _Scene:
    """A picture and what is seen in it."""

    rgb: Image
    faces: tuple[Face, ...]
    things: tuple[Found, ...]


@dataclass(frozen=True)
class _Drawn:
    """What became of the picture."""

    rgb: Image
    at: Found | None = None
    """What was drawn, where it is a thing."""
    why: str | None = None
    """Why the edit was not made, as a code; None where it was."""


@dataclass(frozen=True)
class _Obstacle:
    """The edit cannot be made in this picture."""

    reason: str
    """Begins with a stable code."""


class SceneEditor:
    """Makes the edit that a prompt asks for, if it can; deterministic in image, prompt, seed and attempt."""

    def __init__(self, settings: SceneSettings, faces: FaceFinder) -> None:
        self._settings = settings
        self._faces = faces

    @classmethod
    def build(cls, card: ModelCard, context: EditorContext) -> SceneEditor:
        """An editor for a card; raises pydantic's ValidationError for settings it does not know."""
        return cls(SceneSettings.model_validate(card.settings), context.face_models())

    def submit(self, request: EditRequest) -> Ticket:
        """Edit at once."""
        return Ticket(outcome=self._edit(request))

    def collect(self, ticket: Ticket) -> EditOutcome:
        """The outcome that `submit` found."""
        return ticket.held_outcome()

    def _edit(self, request: EditRequest) -> EditOutcome:
        try:
            rgb = decode_rgb(request.image)
        except PhotoError as error:
            return NoImage(f"unreadable_image: {error.message}", VERSION, 0.0)
        wish = read_wish(request.prompt)
        if wish is None:
            return NoImage("not_understood: the prompt is none of the sentences that it knows", VERSION, 0.0)
        rng, settings = _generator(request), self._settings
        refused, missed, off_shape = (
            rng.random() < rate
            for rate in (settings.refusal_rate, settings.miss_rate, settings.off_shape_rate)
        )
        if refused:
            return Refused("policy: this card refuses so often, whatever is asked", VERSION, 0.0)
        faces = tuple(self._faces.find(rgb))
        if largest(faces) is None:
            return NoImage("no_face: the image shows no face with landmarks", VERSION, 0.0)
        scene = _Scene(rgb, faces, find_things(rgb))
        drawn = _Drawn(rgb, why="missed") if missed else _draw(scene, wish)
        if isinstance(drawn, _Obstacle):
            return NoImage(drawn.reason, VERSION, 0.0)
        truth: dict[str, JsonValue] = {
            "verb": wish.verb, "target": wish.target.kind, "made": drawn.why is None, "why": drawn.why,
            "drift": settings.face_drift, "off_shape": off_shape,
            "at": None if drawn.at is None else list(drawn.at.box),
        }  # fmt: skip
        out = self._drifted(scene, drawn, rng)
        if off_shape:
            out = out[round(_CUT_OFF * len(out)) :]
        return Edited(_png(out), VERSION, 0.0, {"truth": truth})

    def _drifted(self, scene: _Scene, drawn: _Drawn, rng: np.random.Generator) -> Image:
        out = drawn.rgb
        for geometry in drifting(scene.faces):
            out = drift_face(out, geometry, self._settings.face_drift, rng)
        if self._settings.face_drift:
            kept = covers([*scene.things, *([drawn.at] if drawn.at else [])], out.shape)
            out[kept] = drawn.rgb[kept]
        return out


def _generator(request: EditRequest) -> np.random.Generator:
    parts = (request.prompt, repr(request.seed), repr(request.attempt))
    text = "\0".join(parts).encode() + b"\0" + sha256(request.image).digest()
    return np.random.default_rng(int.from_bytes(sha256(text).digest(), "big"))


def _png(rgb: Image) -> bytes:
    out = io.BytesIO()
    PillowImage.fromarray(np.ascontiguousarray(rgb)).save(out, format="PNG", compress_level=1)
    return out.getvalue()


def _draw(scene: _Scene, wish: Wish) -> _Drawn | _Obstacle:
    if wish.target.kind == CLOTHING:
        return _clothes(scene, _asked_colour(wish))
    if wish.target.kind == HAIR_KIND:
        return _hair(scene, _asked_colour(wish))
    if wish.verb == "add":
        place = wish.place or ""
        at = _room(scene, wish.target.kind, place)
        return _no_room(place) if at is None else _put_new(scene.rgb, wish.target, at)
    old = next((thing for thing in scene.things if thing.is_a(wish.target)), None)
    return _Drawn(scene.rgb, why="not_found") if old is None else _changed(scene, wish, old)


def _asked_colour(wish: Wish) -> str:
    return (wish.new.colour if wish.new else None) or ""


def _changed(scene: _Scene, wish: Wish, old: Found) -> _Drawn | _Obstacle:
    if wish.verb == "move":
        return _moved(scene, old, wish.place or "")
    bare = erase(scene.rgb, old) if wish.verb in ("remove", "replace") else scene.rgb
    return _Drawn(bare) if wish.new is None else _put_new(bare, wish.new, old)


def _moved(scene: _Scene, old: Found, place: str) -> _Drawn | _Obstacle:
    room = _room(scene, old.kind, place, old.cell)
    if room is None:
        return _no_room(place)
    picture, mask = cut_out(scene.rgb, old)
    at = replace(old, x=room.x, y=room.y)
    return _Drawn(put(erase(scene.rgb, old), at, picture, mask), at)


def _room(scene: _Scene, kind: str, place: str, cell: tuple[int, int] | None = None) -> Found | None:
    return room_beside(scene.faces, kind, place, scene.rgb.shape, scene.things, cell)


def _no_room(place: str) -> _Obstacle:
    return _Obstacle(f"no_room: nothing fits at the {place} without covering a face or another thing")


def _put_new(rgb: Image, thing: Thing, cell: Found) -> _Drawn:
    at = Found(thing.kind, thing.colour or "", cell.x, cell.y, cell.cell, thing.letters)
    if thing.kind in SIGNS:
        picture, mask = sign_of(thing.words or "", thing.letters or "", at.colour, at.cell)
    else:
        picture, mask = picture_of(thing.kind, at.colour, at.cell)
    return _Drawn(put(rgb, at, picture, mask), at)


def _clothes(scene: _Scene, colour: str) -> _Drawn | _Obstacle:
    body = body_below(scene.rgb.shape, scene.faces, scene.things)
    if body is None:
        return _Obstacle("no_clothing: the picture ends too close below the largest face")
    return _Drawn(recolour(scene.rgb, body, colour))


def _hair(scene: _Scene, colour: str) -> _Drawn | _Obstacle:
    geometry = largest(scene.faces)
    found = None if geometry is None else hair.find_hair(scene.rgb, geometry)
    if geometry is None or found is None:
        return _Obstacle("no_hair: no hair was found in the picture")
    dyed = hair.recolor(scene.rgb, geometry, found, palette.HAIR[f"{colour} hair"])
    kept = covers(scene.things, dyed.shape)
    for face in scene.faces[1:]:
        x0, y0, x1, y1 = (max(0, int(value)) for value in face.box)
        kept[y0:y1, x0:x1] = True
    dyed[kept] = scene.rgb[kept]
    return _Drawn(dyed)
