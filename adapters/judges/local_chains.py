"""Prompt chains in fixed phrases: what a multimodal language model would write from the photo, without a key.

It looks where the faces are, whether clothes are seen and what is free beside them, and asks only for what
there is room for: the shirt in another colour, a sign, things that are added. Which of them, its words and
colours follow from the photo's bytes. For a benchmark let a model write them, or a person.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain, cycle, islice
from typing import Protocol

from adapters.base import JudgeContext, NoSettings
from adapters.imaging.decode import decode_rgb
from adapters.imaging.frame import FaceFinder, largest
from adapters.imaging.scene_prompts import ITEMS, PLACES, SIGNS
from adapters.imaging.scene_room import SceneRoom
from domain import keys
from domain.chain_drafting import DraftWanted
from domain.chain_rules import target_of
from domain.edits import JudgeReply
from domain.judge_cards import JudgeCard
from domain.prompt_reading import Reading, read_prompt

VERSION = "local-chains-2"
"""Changes whenever the same photo may get other prompts."""
_COLOURS = ("red", "blue", "green", "yellow", "orange", "purple", "pink")
_MORE_THINGS = ("clock", "plant", "basket", "candle", "cushion", "bag", "umbrella", "chair", "radio", "bird")
"""For chains that are longer than the usual ones."""
_WORDS = ("OPEN", "SALE", "HELLO", "CAFE", "STOP", "MARKET")
_CORNERS = tuple(place for place in PLACES if " " in place)
_SIDES = tuple(place for place in PLACES if " " not in place)


class Room(Protocol):
    """What a photo has room for."""

    clothes: str | None
    """The colour of the clothes; None where none are seen."""

    def put(self, kind: str, place: str) -> bool:
        """Plan a thing at a place, if there is room for it."""
        ...


@dataclass
class AnyRoom:
    """A photo that was not looked at: it is taken to have a shirt and room for everything."""

    clothes: str | None = ""

    def put(self, kind: str, place: str) -> bool:
        """Everything fits."""
        return True


class LocalChainWriter:
    """Drafts one chain after another; never in doubt, never random."""

    def __init__(self, faces: Callable[[], FaceFinder]) -> None:
        self._faces = faces

    @classmethod
    def build(cls, card: JudgeCard, context: JudgeContext) -> LocalChainWriter:
        """The writer of a card, which has no settings."""
        NoSettings.model_validate(card.settings)
        return cls(context.face_models)

    def draft_chain(self, image: bytes, wanted: DraftWanted) -> JudgeReply:
        """A chain as JSON text, valid for `domain.judging.parse_chain`.

        Raises:
            PhotoError: the image does not decode.
        """
        rgb = decode_rgb(image)
        faces = self._faces().find(rgb)
        room = AnyRoom() if largest(faces) is None else SceneRoom(rgb, faces)
        target, prompts = chain_for(keys.sha256(image), wanted.steps, room)
        answer = {"edit_target": target, "prompts": prompts}
        return JudgeReply(json.dumps(answer), VERSION, "stop", 0.0)


def chain_for(sha: str, steps: int, room: Room | None = None) -> tuple[str, list[str]]:
    """The edit target and prompts for a photo, by its sha256 and what it has room for.

    What fits nowhere is passed over. When nothing more fits, things are asked for all the same: the chain is
    as long as it shall be, and an editor may still find a way.
    """
    room = room or AnyRoom()
    drawn = bytes.fromhex(sha)
    prompts = list(islice(_prompts(drawn, room), steps))
    read = [one for one in map(read_prompt, prompts) if isinstance(one, Reading)]
    return target_of(read) or "mixed", prompts


def _prompts(drawn: bytes, room: Room) -> Iterator[str]:
    """More prompts than any chain is long, those that there is room for first."""
    colours = _from(_COLOURS, drawn[0])
    places = (*_rotated(_CORNERS, drawn[1]), *_rotated(_SIDES, drawn[1]))
    used: list[str] = []

    def put(kind: str) -> str | None:
        free = sorted(places, key=used.count)  # stable: a place once more only when all others are full
        place = next((place for place in free if room.put(kind, place)), None)
        used.extend([place] if place else [])
        return place

    if room.clothes is not None:
        colour = next(colour for colour in colours if colour != room.clothes)
        yield f"Change the colour of the shirt to {colour}."
    boards = (SIGNS[0], *_rotated(SIGNS[1:], drawn[3]))
    board, place = next(((kind, place) for kind in boards if (place := put(kind))), (SIGNS[0], None))
    if place:
        word = _WORDS[drawn[3] % len(_WORDS)]
        yield f'Add {_a(next(colours))} {board} with black letters saying "{word}" at the {place}.'
    crowded: list[str] = []
    for thing in _rotated(ITEMS, drawn[2]):
        place = put(thing)
        if place:
            yield f"Add {_a(next(colours))} {thing} at the {place}."
        else:
            crowded.append(thing)
    for thing, place in zip(chain(crowded, _MORE_THINGS), cycle(places), strict=False):
        yield f"Add {_a(next(colours))} {thing} at the {place}."


def _rotated(values: tuple[str, ...], start: int) -> tuple[str, ...]:
    """The values once, from one of them on."""
    return tuple(islice(_from(values, start), len(values)))


def _from(values: tuple[str, ...], start: int) -> Iterator[str]:
    """The values over and over, from one of them on."""
    return islice(cycle(values), start % len(values), None)


def _a(word: str) -> str:
    return f"an {word}" if word[0] in "aeiou" else f"a {word}"
