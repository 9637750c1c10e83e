"""The pieces that prompts are made of: words, quotations, items, looks and places.

See `domain.prompt_reading` for the grammar that puts them together.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from domain.prompt_words import COLOURS, HAIR, LOOKS, PEOPLE, SHADES, SURFACES, singular

_QUOTES = re.compile(r"“([^”]*)”|\"([^\"]*)\"|(?<!\w)[‘']([^’']+(?:[’'](?=\w)[^’']*)*)[’'](?!\w)")
_WORD = re.compile(r"[^\W_]+(?:[-'’][^\W_]+)*(?:(?<=s)['’](?!\w))?|,")
QUOTED = "quotedwords"
"""Stands for what is between quotation marks."""
ARTICLES = frozenset({"a", "an", "the", "some", "two", "three", "four", "this", "that", "these", "those"})
OWNERS = frozenset({"his", "her", "their", "its"})
NEW = frozenset({"a", "an", "some", "two", "three", "four", "another", "more"})
_OF_PLACE = frozenset({
    "on", "onto", "in", "into", "inside", "at", "to", "under", "underneath", "beneath", "below",
    "above", "over", "behind", "beside", "next", "near", "by", "between", "among", "around",
    "against", "along", "across", "from", "off", "towards", "toward", "through", "left", "right",
    "closer", "further", "farther", "up", "down", "forward", "forwards", "back", "outside",
    "opposite",
})  # fmt: skip
_SIDES = frozenset({"left", "right", "back", "front", "top", "bottom", "up", "down"})
_SAYING = frozenset({"saying", "says", "say", "reading", "reads", "read", QUOTED})
_DOING = frozenset({
    "leaning", "sleeping", "lying", "standing", "sitting", "hanging", "resting", "wearing", "facing",
    "floating", "flying", "walking", "tied", "parked", "placed", "wrapped", "draped", "hung", "filled",
    "attached", "made",
})  # fmt: skip
"""Behind a noun: what the item does, which does not name it."""
_CLAUSES = frozenset({"so", "it", "while", "where", "when", "because", "if"})
_AMOUNTS = frozenset(
    {
        "pair",
        "bunch",
        "set",
        "slice",
        "slices",
        "piece",
        "pieces",
        "pairs",
        "couple",
        "pile",
        "stack",
        "number",
        "group",
    }
)
"""Before "of": the thing itself is named after it."""
LETTERS = "letters?|lettering|text|words?|writing|font|paint|chalk"
"""Of a regular expression: what has the colour of letters."""
_RELATIVE = frozenset({"that", "which", "who"})


@dataclass(frozen=True)
class Item:
    """One thing that a prompt names."""

    kind: str
    """Its noun for one of it: `mug`."""
    describing: tuple[str, ...] = ()
    """Every other word before the noun, colours too."""
    owner: str = ""
    """Whose it is, as the prompt says it."""

    @property
    def colours(self) -> tuple[str, ...]:
        """The colours that it is said to have."""
        return tuple(word for word in self.describing if word in COLOURS)


def quoted_words(prompt: str) -> tuple[str, ...]:
    """What stands between quotation marks, straight or curly; an apostrophe is none."""
    return tuple(next(part for part in found if part) for found in _QUOTES.findall(prompt) if any(found))


def without_quotes(prompt: str) -> str:
    """The prompt with one word in place of each quotation."""
    return _QUOTES.sub(f" {QUOTED} ", prompt)


def words_of(prompt: str) -> list[str]:
    """The words outside quotation marks, in lower case."""
    return [word for word in tokens_of(prompt) if word not in (QUOTED, ",")]


def tokens_of(prompt: str) -> list[str]:
    """The words in lower case, with `QUOTED` for each quotation, and commas."""
    return [word.casefold().replace("’", "'") for word in _WORD.findall(without_quotes(prompt))]


def without_lettering(tokens: Sequence[str]) -> list[str]:
    """The words without how letters look: "in white letters", "in white on blue"."""
    text = f" {' '.join(tokens)} "
    colour = "|".join(sorted(COLOURS))
    ground = rf"(?: on (?:an? |the )?(?:{colour})(?= (?:on|at|in|above|over|next|beside|behind|$)))?"
    text = re.sub(rf" in (?:[\w-]+ ){{0,3}}(?:{LETTERS})(?= ){ground}", "", text)
    text = re.sub(rf" in (?:{colour})(?: on (?:an? |the )?(?:{colour}))?(?= $)", "", text)
    return text.split()


def split_place(tokens: Sequence[str]) -> tuple[list[str], list[str]]:
    """An item, and the place that follows it; "left sleeve" is no place, "to the left" is one."""
    for n, word in enumerate(tokens):
        after = tokens[n + 1] if n + 1 < len(tokens) else ""
        begins = word in _OF_PLACE and (
            word not in _SIDES or not after or after in _OF_PLACE or after == "of"
        )
        if word == "in" and singular(tokens[n - 1]) in PEOPLE:
            continue  # "the man in the blue shirt"
        if n and begins:
            return list(tokens[:n]), list(tokens[n:])
    return list(tokens), []


def item_of(tokens: Sequence[str]) -> Item | None:
    """The thing that words name; None where they name none, or more than one."""
    if _CLAUSES & set(tokens):
        return None
    owner, words = _owned(_named(tokens))
    while words and words[0] in ARTICLES:
        words = words[1:]
    while len(words) > 1 and words[-1] in _DOING:
        words = words[:-1]
    joined = [n for n, word in enumerate(words) if word == "and"]
    if not words or set(words) & ARTICLES or any(not is_look(words[n - 1 : n]) for n in joined):
        return None
    return Item(singular(words[-1]), tuple(word for word in words[:-1] if word != "and"), owner)


def _named(tokens: Sequence[str]) -> list[str]:
    """The words before what an item has, says or does."""
    words: list[str] = []
    for n, word in enumerate(tokens):
        if word == QUOTED and _names_surface(tokens[n + 1 :]):
            continue
        if words and (word in ("with", ",") or word in _SAYING or word in _RELATIVE):
            break
        words.append(word)
    return words


def _owned(words: list[str]) -> tuple[str, list[str]]:
    """Whose the item is, and its own words: "the man's tie", "the tie of the man", "her tie"."""
    owner = ""
    if "of" in words[1:]:
        at = words.index("of")
        after = [word for word in words[at + 1 :] if word not in ARTICLES]
        if words[at - 1] in _AMOUNTS:
            words = words[at + 1 :]
        else:
            is_owner = any(singular(word) in PEOPLE for word in after)
            owner, words = (" ".join(after) if is_owner else ""), words[:at]
    marks = [n for n, word in enumerate(words) if word.endswith("'s") or (word.endswith("s'") and n)]
    if marks:
        owner = " ".join(word for word in words[: marks[-1] + 1] if word not in ARTICLES)
        return owner.removesuffix("'s").removesuffix("'"), words[marks[-1] + 1 :]
    return (words[0], words[1:]) if words and words[0] in OWNERS else (owner, words)


def _names_surface(after: Sequence[str]) -> bool:
    """Whether quoted words describe what follows them: a "SALE" sign."""
    return bool(after) and singular(after[0]) in SURFACES


def begins_place(tokens: list[str]) -> bool:
    """Whether "to" begins a place: "to the left of the vase"."""
    return tokens[:1] == ["the"] and len(tokens) > 1 and tokens[1] in _SIDES


def is_look(tokens: Sequence[str]) -> bool:
    """Whether words only say how something looks."""
    words = [word for word in tokens if word not in ARTICLES]
    looks = COLOURS | SHADES | LOOKS
    return (
        bool(words)
        and all(word in looks or word in ("and", ",") for word in words)
        and any(word in looks for word in words)
    )


def anchors_of(place: Sequence[str]) -> tuple[str, ...]:
    """The kinds of the things in a place: each last word before another preposition."""
    found: list[str] = []
    last = ""
    for word in [*place, "on"]:
        if word in _OF_PLACE - _SIDES or word in ("of", "and", "with", "that", "which"):
            if last and last not in _SIDES and singular(last) not in HAIR:
                found.append(singular(last))
            last = ""
        elif word not in ARTICLES and word != ",":
            last = word.removesuffix("'s")
    return tuple(found)
