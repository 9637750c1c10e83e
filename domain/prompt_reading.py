"""What one prompt of a chain asks for, read from its words by a small grammar.

A prompt is one imperative sentence; words between quotation marks are taken out first and count as one word:

    prompt    = add | give | move | remove | replace | recolour | rewrite
    add       = ("Add" | "Put" | "Place" | "Hang" | "Lay" | "Set" | "Stand" | "Paint" …) item [place]
    give      = "Give" person item                             the person is the place
    move      = ("Move" | "Shift" | …) item [place]            also "Put" and "Place" of "the" item
    remove    = ("Remove" | "Delete" | "Take away" | "Take off" …) item [place]
    replace   = ("Replace" | "Swap" | …) item ("with" | "for" | "by") item
              | ("Change" | "Turn" | "Make" …) item ("to" | "into") item
    recolour  = ("Change" | "Turn") ["the colour of"] item ["from" look] "to" look
              | ("Make" | "Paint" | "Dye" | "Colour" | "Turn") item look
    rewrite   = any of these verbs but add's, with quoted words or the words of a sign as its item
    item      = [article] {describing word} noun ["of" item] ["with" item] [saying words]
    look      = {colour | shade | pattern | material | "and"}
    place     = preposition …

What does not fit is `NotUnderstood`, which a person must look at; nothing is guessed. The grammar does not
know whether the words make sense, nor what is in the photo.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from domain.prompt_items import (
    ARTICLES,
    LETTERS,
    NEW,
    OWNERS,
    QUOTED,
    Item,
    anchors_of,
    begins_place,
    is_look,
    item_of,
    quoted_words,
    split_place,
    tokens_of,
    without_lettering,
)  # fmt: skip
from domain.prompt_words import COLOURS, LETTERING, SHADES, SURFACES, singular

Verb = Literal["add", "move", "remove", "replace", "recolour", "rewrite"]

_VERBS: dict[str, str] = {
    **dict.fromkeys(["add", "hang", "lay", "stand", "draw", "write", "print", "drape"], "add"),
    **dict.fromkeys(["put", "place", "set"], "put"),
    "give": "give",
    **dict.fromkeys(["move", "shift", "slide", "relocate"], "move"),
    **dict.fromkeys(["remove", "delete", "erase"], "remove"),
    "take": "take",
    **dict.fromkeys(["replace", "swap", "exchange", "substitute"], "replace"),
    **dict.fromkeys(["change", "turn", "make", "update"], "change"),
    **dict.fromkeys(["paint", "dye", "colour", "color", "recolour", "recolor"], "paint"),
    "rewrite": "rewrite",
}


@dataclass(frozen=True)
class Reading:
    """What one prompt asks for."""

    verb: Verb
    item: Item
    """What is edited; of `add`, what is new."""
    new: Item | None = None
    """Of `replace`, what comes instead."""
    look: tuple[str, ...] = ()
    """Of `recolour`, the words for how it shall look."""
    place: str = ""
    """Where an item is added or moved to, or where it is."""
    anchors: tuple[str, ...] = ()
    """The kinds of the things that the place names."""
    quoted: tuple[str, ...] = ()
    """The words between quotation marks, last the new ones."""
    sign_colour: str = ""
    letter_colour: str = ""

    @property
    def is_text(self) -> bool:
        """Whether letters are edited."""
        return self.verb == "rewrite" or bool(self.quoted) or self.item.kind in LETTERING


@dataclass(frozen=True)
class NotUnderstood:
    """A prompt that the grammar cannot read."""

    why: str


def read_prompt(prompt: str) -> Reading | NotUnderstood:
    """What a prompt asks for, or why that cannot be told."""
    tokens = tokens_of(prompt)
    bare = without_lettering(tokens)
    if not tokens or tokens[0] not in _VERBS:
        first = tokens[0] if tokens else ""
        return NotUnderstood(f"it begins with {first!r}, none of: {', '.join(sorted(_VERBS))}")
    kind, rest = _VERBS[tokens[0]], bare[1:]
    quoted = quoted_words(prompt)
    read = _read(kind, rest, bool(quoted))
    if read is None:
        return NotUnderstood(f"what follows {tokens[0]!r} does not fit what such a prompt says")
    if quoted or read.verb == "rewrite":
        sign, letters = _text_colours(tokens, read)
        return Reading(
            read.verb, read.item, read.new, read.look, read.place, read.anchors, quoted, sign, letters
        )
    return read


def _read(kind: str, rest: list[str], has_quotes: bool) -> Reading | None:
    if kind == "put":
        kind = "move" if rest[:1] and rest[0] in {"the", *OWNERS} else "add"
    if kind == "take":
        if not {"away", "off", "out", "from"} & set(rest):
            return None
        kind, rest = "remove", [word for word in rest if word not in ("away", "out")]
        rest = rest[1:] if rest[:1] == ["off"] else rest
    if kind == "paint" and rest[:1] and rest[0] in NEW:
        kind = "add"
    if kind == "give":
        return _give(rest)
    if kind in ("change", "replace", "paint", "rewrite", "add") and _is_rewrite(kind, rest, has_quotes):
        return _rewrite(rest)
    if kind in ("add", "move", "remove"):
        return _with_place(kind, rest)
    if kind == "replace":
        return _replace(rest)
    return _change(kind, rest)


def _with_place(verb: Literal["add", "move", "remove"], rest: Sequence[str]) -> Reading | None:
    core, place = split_place(rest)
    item = Item("text") if core[-1:] == [QUOTED] and len(core) < 4 else item_of(core)
    if item is None:
        return None
    if verb == "move" and "from" in place and "to" in place[place.index("from") :]:
        place = place[place.index("to", place.index("from")) :]
    return Reading(verb, item, place=" ".join(place), anchors=anchors_of(place))


def _give(rest: list[str]) -> Reading | None:
    start = next((n for n, word in enumerate(rest) if n and word in NEW), None)
    if start is None:
        return None
    core, place = split_place(rest[start:])
    item = item_of(core)
    whole = [*rest[:start], *place]
    return None if item is None else Reading("add", item, place=" ".join(whole), anchors=anchors_of(whole))


def _replace(rest: list[str]) -> Reading | None:
    at = next((n for n, word in enumerate(rest) if word in ("with", "for", "by")), None)
    if at is None:
        return None
    return _other(rest[:at], rest[at + 1 :])


def _other(before: list[str], after: list[str]) -> Reading | None:
    core, place = split_place(before)
    old, new = item_of(core), item_of(split_place(after)[0])
    if old is None or new is None:
        return None
    if new.kind == "one":  # "a red one"
        return Reading("recolour", old, look=new.describing, place=" ".join(place), anchors=anchors_of(place))
    return Reading("replace", old, new, place=" ".join(place), anchors=anchors_of(place))


def _change(kind: str, rest: list[str]) -> Reading | None:
    if rest[:1] == ["the"] and rest[1:3] in (["colour", "of"], ["color", "of"]):
        rest = rest[3:]
    cut = max((n for n, word in enumerate(rest) if word in ("to", "into")), default=None)
    if cut is not None and rest[cut + 1 : cut + 2] and not begins_place(rest[cut + 1 :]):
        before, after = rest[:cut], rest[cut + 1 :]
        if is_look(after):
            if "from" in before and is_look(before[before.index("from") + 1 :]):
                before = before[: before.index("from")]
            return _looks(before, after)
        several = rest[cut] == "into" or after[-1].endswith("s")  # "to red jeans"
        return _other(before, after) if several or after[0] in NEW | OWNERS else None
    end = len(rest)
    while end and is_look(rest[end - 1 :]):
        end -= 1
    if kind == "paint" and end < len(rest) and rest[end - 1 : end] == ["in"]:
        return _looks(rest[: end - 1], rest[end:])
    return _looks(rest[:end], rest[end:]) if end < len(rest) else None


def _looks(before: list[str], look: list[str]) -> Reading | None:
    core, place = split_place([word for word in before if word not in ("colour", "color")])
    if core and core[-1].endswith(("'s", "’s")):  # "the shirt's colour"
        core = [*core[:-1], core[-1][:-2]]
    item = item_of(core)
    words = tuple(word for word in look if word not in {"and", ",", *ARTICLES})
    return (
        None if item is None else Reading("recolour", item, None, words, " ".join(place), anchors_of(place))
    )


def _is_rewrite(kind: str, rest: list[str], has_quotes: bool) -> bool:
    names_lettering = any(singular(word) in LETTERING for word in rest)
    if kind == "add":
        return False
    if kind == "rewrite" or has_quotes:
        return True
    colours_letters = is_look(rest[-1:]) and rest[-2:-1] == ["to"]
    return names_lettering and not colours_letters


def _rewrite(rest: list[str]) -> Reading | None:
    """The item of a text edit is what the letters stand on."""
    stop = next((n for n, word in enumerate(rest) if word in (QUOTED, "to", "with", "as")), len(rest))
    named = [word for word in rest if singular(word) in SURFACES]
    core, place = split_place(rest[:stop] if rest[:1] != [QUOTED] else rest[1:])
    owner = anchors_of(place)
    kind = singular(named[0]) if named else owner[0] if owner else ""
    item = item_of(core)
    if not kind and item is not None:
        kind = item.kind
    return Reading("rewrite", Item(kind, item.describing if item else ()), None) if kind else None


def _text_colours(tokens: list[str], read: Reading) -> tuple[str, str]:
    """The colours of the sign and of its letters, as far as the prompt states them."""
    text = " ".join(tokens)
    colour = f"(?:(?:{'|'.join(SHADES)}) )?(?P<c>{'|'.join(sorted(COLOURS))})"
    signs = "|".join(sorted({*SURFACES, *read.anchors, read.item.kind, "background"}))
    lettering = rf"(?:[\w-]+ ){{0,2}}?(?:{LETTERS})"
    both = re.search(rf"\bin {colour} on (?:an? |the )?{colour.replace('<c>', '<d>')}\b", text)
    if both:
        return both["d"], both["c"]
    letters = re.search(rf"\b{colour} {lettering}\b", text)
    left = text if letters is None else text.replace(letters[0], "letters")
    on = re.search(rf"\bon (?:an? |the )?{colour}\b", left)
    before = re.search(rf"\b{colour} (?:[\w'-]+ ){{0,2}}?(?:{signs})\b", left)
    alone = re.search(rf"\bin {colour}(?: |$)", left) if letters is None else None
    sign = on or before
    return (sign["c"] if sign else ""), (letters["c"] if letters else alone["c"] if alone else "")
