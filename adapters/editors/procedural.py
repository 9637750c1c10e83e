"""An editing model without a key or weights of its own: it draws the taxonomy's edits on the photo.

It exists so that a whole benchmark can be run and checked anywhere. It misses edits, edits too much and
loses the person's likeness as often and as fast as its settings say, and it tells what it really did in
`Edited.details["truth"]`, so that judges, trackers and metrics can be measured against known answers:

    {"asked": category or null, "asked_sub_axis": name or null, "made": bool, "keep": bool,
     "changed": {sub-axis: category, or null where something was removed}}

`made` says whether the asked category was drawn in this step or, for "Keep", stands drawn. `changed` holds
every sub-axis whose layer was drawn anew, the asked one included. "Left" and "right" are the viewer's.

What is drawn lasts: see `adapters.imaging.memory` for how, and why only the editor reads that.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, JsonValue

from adapters.base import EditorContext
from adapters.imaging import hats, palette, shapes
from adapters.imaging.bounded import Bounded, digest
from adapters.imaging.drawing import LEFT, RIGHT, Subject, headroom, render, study
from adapters.imaging.frame import FaceFinder
from adapters.imaging.memory import Layer, Memory, read_memory, write_png
from adapters.imaging.warp import TURNED_FROM
from domain.edits import Edited, EditOutcome, EditRequest, NoImage, Ticket
from domain.errors import PhotoError
from domain.model_cards import ModelCard
from domain.taxonomy import Attribute, Taxonomy

VERSION = "procedural-1"
_VIVID = ("red hair", "blue hair", "green hair", "pink hair", "purple hair", "orange hair")
_LEAST_HAT = 0.45
"""Share of a hat that must lie inside the picture."""
_KEPT_PHOTOS = 8


class ProceduralSettings(BaseModel):
    """How badly the model edits."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    miss_rate: float = Field(default=0.1, ge=0, le=1)
    """Share of asked edits that are not made, although they could be."""
    overedit_rate: float = Field(default=0.2, ge=0, le=1)
    """Share of steps that also change one sub-axis that was not asked for."""
    drift: float = Field(default=0.01, ge=0, le=0.05)
    """Typical displacement of each facial feature a step, in distances between the eyes."""


@dataclass(frozen=True)
class _Plan:
    """What one step will do."""

    layers: dict[str, Layer]
    made: bool
    changed: dict[str, str | None]


class ProceduralEditor:
    """Draws what a prompt asks for, if it can; deterministic in image, prompt, seed and attempt."""

    def __init__(self, settings: ProceduralSettings, taxonomy: Taxonomy, faces: FaceFinder) -> None:
        self._settings = settings
        self._taxonomy = taxonomy
        self._faces = faces
        self._subjects: Bounded[str, Subject | None] = Bounded(_KEPT_PHOTOS)

    @classmethod
    def build(cls, card: ModelCard, context: EditorContext) -> ProceduralEditor:
        """An editor for a card; raises pydantic's ValidationError for settings it does not know."""
        settings = ProceduralSettings.model_validate(card.settings)
        return cls(settings, context.taxonomy, context.face_models())

    def submit(self, request: EditRequest) -> Ticket:
        """Edit at once."""
        return Ticket(outcome=self._edit(request))

    def collect(self, ticket: Ticket) -> EditOutcome:
        """The outcome that `submit` found."""
        return ticket.held_outcome()

    def _edit(self, request: EditRequest) -> EditOutcome:
        memory, photo = read_memory(request.image) or (Memory(), request.image)
        try:
            subject = self._subjects.get(digest(photo), lambda: study(photo, self._faces))
        except PhotoError as error:
            return _no_image(f"unreadable_image: {error.message}")
        if subject is None:
            return _no_image("no_face: the image shows no face with landmarks")
        asked = self._taxonomy.match(request.prompt)
        if asked is None:
            return _no_image("no_attribute: the prompt names no attribute of the taxonomy")
        keep = request.prompt.strip().casefold().startswith("keep ")
        obstacle = None if keep else _obstacle(asked, subject, memory)
        if obstacle is not None:
            return _no_image(obstacle)
        rng = _generator(request)
        plan = self._plan(asked, keep, subject, memory, rng)
        drift_seeds = (*memory.drift_seeds, int(rng.integers(2**31)))[-64:]
        after = Memory(drift_seeds=drift_seeds, layers=plan.layers)
        rgb = render(subject, after, self._settings.drift)
        truth: dict[str, JsonValue] = {
            "asked": asked.category,
            "asked_sub_axis": asked.sub_axis,
            "made": plan.made,
            "keep": keep,
            "changed": dict(plan.changed),
        }
        return Edited(write_png(rgb, after, photo), VERSION, 0.0, {"truth": truth})

    def _plan(
        self, asked: Attribute, keep: bool, subject: Subject, memory: Memory, rng: np.random.Generator
    ) -> _Plan:
        missed, overdone = (
            rng.random() < self._settings.miss_rate,
            rng.random() < self._settings.overedit_rate,
        )
        layers, changed = dict(memory.layers), dict[str, str | None]()
        if not keep and not missed:
            changed |= _apply(asked.sub_axis, asked.category, asked.name, layers, rng)
        if overdone:
            others = _others(asked, subject, layers, self._taxonomy)
            if others:
                sub_axis = sorted(others)[int(rng.integers(len(others)))]
                category = others[sub_axis][int(rng.integers(len(others[sub_axis])))]
                changed |= _apply(sub_axis, category, None, layers, rng)
        drawn = layers.get(asked.sub_axis)
        made = drawn is not None and drawn.category == asked.category if keep else not missed
        return _Plan(layers, made, changed)


