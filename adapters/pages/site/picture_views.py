"""What pages show of pictures: chains side by side, steps behind a heat map's cells, matches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Picture:
    """An image of the store; which page shows it decides how it is reached."""

    sha256: str
    extension: str


@dataclass(frozen=True)
class StepView:
    """One picture of a chain with what is known of it."""

    label: str
    picture: Picture | None
    scores: Sequence[tuple[str, str]] = ()
    problem: str = ""
    """Why there is no picture, or no face."""
    judge: str = ""
    """What the judge wrote before it decided."""
    prompt: str = ""
    failed: Sequence[str] = ()
    """What was wrong with each failed attempt at it."""


@dataclass(frozen=True)
class ChainView:
    """One model's chain."""

    model: str
    steps: Sequence[StepView]


@dataclass(frozen=True)
class Comparison:
    """One photo and one session over all models."""

    photo: str
    session: str
    test_set: str
    original: Picture
    prompts: Sequence[str]
    chains: Sequence[ChainView]
    licence: str = ""

    @property
    def title(self) -> str:
        """How it is called: a session that is this photo's own bears its name already."""
        is_own = self.session == self.photo.replace("-", "_").replace(".", "_")
        return self.photo if is_own else f"{self.photo} · {self.session}"

    @property
    def page(self) -> str:
        """Its place, from the snapshot's own."""
        return f"compare/{self.photo}--{self.session}.html"


@dataclass(frozen=True)
class Example:
    """One step behind a cell of the heat map."""

    photo: str
    session: str
    step: int
    prompt: str
    before: Picture
    after: Picture


@dataclass(frozen=True)
class Matrix:
    """The overedits of one model: what appeared when something else was asked for."""

    dataset: str
    model: str
    prompts: Mapping[str, int]
    """Asked category to how often it was asked."""
    cells: Mapping[tuple[str, str], tuple[int, int]]
    """Asked and found category to how often it was found and in how many it could have been."""
    examples: Mapping[tuple[str, str], Sequence[Example]] = field(
        default_factory=dict[tuple[str, str], Sequence[Example]]
    )


@dataclass(frozen=True)
class Overediting:
    """The heat maps."""

    rows: Sequence[str]
    columns: Sequence[str]
    matrices: Sequence[Matrix]
    examples_note: str


@dataclass(frozen=True)
class MatchExample:
    """One match with its three crops."""

    title: str
    original: Picture
    a: Picture
    b: Picture
    caption_a: str
    caption_b: str
    result: str


@dataclass(frozen=True)
class WinCell:
    """One model against another."""

    text: str
    detail: str
    level: int
    """0 to 10: the win rate in tenths."""
    n: str = ""


@dataclass(frozen=True)
class Matchups:
    """Who won against whom."""

    models: Sequence[str]
    cells: Sequence[Sequence[WinCell | None]]
    examples: Sequence[MatchExample]
    note: str
    examples_note: str = ""
