"""A stand-in for a multimodal judge: heuristics on pixels, without a key and without weights of its own.

It looks for what `adapters.editors.procedural` draws, by the same outlines and colours, so it can be trusted
on drawn accessories, dyed hair and warped heads only. On photographed ones it is a guess, and a score of a
real editing model that was judged with it means nothing. It exists so that the whole benchmark runs
anywhere, with error rates that can be measured.

Conventions: left and right are the viewer's. A chin and jaw without hair are `clean shaven`. Colour, type
and style of hair are seen as none under a hat. Blond hair is none of the taxonomy's colours. Only the types
and styles of hair that the editor draws are recognised; natural hair has neither. Where no face is found
everything is unknown, and where no hair is found its colour and type are.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

import cv2
import numpy as np

from adapters.base import JudgeContext, NoSettings
from adapters.imaging import see_face, see_hair, see_worn
from adapters.imaging.bounded import Bounded, digest
from adapters.imaging.decode import decode_rgb
from adapters.imaging.drawing import LEFT, RIGHT, STRAIGHT
from adapters.imaging.frame import FaceFinder, Geometry, Image, Plane
from adapters.imaging.look import Look, look_at
from adapters.imaging.regions import outside
from adapters.imaging.warp import TURNED_FROM
from adapters.judges.local_steps import LocalStepChecker
from domain.edits import JudgeReply
from domain.judge_cards import JudgeCard
from domain.judging import State
from domain.taxonomy import Attribute, Taxonomy

VERSION = "local-heuristic-2"
"""Changes whenever the same bytes may be judged differently; 2: grey and CMYK colour profiles count. Of step
checks, `adapters.judges.local_steps.CHECK_VERSION` is the version."""
_KEPT_IMAGES = 512
"""Of about 40 kB each: enough that judging finds what tracking has looked at."""
_COARSE_PX = 128
"""Longer side of the images that are compared: averaging hides what compression does to fine detail."""
_NOISE = 18.0
"""Largest difference of coarse 8-bit values that recompression makes."""
_WRONG_CATEGORY = 4.0
_NOT_THERE = 1.0
_SUB_AXIS_COST = 3.0
_MOST_PIXEL_COST = 2.0


@dataclass(frozen=True)
class Seen:
    """One image, the face in it and the state read from that."""

    shape: tuple[int, ...]
    """Of the image in full."""
    coarse: Image
    geometry: Geometry | None
    """None without a face."""
    state: State


class LocalTracker:
    """Says which categories are seen in an image."""

    def __init__(self, taxonomy: Taxonomy, faces: FaceFinder) -> None:
        self._taxonomy = taxonomy
        self._faces = faces
        self._seen: Bounded[str, Seen] = Bounded(_KEPT_IMAGES)

    def track(self, image: bytes) -> JudgeReply:
        """The state as JSON text, valid for `domain.judging.parse_state`.

        Raises:
            PhotoError: the image does not decode.
        """
        state = self.see(image).state
        text = json.dumps({name: None if seen is None else list(seen) for name, seen in state.items()})
        return JudgeReply(text, VERSION, "stop", 0.0)

    def see(self, image: bytes) -> Seen:
        """The state and what it was read from, kept for the latest images."""
        return self._seen.get(digest(image), lambda: self._see(image))

    def _see(self, image: bytes) -> Seen:
        rgb = decode_rgb(image)
        look = look_at(rgb, self._faces)
        if look is None:
            return Seen(rgb.shape, _coarse(rgb), None, dict.fromkeys(self._taxonomy.sub_axes))
        state = read_state(look)
        ordered = {name: state[name] for name in self._taxonomy.sub_axes}
        return Seen(rgb.shape, _coarse(rgb), look.geometry, ordered)


def read_state(look: Look) -> dict[str, tuple[str, ...] | None]:
    """The categories seen of each sub-axis."""
    hat, frame, mustache = see_worn.see_hat(look), see_worn.see_glasses(look), see_face.see_mustache(look)
    yaw = look.geometry.yaw
    position = STRAIGHT if abs(yaw) <= TURNED_FROM else RIGHT if yaw > 0 else LEFT
    return {
        "hair color": () if hat else see_hair.see_color(look),
        "hair type": () if hat else see_hair.see_type(look),
        "hair style": () if hat else see_hair.see_style(look),
        "mustache": () if mustache is None else (mustache,),
        "beard": (see_face.see_beard(look, mustache),),
        "glasses": () if frame is None else (frame,),
        "hats": () if hat is None else (hat,),
        "head position": (position,),
    }


class LocalJudge:
    """Scores one edit by the states and the pixels of two images, and checks whether it was made."""

    def __init__(self, taxonomy: Taxonomy, tracker: LocalTracker, checker: LocalStepChecker) -> None:
        self._taxonomy = taxonomy
        self._tracker = tracker
        self._checker = checker

    @classmethod
    def build(cls, card: JudgeCard, context: JudgeContext) -> LocalJudge:
        """The judge of a card, with a tracker of its own."""
        NoSettings.model_validate(card.settings)
        faces = context.face_models()
        return cls(context.taxonomy, LocalTracker(context.taxonomy, faces), LocalStepChecker(faces))

    def check_step(self, before: bytes, after: bytes, prompt: str) -> JudgeReply:
        """The filled checklist as JSON text, valid for `domain.judging.parse_checklist`.

        Raises:
            PhotoError: an image does not decode.
        """
        return JudgeReply(json.dumps(self._checker.check(before, after, prompt)), VERSION, "stop", 0.0)

    def track(self, image: bytes) -> JudgeReply:
        """The state as JSON text; see `LocalTracker.track`."""
        return self._tracker.track(image)

    def score(self, before: bytes, after: bytes, prompt: str) -> JudgeReply:
        """Two numbers as JSON text, valid for `domain.judging.parse_scores`.

        Raises:
            PhotoError: an image does not decode.
        """
        asked = self._taxonomy.match(prompt)
        keep = prompt.strip().casefold().startswith("keep ")
        old, new = self._tracker.see(before), self._tracker.see(after)
        difference = _difference(old, new)
        answer = {
            "editing_success": _success(asked, keep, old.state, new.state, difference),
            "overediting": _restraint(asked, old, new, difference),
        }
        return JudgeReply(json.dumps(answer), VERSION, "stop", 0.0)


def _success(asked: Attribute | None, keep: bool, old: State, new: State, difference: Plane | None) -> float:
    if asked is None:
        return 0.0
    there = asked.category in (new[asked.sub_axis] or ())
    if keep:
        return 10.0 if there else 0.0
    if difference is not None and float(difference.max()) < _NOISE:
        return 0.0
    if there:
        return 10.0
    return _WRONG_CATEGORY if new[asked.sub_axis] != old[asked.sub_axis] else _NOT_THERE


def _restraint(asked: Attribute | None, old: Seen, new: Seen, difference: Plane | None) -> float:
    exempt = {asked.sub_axis} if asked else set[str]()
    if old.state["hats"] or new.state["hats"]:  # a hat hides the hair; that change is the hat's
        exempt |= {"hair color", "hair type", "hair style"}
    changed = [
        name
        for name, seen in new.state.items()
        if name not in exempt and None not in (seen, old.state[name]) and seen != old.state[name]
    ]
    cost = _SUB_AXIS_COST * len(changed)
    if difference is not None and old.geometry is not None:
        coarse = max(old.shape[:2]) / max(difference.shape)
        where = outside(old.geometry, difference.shape, coarse, asked.sub_axis if asked else None)
        if where.any():
            cost += min(_MOST_PIXEL_COST, float(np.clip(difference[where] - _NOISE, 0, None).mean()))
    return round(max(0.0, 10.0 - cost), 2)


def _coarse(image: Image) -> Image:
    height, width = image.shape[:2]
    ratio = min(1.0, _COARSE_PX / max(height, width))
    size = max(1, round(width * ratio)), max(1, round(height * ratio))
    return np.asarray(cv2.resize(image, size, interpolation=cv2.INTER_AREA), np.uint8)


def _difference(before: Seen, after: Seen) -> Plane | None:
    """Mean absolute difference of the channels, coarse, or None for images of different sizes."""
    if before.shape != after.shape:
        return None
    return np.abs(before.coarse.astype(np.float32) - after.coarse.astype(np.float32)).mean(-1)
