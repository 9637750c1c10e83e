"""What the pages of a snapshot show, as plain data; every text may come from a stranger."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from adapters.pages.site.chain_views import Attempts
from adapters.pages.site.picture_views import Comparison, Matchups, Overediting, Picture

Number = float | int | None
Better = Literal["low", "high", ""]


@dataclass(frozen=True)
class Column:
    """One column of figures."""

    id: str
    label: str
    meaning: str
    better: Better = ""
    """Which values are good; empty where that has no answer."""
    digits: int = 2
    factor: float = 1.0
    """From the stored unit to the printed one."""
    suffix: str = ""
    has_interval: bool = False
    is_shown: bool = True
    """Whether it is shown before the reader chooses columns."""
    has_open_ends: bool = False
    """Whether an end that is not known is one that nothing bounds, even where both are."""


@dataclass(frozen=True)
class Figure:
    """One number with its 95 % interval, how many went into it, and how it moved since the last snapshot."""

    value: Number
    low: Number = None
    high: Number = None
    n: int | None = None
    change: float | None = None
    is_apart: bool | None = None
    """Whether the two snapshots' intervals do not meet; None where one has none."""


@dataclass(frozen=True)
class BoardLine:
    """One model in one view of the board."""

    model: str
    where: Mapping[str, str]
    """Switch to its value."""
    figures: Mapping[str, Figure]
    """By column; what is absent is not known."""
    ranks: tuple[int, int, int] | None = None
    """Rank, and the lowest and highest that its interval allows, where the table gives them."""
    note: str = ""


@dataclass(frozen=True)
class Switch:
    """One choice that a board can be seen by."""

    id: str
    label: str
    options: Sequence[tuple[str, str]]
    """Value and how it reads; the first is shown first."""


@dataclass(frozen=True)
class ModelName:
    """How a model is called."""

    id: str
    name: str
    lab: str
    is_control: bool
    note: str = ""


@dataclass(frozen=True)
class Board:
    """The leaderboard in all its views."""

    columns: Sequence[Column]
    switches: Sequence[Switch]
    lines: Sequence[BoardLine]
    models: Sequence[ModelName]
    sorted_by: str
    rank_rule: str
    has_ranks: bool = False
    """Whether its lines bring their ranks; else they follow from the intervals of the column sorted by."""
    change_note: str = ""
    """Against what changes are counted; empty where there is nothing to compare with."""
    is_change_fair: bool = True
    """Whether nothing but the models' answers differs from what changes are counted against."""
    notices: Sequence[str] = ()
    """What must be known before a number of it is read."""
    unranked: Sequence[tuple[str, str]] = ()
    """Models without a rank, and why."""
    later: Sequence[BoardLine] = ()
    """Lines of groups of people, which are loaded once they are asked for."""


@dataclass(frozen=True)
class Series:
    """Mean similarity of one model at each step, from step 0."""

    model: str
    mean: Sequence[float]
    low: Sequence[float | None]
    high: Sequence[float | None]
    n: Sequence[int | None] = ()
    name: str = ""
    """How the model is called; its id where empty."""


@dataclass(frozen=True)
class Link:
    """A text that leads somewhere, by a relative address."""

    text: str
    href: str


@dataclass(frozen=True)
class Table:
    """A table with its explanation."""

    title: str
    text: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str | Link]]
    figures: frozenset[int] = frozenset()
    """Columns of numbers, which are set right."""


@dataclass(frozen=True)
class GroupMean:
    """Mean of one group in one cell, in points of 100."""

    group: str
    figure: Figure


@dataclass(frozen=True)
class GroupLine:
    """One model on one axis by one metric."""

    where: Mapping[str, str]
    """dataset, test_set, axis and metric."""
    model: str
    means: Sequence[GroupMean]
    distances: Sequence[Mapping[str, str | float | bool | None]]
    """Each pair: a, b, wd, p, p_adjusted, prominent, worst."""


@dataclass(frozen=True)
class Bias:
    """How differently groups of people are treated."""

    lines: Sequence[GroupLine]
    axes: Mapping[str, Sequence[str]]
    """Axis to its groups, in the order of the tables."""
    metrics: Sequence[tuple[str, str]]
    table: Table
    """Distances of the pooled test sets: what is read without a script."""


@dataclass(frozen=True)
class SessionView:
    """One session or prompt chain."""

    id: str
    group: str
    prompts: Sequence[str]
    facts: str = ""
    picture: Picture | None = None
    page: str = ""
    """Where its outputs are compared, from the snapshot's own place; empty where nowhere."""


@dataclass(frozen=True)
class ModelView:
    """Everything that is known of a model under test."""

    id: str
    name: str
    facts: Sequence[tuple[str, str]]
    settings: Sequence[tuple[str, str]]
    served: Sequence[tuple[str, str]]
    """Version that answered, and how often."""
    is_control: bool = False


@dataclass(frozen=True)
class Download:
    """One stored table in its forms."""

    title: str
    kind: str
    n: int | None
    files: Sequence[str]
    """Their places, from the snapshot's own."""


@dataclass(frozen=True)
class Page:
    """All that the page of a snapshot shows; what is None or empty has no tab."""

    suite: str
    snapshot: str
    title: str
    lead: str
    facts: Sequence[tuple[str, str]]
    """Run, snapshot, code and data: which numbers these are."""
    notices: Sequence[str]
    board: Board
    drift: Sequence[tuple[str, Sequence[Series]]] = ()
    """Dataset and its lines."""
    drift_note: str = ""
    attempts: Attempts | None = None
    attempts_by_step: Table | None = None
    overediting: Overediting | None = None
    bias: Bias | None = None
    comparisons: Sequence[Comparison] = ()
    comparisons_note: str = ""
    matchups: Matchups | None = None
    analysis: Sequence[Table] = ()
    sessions: Sequence[SessionView] = ()
    sessions_title: str = "Sessions"
    session_counts: Table | None = None
    models: Sequence[ModelView] = ()
    coverage: Sequence[Table] = ()
    about: Sequence[tuple[str, Sequence[str]]] = ()
    """Heading and paragraphs."""
    about_tables: Sequence[Table] = ()
    downloads: Sequence[Download] = ()
