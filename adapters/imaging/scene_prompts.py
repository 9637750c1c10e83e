"""Everyday edits in plain English: the small grammar that the scene editor and its step checker share.

A prompt is one sentence of one of these forms; capitals, a full stop and spare spaces do not matter:

    Change the colour of the GARMENT to COLOUR        Make the GARMENT COLOUR
    Change the hair colour to COLOUR                  Dye the hair COLOUR
    Change the colour of the [COLOUR] ITEM to COLOUR  Make the [COLOUR] ITEM COLOUR
    Add a COLOUR ITEM at the PLACE
    Move the [COLOUR] ITEM to the PLACE
    Remove the [COLOUR] ITEM
    Replace the [COLOUR] ITEM with a COLOUR ITEM
    Add a COLOUR SIGN with COLOUR letters saying "WORDS" at the PLACE
    Change the words on the SIGN to "WORDS" in COLOUR letters on a COLOUR SIGN

`Put` and `Place` stand for `Add`, `Take away` for `Remove`, `Swap … for` for `Replace … with`, `color` for
`colour`, `in`, `on` or `to` for `at`. A SIGN can be moved and removed like an ITEM. A GARMENT may have
words before it that are not read: it is always that of the largest face. Anything else is not understood.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from adapters.imaging.palette import HAIR, Rgb

_Words = Mapping[str, str]
"""The parts of a prompt by their names."""
Verb = Literal["recolour", "add", "move", "remove", "replace", "rewrite"]

COLOURS: dict[str, Rgb] = {
    "red": (200, 30, 40),
    "orange": (240, 130, 20),
    "yellow": (245, 210, 40),
    "green": (30, 140, 70),
    "blue": (35, 80, 190),
    "purple": (120, 50, 160),
    "pink": (240, 130, 180),
    "brown": (120, 75, 40),
    "black": (25, 25, 28),
    "white": (245, 245, 245),
    "grey": (135, 135, 135),
}
ITEMS = ("mug", "book", "ball", "bottle", "vase", "lamp", "box", "kite")
SIGNS = ("sign", "poster", "banner", "board", "label")
"""What words are written on."""
CLOTHING, HAIR_KIND = "clothing", "hair"
GARMENTS = (
    "spacesuit", "sweatshirt", "polo shirt", "t-shirt", "shirt", "jacket", "sweater", "jumper", "dress",
    "suit", "coat", "hoodie", "blouse", "cardigan", "uniform", "vest", "top", "clothes", "clothing", "outfit",
)  # fmt: skip
PLACES = ("top left", "top right", "bottom left", "bottom right", "top", "bottom", "left", "right")
MOST_LETTERS = 12
"""Of the words on a sign; more would be too small to be read."""


@dataclass(frozen=True)
class Thing:
    """What a prompt names; what it leaves open is None."""

    kind: str
    """One of `ITEMS` or `SIGNS`, or `clothing` or `hair`."""
    colour: str | None = None
    words: str | None = None
    letters: str | None = None
    """Colour of the letters of a sign."""


@dataclass(frozen=True)
class Wish:
    """One edit that a prompt asks for."""

    verb: Verb
    target: Thing
    """What is added, or what is there and shall change."""
    new: Thing | None = None
    """What it shall become."""
    place: str | None = None


def read_wish(prompt: str) -> Wish | None:
    """The edit that a prompt asks for, or None where it is no sentence of the grammar."""
    text = " ".join(prompt.split()).rstrip(" .!")
    text = text.translate({ord(quote): '"' for quote in "“”„«»"})
    for pattern, make in _FORMS:
        found = pattern.fullmatch(text)
        if found:
            return make({name: value for name, value in found.groupdict().items() if value is not None})
    return None


def _any_of(name: str, values: tuple[str, ...]) -> str:
    return f"(?P<{name}>{'|'.join(map(re.escape, values))})"


def _colour(name: str) -> str:
    return _any_of(name, (*COLOURS, "gray"))


_OLD = rf"the (?:{_colour('old_colour')} )?{_any_of('old', (*ITEMS, *SIGNS))}"
_OLD_ITEM = rf"the (?:{_colour('old_colour')} )?{_any_of('old', ITEMS)}"
_NEW = rf"an? {_colour('colour')} {_any_of('new', ITEMS)}"
_GARMENT = rf"(?:the|her|his|their) (?:[\w'’-]+ ){{0,3}}?{_any_of('garment', GARMENTS)}"
_AT = rf"(?:at|in|on|to) the {_any_of('place', PLACES)}(?: corner| side)?"
_WORDS = rf'"(?P<words>[A-Za-z0-9](?:[A-Za-z0-9 !?&-]{{0,{MOST_LETTERS - 2}}}[A-Za-z0-9!?])?)"'
_ADD, _REMOVE = "(?:add|put|place)", "(?:remove|take away)"
_CHANGE_COLOUR = r"(?:change|turn) (?:the colou?r of )?"
_HAIR_COLOURS = tuple(name.removesuffix(" hair") for name in HAIR)


def _named(found: _Words, name: str) -> str | None:
    colour = found.get(name, "").casefold()
    return "grey" if colour == "gray" else colour or None


def _old(found: _Words) -> Thing:
    return Thing(found["old"].casefold(), _named(found, "old_colour"))


def _new(found: _Words) -> Thing:
    return Thing(found["new"].casefold(), _named(found, "colour"))


def _sign(found: _Words) -> Thing:
    kind = found["sign"].casefold()
    return Thing(kind, _named(found, "colour"), found["words"], _named(found, "letters"))


def _place(found: _Words) -> str:
    return found["place"].casefold()


def _clothes_recoloured(found: _Words) -> Wish:
    return Wish("recolour", Thing(CLOTHING), Thing(CLOTHING, _named(found, "colour")))


def _hair_recoloured(found: _Words) -> Wish:
    return Wish("recolour", Thing(HAIR_KIND), Thing(HAIR_KIND, _named(found, "colour")))


def _item_recoloured(found: _Words) -> Wish:
    old = _old(found)
    return Wish("recolour", old, Thing(old.kind, _named(found, "colour")))


def _sign_added(found: _Words) -> Wish:
    return Wish("add", _sign(found), place=_place(found))


def _item_added(found: _Words) -> Wish:
    return Wish("add", _new(found), place=_place(found))


def _moved(found: _Words) -> Wish:
    return Wish("move", _old(found), place=_place(found))


def _removed(found: _Words) -> Wish:
    return Wish("remove", _old(found))


def _replaced(found: _Words) -> Wish:
    return Wish("replace", _old(found), _new(found))


def _rewritten(found: _Words) -> Wish:
    sign = _sign(found)
    return Wish("rewrite", Thing(sign.kind), sign)


_TO = rf"(?:to |into )?{_colour('colour')}"
_HAIR = (
    r"(?:change|dye|make|turn|colou?r) (?:the )?hair(?: colou?r)? (?:to )?"
    rf"{_any_of('colour', _HAIR_COLOURS)}"
)
_SIGN_NEW = (
    rf"an? {_colour('colour')} {_any_of('sign', SIGNS)} with {_colour('letters')} letters"
    rf"(?: saying| that say| reading)? {_WORDS}"
)
_REWRITE = (
    rf"change the (?:words |text )?(?:on the |of the )?{_any_of('sign', SIGNS)} to {_WORDS},? "
    rf"in {_colour('letters')} letters on (?:an? )?{_colour('colour')}(?: (?P=sign)| background)?"
)


def _form(pattern: str, make: Callable[[_Words], Wish]) -> tuple[re.Pattern[str], Callable[[_Words], Wish]]:
    return re.compile(pattern, re.IGNORECASE | re.ASCII), make


_FORMS = (
    _form(_HAIR, _hair_recoloured),
    _form(rf"(?:make|dye|{_CHANGE_COLOUR}) ?{_OLD_ITEM} {_TO}", _item_recoloured),
    _form(rf"(?:make|dye|{_CHANGE_COLOUR}) ?{_GARMENT}(?: colou?r)? {_TO}", _clothes_recoloured),
    _form(rf"{_ADD} {_SIGN_NEW} {_AT}", _sign_added),
    _form(rf"{_ADD} {_NEW} {_AT}", _item_added),
    _form(rf"move {_OLD} {_AT}", _moved),
    _form(rf"{_REMOVE} {_OLD}", _removed),
    _form(rf"replace {_OLD_ITEM} with {_NEW}", _replaced),
    _form(rf"swap {_OLD_ITEM} for {_NEW}", _replaced),
    _form(_REWRITE, _rewritten),
)