def _no_image(reason: str) -> NoImage:
    return NoImage(reason, VERSION, 0.0)


def _generator(request: EditRequest) -> np.random.Generator:
    parts = (request.prompt, repr(request.seed), repr(request.attempt))
    text = "\0".join(parts).encode() + b"\0" + sha256(request.image).digest()
    return np.random.default_rng(int.from_bytes(sha256(text).digest(), "big"))


def _obstacle(asked: Attribute, subject: Subject, memory: Memory) -> str | None:
    """Why an edit cannot be drawn, beginning with a stable code; None when it can."""
    hairless = subject.hair is None and "hair style" not in memory.layers
    if asked.category == "buzz cut":
        return "cannot_draw: hair cannot be cut off a photo"
    if asked.category == "clean shaven" and not {"beard", "mustache"} & set(memory.layers):
        return "nothing_to_shave: only a beard or mustache that was drawn can be taken off"
    if asked.sub_axis in ("hair color", "hair type") and hairless:
        return "no_hair: no hair was found in the photo"
    if asked.sub_axis == "hats" and headroom(subject, asked.category) < _LEAST_HAT:
        return "no_room: the photo ends too close above the head for a hat"
    return None


def _apply(
    sub_axis: str, category: str, attribute: str | None, layers: dict[str, Layer], rng: np.random.Generator
) -> dict[str, str | None]:
    """Draw a category into the layers; returns the sub-axes whose layer changed."""
    if category == "clean shaven":
        gone = [name for name in ("beard", "mustache") if layers.pop(name, None) is not None]
        return {"beard": category} | {name: None for name in gone if name != "beard"}
    layer = Layer(category=category, seed=int(rng.integers(2**31)))
    if sub_axis == "glasses":
        forms = shapes.LENSES[category]
        form = forms[int(rng.integers(len(forms)))] if attribute is None else _form(attribute)
        tinted = rng.random() < 0.5 if attribute is None else "sunglasses" in attribute
        layer = layer.model_copy(update={"form": form, "tinted": bool(tinted)})
    if sub_axis == "hair color":
        shade = np.clip(np.array(palette.HAIR[category]) * rng.uniform(0.93, 1.06), 0, 255)
        layer = layer.model_copy(update={"rgb": tuple(int(value) for value in shade)})
    layers[sub_axis] = layer
    return {sub_axis: category}


def _form(attribute: str) -> shapes.LensForm:
    if "oval" in attribute:
        return "oval"
    if "square" in attribute:
        return "square"
    return "rectangle" if "rectang" in attribute else "round"


def _others(
    asked: Attribute, subject: Subject, layers: dict[str, Layer], taxonomy: Taxonomy
) -> dict[str, tuple[str, ...]]:
    """The changes nobody asked for that would show, by sub-axis."""
    options: dict[str, tuple[str, ...]] = {
        "glasses": taxonomy.categories["glasses"],
        "mustache": shapes.MUSTACHES,
        "beard": shapes.BEARDS,
        "head position": (LEFT, RIGHT),
    }
    if "hats" not in layers and (subject.hair is not None or "hair style" in layers):
        options["hair color"] = _VIVID
    if asked.axis != "hair":  # a hat would hide what was asked for
        options["hats"] = tuple(c for c in hats.HATS if headroom(subject, c) >= _LEAST_HAT)
    options.pop(asked.sub_axis, None)
    shown = {name: layer.category for name, layer in layers.items()}
    if "head position" not in shown and abs(subject.geometry.yaw) > TURNED_FROM:
        shown["head position"] = RIGHT if subject.geometry.yaw > 0 else LEFT
    fresh = {name: tuple(c for c in some if c != shown.get(name)) for name, some in options.items()}
    return {name: some for name, some in fresh.items() if some}
