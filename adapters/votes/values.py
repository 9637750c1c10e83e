"""What the cells of a row of votes say, or why they say nothing."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Literal

from adapters.votes.source import Bad
from domain import keys
from domain.matches import Choice, Side

LARGEST_MS = 2**53
SAID_AS_A_LIMIT = 1_000_000
"""Above it a limit is nothing that a person would come near to."""
LONGEST_NAME, LONGEST_ID = 200, 300
_CHOICES: dict[str, Choice] = {"a": "a", "b": "b", "tie": "tie"}


def text(values: Mapping[str, Any], name: str) -> str | Bad:
    """The text of a cell, empty where there is none."""
    value = values.get(name)
    if value is None:
        return ""
    if isinstance(value, dict | list | bytes):
        return Bad(f"bad_{name}", f"{name} is not one value")
    if isinstance(value, float):
        value = f"{value:.0f}" if value.is_integer() else value
    return str(value).strip()


def choice(values: Mapping[str, Any], left: Side | None) -> Choice | Bad:
    """Who was chosen; `left` and `right` are understood where it is known who was left."""
    said = text(values, "choice")
    if isinstance(said, Bad):
        return said
    word = said.casefold()
    if word in _CHOICES:
        return _CHOICES[word]
    if word in ("left", "right"):
        if left is None:
            return Bad("no_left", f"the choice is {word}, and `left` does not say who was left")
        return left if word == "left" else other(left)
    if not word:
        return Bad("no_choice", "there is no choice; allowed: a, b, tie, left, right")
    return Bad("bad_choice", f"{said!r} is no choice; allowed: a, b, tie, left, right")


def other(side: Side) -> Side:
    """The other side."""
    return "b" if side == "a" else "a"


def side(values: Mapping[str, Any], name: str = "left") -> Side | Bad | None:
    """Who was left, where it is told."""
    said = text(values, name)
    if isinstance(said, Bad):
        return said
    match said.casefold():
        case "":
            return None
        case "a":
            return "a"
        case "b":
            return "b"
        case _:
            return Bad("bad_left", f"{said!r} is no side; allowed: a, b, or nothing")


def name(values: Mapping[str, Any], column: str = "annotator") -> str | Bad:
    """Who voted."""
    said = text(values, column)
    if isinstance(said, Bad):
        return said
    if not said or said.casefold() == "nan":
        return Bad("no_annotator", "nobody is named who voted; give each voter a name, such as a number")
    if len(said) > LONGEST_NAME:
        return Bad("bad_annotator", f"the name has {len(said)} characters, {LONGEST_NAME} are allowed")
    return said


def moment(values: Mapping[str, Any], column: str = "at") -> str | Bad | None:
    """When, in UTC, where it is told."""
    value = values.get(column)
    said = text(values, column)
    if isinstance(said, Bad) or not said:
        return said or None
    try:
        found = value if isinstance(value, datetime) else datetime.fromisoformat(said)
        if found.tzinfo is None:
            return Bad("bad_time", f"{said!r} has no zone; write 2026-11-30T12:00:00Z")
        return found.astimezone(UTC).isoformat()
    except (ValueError, OverflowError):
        return Bad("bad_time", f"{said!r} is no time; write 2026-11-30T12:00:00Z")


def number(value: Any, what: str, most: float) -> float | Bad | None:
    """A number from 0 to `most`, where one is given."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    shown, allowed = str(value)[:50], "0 or more" if most > SAID_AS_A_LIMIT else f"0 to {most:g}"
    wrong = Bad(f"bad_{what}", f"{what}: {shown!r} is not a number that is allowed here: {allowed}")
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return wrong
    try:
        found = float(value)
    except (ValueError, OverflowError):
        return wrong
    if math.isfinite(found) and found > most > SAID_AS_A_LIMIT:
        return Bad(f"bad_{what}", f"{what}: {shown!r} is too large")
    return found if math.isfinite(found) and 0 <= found <= most else wrong


def whole(value: Any, what: str, most: int) -> int | Bad | None:
    """A whole number from 0 to `most`, where one is given."""
    found = number(value, what, most)
    if found is None or isinstance(found, Bad):
        return found
    if found != int(found):
        return Bad(f"bad_{what}", f"{what}: {str(value)[:50]!r} is not a whole number")
    return int(found)


class Occurrences:
    """Names for rows that have none: by what they say, and how often it was said before.

    The same rows have the same names in any order and in any file; a row that stands twice has two.
    """

    def __init__(self, kind: Literal["row", "response"]) -> None:
        self._kind = kind
        self._seen: Counter[str] = Counter()

    def name_of(self, content: Mapping[str, Any]) -> str:
        """The name of the next row that says this."""
        digest = keys.fingerprint(content)[:32]
        self._seen[digest] += 1
        return f"{self._kind}-{digest}-{self._seen[digest]}"
