"""From what is known of a photo to the groups that it is in, by definitions that are data.

A photo carries raw labels: `gender: female`, `age: 27`, `fitzpatrick: III`. A demographic says how one
column of them becomes groups: by listed values or by ranges of numbers. What is not covered is in no group,
and counted as unknown; nothing is guessed.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Annotated, Self, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, FiniteFloat, model_validator

from domain.dataset_options import ColumnName, RawValue
from domain.photos import Slug

GroupName = Annotated[RawValue, Field(pattern=r"^[^=]+$")]
LONGEST = 60
"""Characters of a value that are shown."""


def _each_its_own(values: object) -> object:
    """`[male, female]` means that each value is a group of its own name."""
    if not isinstance(values, list | tuple):
        return values
    return {str(value): (value,) for value in cast(Sequence[object], values)}


class Demographic(BaseModel):
    """How one column of the photos becomes groups."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    column: ColumnName
    values: Annotated[dict[GroupName, tuple[RawValue, ...]], BeforeValidator(_each_its_own)] = Field(
        default_factory=dict[str, tuple[str, ...]]
    )
    """Group to the values that it is made of, `light: [I, II, III]`; or a list of values, each a group.

    Case and blanks around a value are ignored; numbers are compared as numbers.
    """
    ranges: dict[GroupName, tuple[FiniteFloat, FiniteFloat]] = Field(
        default_factory=dict[str, tuple[float, float]]
    )
    """Group to the lowest and highest number in it, both included: `young: [20, 30]`."""

    @model_validator(mode="after")
    def _groups_are_told_apart(self) -> Self:
        if bool(self.values) == bool(self.ranges):
            raise ValueError("give either `values` or `ranges`")
        counts = Counter(same(raw) for held in self.values.values() for raw in held)
        twice = sorted(raw for raw, n in counts.items() if n > 1)
        if twice:
            raise ValueError(f"a value is in two groups: {', '.join(twice)}")
        ordered = sorted((low, high, name) for name, (low, high) in self.ranges.items())
        for low, high, name in ordered:
            if low > high:
                raise ValueError(f"the range of {name} ends before it starts")
        for (_, end, name), (start, _, other) in pairwise(ordered):
            if start <= end:
                raise ValueError(f"the ranges of {name} and {other} overlap; both ends belong to a range")
        return self

    @property
    def groups(self) -> tuple[str, ...]:
        """Every group, in the order given."""
        return (*self.values, *self.ranges)

    def group(self, raw: str | None) -> str | None:
        """The group of a raw value; None where it is unknown or in none."""
        if raw is None:
            return None
        if self.ranges:
            number = number_in(raw)
            held = [
                name
                for name, (low, high) in self.ranges.items()
                if number is not None and low <= number <= high
            ]
        else:
            held = [name for name, values in self.values.items() if same(raw) in map(same, values)]
        return held[0] if held else None


class GroupDefinitions(BaseModel):
    """Demographics that suites share."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str = Field(pattern=Slug)
    note: str
    demographics: dict[ColumnName, Demographic] = Field(min_length=1)


def groups_of(
    labels: Mapping[str, str],
    demographics: Mapping[str, Demographic],
    listed: Mapping[str, Iterable[str]],
) -> list[str]:
    """The groups of a photo, sorted, each as "name=value".

    Args:
        labels: What is known of it, column to raw value.
        demographics: How columns become groups. A column that one of them reads is not a group itself.
        listed: Demographic to the values that axes compare (see `domain.suites.Suite.listed`).

    Returns:
        Groups of the demographics, and every other column as it is, in the spelling of an axis that lists it;
        but a number is a group only where an axis lists it, so that ages never become a group each.
    """
    read = {definition.column for definition in demographics.values()}
    held = {
        name: definition.group(labels.get(definition.column)) for name, definition in demographics.items()
    }
    for name, value in labels.items():
        if name not in read and name not in demographics:
            compared = next((known for known in listed.get(name, ()) if same(known) == same(value)), None)
            held[name] = compared or (value if number_in(value) is None else None)
    return sorted(f"{name}={value}" for name, value in held.items() if value)


def label_counts(photos: Iterable[Mapping[str, str]]) -> dict[str, Counter[str]]:
    """How many photos hold which value, by column."""
    seen: dict[str, Counter[str]] = {}
    for labels in photos:
        for name, value in labels.items():
            seen.setdefault(name, Counter())[value] += 1
    return seen


def group_notices(
    seen: Mapping[str, Counter[str]],
    demographics: Mapping[str, Demographic],
    listed: Mapping[str, Iterable[str]],
) -> tuple[str, ...]:
    """What of the definitions meets no photo, or what of the photos meets no definition, one sentence each.

    Args:
        seen: Column to how many photos hold which value (`label_counts`).
        demographics: How columns become groups.
        listed: Demographic to the values that axes compare.
    """
    if not seen:
        names = sorted({*demographics, *listed})
        return (f"no photo has any label, so nobody is in a group of {', '.join(names)}",) if names else ()
    known = {
        name: Demographic.model_construct(column=name, values={v: (v,) for v in values}, ranges={})
        for name, values in listed.items()
        if name not in demographics
    }
    notices: list[str] = []
    for name, definition in {**demographics, **known}.items():
        notices += _notices(name, definition, seen)
    return tuple(notices)


def _notices(name: str, definition: Demographic, seen: Mapping[str, Counter[str]]) -> list[str]:
    column = definition.column
    if column not in seen:
        return [f"{name}: no photo has the column {column!r}; the photos have {', '.join(sorted(seen))}"]
    held = {raw: definition.group(raw) for raw in seen[column]}
    found: list[str] = []
    empty = [group for group in definition.groups if group not in held.values()]
    if empty:
        found.append(
            f"{name}: no photo is in {', '.join(empty)}; {column!r} holds {summary_of(seen[column])}"
        )
    if definition.ranges:
        stray = Counter({raw: n for raw, n in seen[column].items() if number_in(raw) is None})
        what = "no number"
    else:
        stray = Counter({raw: n for raw, n in seen[column].items() if held[raw] is None})
        what = "no value of it"
    if stray:
        found.append(f"{name}: {stray.total()} photos are in no group, {what}: {summary_of(stray)}")
    return found


def summary_of(counts: Counter[str], most: int = 8) -> str:
    """Values with their counts, most frequent first; of many numbers only the span."""
    numbers = [number for number in map(number_in, counts) if number is not None]
    if len(numbers) == len(counts) > most:
        return f"numbers from {min(numbers):g} to {max(numbers):g}"
    listed = [
        f"{shown(value)!r} ({n})" for value, n in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    ]
    more = f" and {len(listed) - most} more" if len(listed) > most else ""
    return ", ".join(listed[:most]) + more


def shown(value: str, most: int = LONGEST) -> str:
    """A value for people: of a long one its beginning and how long it is."""
    return value if len(value) <= most else f"{value[:most]}… ({len(value):,} characters)"


def same(raw: str) -> str:
    """A raw value in the form in which two are compared."""
    number = number_in(raw)
    return raw.strip().casefold() if number is None else f"{number:.12g}"


def number_in(raw: str) -> float | None:
    """The finite number that a text is, if it is one."""
    try:
        number = float(raw)
    except ValueError:
        return None
    return number if math.isfinite(number) and "_" not in raw else None
