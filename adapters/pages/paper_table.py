"""A table as a paper prints it, before it is LaTeX or Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Mark = Literal["best", "worst", "leader", "prominent", "not_significant"]
"""Best and worst of its row, the leading model, a distance above the threshold, a p-value that is not low."""


@dataclass(frozen=True)
class PaperCell:
    """One cell: what is printed, and what is said of it."""

    text: str
    half_width: str = ""
    """Half the 95 % interval; empty where it is not determined."""
    n: str = ""
    """What went into the number, such as `n = 56`."""
    marks: frozenset[Mark] = frozenset()


@dataclass(frozen=True)
class Head:
    """A heading over one column or several."""

    text: str
    span: int = 1


@dataclass(frozen=True)
class Section:
    """Rows under a heading of their own; the first cell of a row names it."""

    title: str
    rows: Sequence[Sequence[PaperCell]]


@dataclass(frozen=True)
class PaperTable:
    """A table with everything that a reader needs to judge it."""

    name: str
    """Of its files."""
    number: str
    """Its counterpart in the paper, such as `Table 1`; empty where there is none."""
    title: str
    legend: str
    """How to read it."""
    rules: str
    """The choices in force."""
    heads: Sequence[Sequence[Head]]
    """Rows of headings; the spans of each add up to the columns."""
    sections: Sequence[Section]
    n: int
    """Values that went into it."""

    @property
    def columns(self) -> int:
        """How many columns there are."""
        return sum(head.span for head in self.heads[-1])


def counterpart(number: str) -> str:
    """The remark that names the paper's table; empty for none."""
    return f"Counterpart of {number} of arXiv 2608.28802." if number else ""
