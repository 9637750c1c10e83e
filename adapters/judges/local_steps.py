"""Whether an everyday edit was made, by looking at the two pictures: a step checker without a key.

It reads the prompt with the grammar that `adapters.editors.scene` understands, and looks for drawn items and
signs by their colours and shapes, for the colour of the largest face's clothes at the chest, and for that of
its hair. What an editor says of itself is not asked. Limits:

- A prompt outside the grammar cannot be judged: the answer is then that it does not apply.
- Photographed items are not seen, so an edit by a real editing model fails here, whatever it did.
- Recompression hides drawn items where a picture is small (below about 800 pixels).
- Words are compared with how `adapters.imaging.scene_items` draws them; another lettering counts as wrong.
- A colour is the nearest of the eleven named ones (nine for hair); the clothes of other people than the
  largest face count as surroundings.
- At 1024 and 1248 pixels it agrees with the editor in 410 of 414 random edits (99.0 %; docs/methods.md); it
  passed none that was not made.
- A large change is one of at least 0.4 % of the picture, seen at 160 pixels; changes inside the boxes around
  heads are never looked at, except the hair when it was asked for.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from pydantic import JsonValue

from adapters.imaging import see_hair
from adapters.imaging.bounded import Bounded, digest
from adapters.imaging.decode import decode_rgb
from adapters.imaging.frame import FaceFinder, Image
from adapters.imaging.look import look_at
from adapters.imaging.scene_cloth import body_below, chest_colour, colour_name
from adapters.imaging.scene_finding import Found, has_words
from adapters.imaging.scene_items import Mask
from adapters.imaging.scene_places import is_at
from adapters.imaging.scene_prompts import CLOTHING, HAIR_KIND, SIGNS, Thing, Wish, read_wish
from adapters.imaging.see_scene import (
    Changes,
    Comparison,
    Sight,
    changes,
    has_changed,
    is_left,
    look,
    near,
    unasked,
)

CHECK_VERSION = "local-steps-1"
"""Changes whenever the same two pictures and prompt may be checked differently."""
_KEPT_PICTURES = 6
_VISIBLE = 9.0
"""Least change of a colour in L*a*b* that is plain to see."""
_ASPECT = 0.01
_SAME_PLACE = 0.04


@dataclass(frozen=True)
class Verdict:
    """What became of the item that a prompt means."""

    why: str
    applies: bool = True
    changed: bool = False
    visible: bool = True
    """Only read where it changed."""
    right_place: bool | None = None
    old_place_empty: bool | None = None
    wrong: int | None = None
    """Wrong details; None where none was asked for."""
    things: tuple[Found, ...] = ()
    """The items meant, in either picture: what changes there was asked for."""
    area: Mask | None = None
    """Likewise, where it is no item."""


_NOT_THERE = Verdict("What the request is about is not in the first picture.", applies=False)


class LocalStepChecker:
    """Fills the checklist for one attempt at a step."""

    def __init__(self, faces: FaceFinder) -> None:
        self._faces = faces
        self._seen: Bounded[str, Sight] = Bounded(_KEPT_PICTURES)

    def check(self, before: bytes, after: bytes, prompt: str) -> dict[str, JsonValue]:
        """The checklist that `domain.judging.parse_checklist` reads, reasoning first.

        Raises:
            PhotoError: an image does not decode.
        """
        old, new = self._look(before), self._look(after)
        one, other = (sight.rgb.shape[1] / sight.rgb.shape[0] for sight in (old, new))
        same_shape = abs(other / one - 1) <= _ASPECT
        if new.rgb.shape != old.rgb.shape:
            size = old.rgb.shape[1], old.rgb.shape[0]
            resized = cv2.resize(new.rgb, size, interpolation=cv2.INTER_AREA)
            new = look(np.asarray(resized, np.uint8), self._faces)
        wish, found = read_wish(prompt), changes(old, new)
        if wish is None:
            verdict = Verdict("The local checker does not understand this request.", applies=False)
        elif wish.target.kind == CLOTHING:
            verdict = _clothing(old, new, _colour(wish))
        elif wish.target.kind == HAIR_KIND:
            verdict = _hair(old, new, self._faces, _colour(wish))
        else:
            verdict = _item(old, new, found, wish)
        return _filled(old, new, found, verdict, same_shape)

    def _look(self, image: bytes) -> Sight:
        return self._seen.get(digest(image), lambda: look(decode_rgb(image), self._faces))


def _filled(
    old: Sight, new: Sight, found: Changes, verdict: Verdict, same_shape: bool
) -> dict[str, JsonValue]:
    others = unasked(old, new, found, verdict.things)
    comparison = Comparison(old, new)
    for thing in (*old.things, *new.things):  # of which the changes are named already
        comparison.explain(thing.box)
    if verdict.area is not None:
        comparison.explain_mask(verdict.area)
    changed = verdict.applies and verdict.changed
    return {
        "reasoning": verdict.why,
        "prompt_applies": verdict.applies,
        "right_item_changed": changed,
        "item_visibly_changed": changed and verdict.visible,
        "right_place": verdict.right_place,
        "old_place_empty": verdict.old_place_empty,
        "wrong_details": verdict.wrong or 0,
        "details_right": None if verdict.wrong is None else verdict.wrong == 0,
        "framing_kept": same_shape and comparison.same_framing(),
        "major_unrequested_changes": [*others, *comparison.large_changes()],
    }


def _colour(wish: Wish) -> str:
    return (wish.new.colour if wish.new else None) or ""


def _clothing(old: Sight, new: Sight, asked: str) -> Verdict:
    body = body_below(old.rgb.shape, old.faces, (*old.things, *new.things))
    if body is None:
        return _NOT_THERE
    before, after = (chest_colour(sight.rgb, body) for sight in (old, new))
    changed, seen = float(np.linalg.norm(after - before)) >= _VISIBLE, colour_name(after)
    return Verdict(
        f"The clothes were {colour_name(before)} and are {seen}.",
        changed=changed,
        wrong=int(seen != asked),
        area=body.whole,
    )


def _hair(old: Sight, new: Sight, faces: FaceFinder, asked: str) -> Verdict:
    looks = look_at(old.rgb, faces), look_at(new.rgb, faces)
    colours = [None if one is None else see_hair.median_color(one) for one in looks]
    before, after = colours
    if looks[0] is None or before is None:
        return _NOT_THERE
    if after is None:
        return Verdict("No hair is seen any more.", wrong=1)
    geometry, name = looks[0].geometry, see_hair.name_color(after)
    middle = geometry.origin
    area = np.zeros(old.rgb.shape[:2], np.uint8)
    reach = round(2.75 * geometry.unit_px)
    cv2.circle(area, (round(float(middle[0])), round(float(middle[1]))), reach, (1,), cv2.FILLED)
    return Verdict(
        f"The hair is {name or 'of no named colour'} now.",
        changed=float(np.linalg.norm(after - before)) >= _VISIBLE,
        wrong=int(name != f"{asked} hair"),
        area=area > 0,
    )


def _item(old: Sight, new: Sight, found: Changes, wish: Wish) -> Verdict:
    if wish.verb == "add":
        return _added(new, found, wish.target, wish.place or "")
    target = next((thing for thing in old.things if thing.is_a(wish.target)), None)
    if target is None:
        return _NOT_THERE
    if wish.verb == "move":
        return _moved(old, new, found, target, wish.place or "")
    if wish.new is None:
        return _removed(old, new, found, target)
    if wish.verb == "replace":
        return _replaced(old, new, target, wish.new)
    return _redrawn(old, new, found, target, wish.new)


def _removed(old: Sight, new: Sight, found: Changes, target: Found) -> Verdict:
    empty = found.now(target) is None and not is_left(old, new, target)
    why = f"The {target.kind} is {'gone' if empty else 'still there'}."
    return Verdict(why, changed=empty, old_place_empty=empty, things=(target,))


def _details(rgb: Image, seen: Found | None, asked: Thing) -> int:
    """How many of the asked details are not seen."""
    signs = asked.kind in SIGNS
    if seen is None:
        return 3 if signs else 1
    wrong = int(seen.colour != asked.colour)
    if signs:
        wrong += int(seen.letters != asked.letters)
        wrong += int(not has_words(rgb, seen, asked.words or ""))
    return wrong


def _added(new: Sight, found: Changes, asked: Thing, place: str) -> Verdict:
    shape = new.rgb.shape
    ones = [thing for thing in found.come if thing.kind == asked.kind]
    if not ones:
        wrong = _details(new.rgb, None, asked)
        return Verdict(f"No {asked.kind} appeared.", right_place=False, wrong=wrong)
    best = min(ones, key=lambda t: (not is_at(place, t.centre, shape), _details(new.rgb, t, asked)))
    return Verdict(
        f"A {best.colour} {best.kind} appeared.",
        changed=True,
        right_place=is_at(place, best.centre, shape),
        wrong=_details(new.rgb, best, asked),
        things=(best,),
    )


def _moved(old: Sight, new: Sight, found: Changes, target: Found, place: str) -> Verdict:
    shape = new.rgb.shape
    ones = [thing for thing in found.come if (thing.kind, thing.colour) == (target.kind, target.colour)]
    best = min(ones, key=lambda thing: not is_at(place, thing.centre, shape)) if ones else None
    empty = found.now(target) is None and not is_left(old, new, target)
    return Verdict(
        f"The {target.kind} {'appeared elsewhere' if best else 'is nowhere else'}.",
        changed=best is not None,
        right_place=best is not None and is_at(place, best.centre, shape),
        old_place_empty=empty,
        things=(target, best) if best else (target,),
    )


def _replaced(old: Sight, new: Sight, target: Found, asked: Thing) -> Verdict:
    reach = _SAME_PLACE * min(old.rgb.shape[:2])
    kept = [(thing.kind, thing.colour, thing.box) for thing in old.things]
    fresh = [thing for thing in new.things if (thing.kind, thing.colour, thing.box) not in kept]
    there = [thing for thing in fresh if near(thing, target, reach)]
    elsewhere = [thing for thing in fresh if thing.kind == asked.kind]
    seen = there[0] if there else elsewhere[0] if elsewhere else None
    empty = not is_left(old, new, target) and not any(
        (thing.kind, thing.colour) == (target.kind, target.colour) and near(thing, target, reach)
        for thing in new.things
    )
    wrong = 2 if seen is None else int(seen.kind != asked.kind) + int(seen.colour != asked.colour)
    what = "nothing new" if seen is None else f"a {seen.colour} {seen.kind}"
    return Verdict(
        f"In place of the {target.kind} there is {what}.",
        changed=seen is not None,
        right_place=bool(there),
        old_place_empty=empty,
        wrong=wrong,
        things=(target, seen) if seen else (target,),
    )


def _redrawn(old: Sight, new: Sight, found: Changes, target: Found, asked: Thing) -> Verdict:
    now = found.now(target)
    if now is None:
        wrong = _details(new.rgb, None, asked)
        return Verdict(
            f"The {target.kind} is no longer there.", right_place=False, wrong=wrong, things=(target,)
        )
    changed = now.colour != target.colour or (target.kind in SIGNS and has_changed(old, new, target))
    return Verdict(
        f"The {target.kind} is {now.colour} now.",
        changed=changed,
        right_place=True,
        wrong=_details(new.rgb, now, asked),
        things=(target, now),
    )
