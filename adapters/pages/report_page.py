"""One self-contained page: the leaderboard, the drift, and chains side by side.

Everything is inside the file, so it opens from a folder, from a mail or from any static host; it loads
nothing. Whatever comes from data is escaped by the template.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from jinja2 import Environment, PackageLoader, StrictUndefined
from PIL import Image

from adapters.imaging.decode import decode_rgb

THUMBNAIL_PX = 176
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#999999", "#6a3d9a")
"""Of the lines; told apart by colour-blind readers, and each line carries its name."""


@dataclass(frozen=True)
class Cell:
    """One number of a table as it is read: value, interval, how many."""

    text: str
    interval: str = ""
    n: int | None = None


@dataclass(frozen=True)
class BoardRow:
    """One model of the leaderboard."""

    model: str
    is_control: bool
    note: str
    cells: Sequence[Cell]


@dataclass(frozen=True)
class Series:
    """Mean FSS of one model at each step, from step 0."""

    model: str
    mean: Sequence[float]
    low: Sequence[float | None]
    high: Sequence[float | None]


@dataclass(frozen=True)
class StepView:
    """One picture of a chain."""

    image: str
    """A data URI, or empty when there is none."""
    caption: str
    is_bad: bool = False


@dataclass(frozen=True)
class ChainView:
    """One chain of one model."""

    model: str
    steps: Sequence[StepView]


@dataclass(frozen=True)
class Comparison:
    """One photo and one session over all models."""

    title: str
    prompts: Sequence[str]
    chains: Sequence[ChainView]


@dataclass(frozen=True)
class SimpleTable:
    """A further table with its explanation."""

    title: str
    text: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class FileRow:
    """A table or figure beside the page."""

    kind: str
    number: str
    """Its counterpart in the paper; empty where there is none."""
    title: str
    n: int
    files: Sequence[str]
    """Their places, from the page's own."""


@dataclass(frozen=True)
class Page:
    """All that the page shows."""

    title: str
    lead: str
    notices: Sequence[str]
    """What a reader must know before the numbers."""
    board_columns: Sequence[tuple[str, str]]
    """Heading and what it means."""
    board: Sequence[BoardRow]
    series: Sequence[Series]
    comparisons: Sequence[Comparison]
    comparisons_note: str
    tables: Sequence[SimpleTable]
    facts: Sequence[tuple[str, str]]
    files: Sequence[FileRow] = ()


def render(page: Page) -> bytes:
    """The page as UTF-8."""
    environment = Environment(
        loader=PackageLoader("adapters.pages"), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    template = environment.get_template("report.html.j2")
    return template.render(page=page, chart=_chart(page.series)).encode()


def thumbnail(data: bytes) -> str:
    """An image as a small WebP in a data URI."""
    image = Image.fromarray(decode_rgb(data))
    image.thumbnail((THUMBNAIL_PX, THUMBNAIL_PX * 2), Image.Resampling.LANCZOS)
    out = io.BytesIO()
    image.save(out, "WEBP", quality=72, method=4)
    return "data:image/webp;base64," + base64.b64encode(out.getvalue()).decode()


@dataclass(frozen=True)
class _Line:
    model: str
    colour: str
    dash: str
    points: str
    band: str
    label_y: float


@dataclass(frozen=True)
class _Chart:
    width: int
    height: int
    lines: Sequence[_Line]
    x_ticks: Sequence[tuple[float, str]]
    y_ticks: Sequence[tuple[float, str]]


def _chart(series: Sequence[Series]) -> _Chart | None:
    series = [item for item in series if item.mean]
    last = max((len(item.mean) for item in series), default=0) - 1
    if last < 1:
        return None
    gap, top, bottom = 15.0, 14, 34
    width, height, left, right = 720, max(340, top + bottom + round(gap * len(series))), 48, 190

    def x(step: float) -> float:
        return round(left + (width - left - right) * step / last, 1)

    def y(value: float) -> float:
        return round(top + (height - top - bottom) * (1 - min(max(value, 0.0), 1.0)), 1)

    ends = _spread([y(item.mean[-1]) for item in series], gap, lowest=float(height - bottom))
    lines = [
        _Line(
            model=item.model,
            colour=COLOURS[number % len(COLOURS)],
            dash="" if number < len(COLOURS) else "5 3",
            points=" ".join(f"{x(k)},{y(value)}" for k, value in enumerate(item.mean)),
            band=_band(item, x, y),
            label_y=ends[number],
        )
        for number, item in enumerate(series)
    ]
    return _Chart(
        width,
        height,
        lines,
        x_ticks=[(x(k), str(k)) for k in range(last + 1)],
        y_ticks=[(y(k / 5), f"{k / 5:.1f}") for k in range(6)],
    )


def _band(item: Series, x: Callable[[float], float], y: Callable[[float], float]) -> str:
    up = [f"{x(k)},{y(value)}" for k, value in enumerate(item.high) if value is not None]
    down = [f"{x(k)},{y(value)}" for k, value in enumerate(item.low) if value is not None]
    whole = len(up) == len(down) == len(item.mean)
    return " ".join(up + down[::-1]) if whole else ""


def _spread(wanted: Sequence[float], gap: float, lowest: float) -> list[float]:
    """Label heights near the wanted ones that do not overlap and do not leave the picture below."""
    order = sorted(range(len(wanted)), key=lambda index: wanted[index])
    placed = list(wanted)
    for before, after in pairwise(order):
        placed[after] = max(placed[after], placed[before] + gap)
    for index in reversed(order):
        placed[index] = min(placed[index], lowest)
        lowest = placed[index] - gap
    return placed
