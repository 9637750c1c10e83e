"""The vocabulary of face edits: 3 axes, 8 sub-axes, 35 categories, 169 attributes.

Source: arXiv 2608.28802, Tables 11-13.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property

from pydantic import BaseModel, ConfigDict, model_validator


class Category(BaseModel):
    """The level at which a state is tracked, and the attributes that fall under it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    attributes: tuple[str, ...]


class SubAxis(BaseModel):
    """One feature of a face; its value in an image is a set of its categories, empty for None."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    categories: tuple[Category, ...]


class Axis(BaseModel):
    """A group of sub-axes."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    sub_axes: tuple[SubAxis, ...]


class Attribute(BaseModel):
    """One phrase a prompt may name, with its place in the taxonomy."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    category: str
    sub_axis: str
    axis: str


class Taxonomy(BaseModel):
    """All attributes of a suite, with a version that every record based on it carries."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    version: int
    source: str
    axes: tuple[Axis, ...]

    @model_validator(mode="after")
    def _names_are_unique(self) -> Taxonomy:
        for level, names in (
            ("sub-axis", [sub_axis.name for sub_axis in self._sub_axes()]),
            ("category", [a.name for s in self._sub_axes() for a in s.categories]),
            ("attribute", [attribute.name.casefold() for attribute in self._attributes()]),
        ):
            twice = sorted({name for name in names if names.count(name) > 1})
            if twice:
                raise ValueError(f"{level} named twice: {', '.join(twice)}")
        return self

    def _sub_axes(self) -> Iterator[SubAxis]:
        for axis in self.axes:
            yield from axis.sub_axes

    def _attributes(self) -> Iterator[Attribute]:
        for axis in self.axes:
            for sub_axis in axis.sub_axes:
                for category in sub_axis.categories:
                    for name in category.attributes:
                        yield Attribute(
                            name=name, category=category.name, sub_axis=sub_axis.name, axis=axis.name
                        )

    @cached_property
    def attributes(self) -> dict[str, Attribute]:
        """Every attribute by its name in lower case."""
        return {attribute.name.casefold(): attribute for attribute in self._attributes()}

    @cached_property
    def sub_axes(self) -> tuple[str, ...]:
        """Names of the sub-axes, in order."""
        return tuple(sub_axis.name for sub_axis in self._sub_axes())

    @cached_property
    def categories(self) -> dict[str, tuple[str, ...]]:
        """Names of the categories of each sub-axis, in order."""
        return {s.name: tuple(c.name for c in s.categories) for s in self._sub_axes()}

    @cached_property
    def sub_axis_of(self) -> dict[str, str]:
        """The sub-axis of each category."""
        return {name: sub_axis for sub_axis, names in self.categories.items() for name in names}

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        longest_first = sorted(self.attributes, key=lambda name: (-len(name), name))
        return re.compile(r"(?<!\w)(" + "|".join(re.escape(name) for name in longest_first) + r")(?!\w)")

    def match(self, prompt: str) -> Attribute | None:
        """The attribute that a prompt asks for: the last of its literal, longest, non-overlapping hits.

        The last, because "Replace the french beret hat with a snapback cap." names the new thing
        after the old one.
        """
        hits = self.mentions(prompt)
        return hits[-1] if hits else None

    def mentions(self, prompt: str) -> tuple[Attribute, ...]:
        """Every attribute that a prompt names, in order: literal, longest, non-overlapping hits."""
        return tuple(self.attributes[hit] for hit in self._pattern.findall(prompt.casefold()))
