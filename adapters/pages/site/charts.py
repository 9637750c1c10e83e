"""Where the lines, bands and labels of a chart go."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from adapters.pages.site.views import Series

HUES = 8
"""Colours of lines; told apart by colour-blind readers, and each line carries its name."""
WIDTH, LEFT, RIGHT, TOP, BOTTOM, GAP = 760, 48, 190, 14, 44, 16.0


@dataclass(frozen=True)
class Line:
    """One model."""

    model: str
    name: str
    hue: int
    """Its colour: a class of the style sheet."""
    is_dashed: bool
    points: str
    band: str
    """Empty where an interval is not known."""
    end_x: float
    end_y: float
    label_y: float


@dataclass(frozen=True)
class Chart:
    """A chart of lines, all in pixels of its own."""

    title: str
    series: Sequence[Series]
    height: int
    lines: Sequence[Line]
    x_ticks: Sequence[tuple[float, str]]
    y_ticks: Sequence[tuple[float, str]]
    width: int = WIDTH
    left: int = LEFT
    right: int = WIDTH - RIGHT


def chart_of(title: str, series: Sequence[Series]) -> Chart | None:
    """The chart of some lines; None where none has two points."""
    series = [item for item in series if item.mean]
    last = max((len(item.mean) for item in series), default=0) - 1
    if last < 1:
        return None
    height = max(360, TOP + BOTTOM + round(GAP * len(series)))

    def x(step: float) -> float:
        return round(LEFT + (WIDTH - LEFT - RIGHT) * step / last, 1)

    def y(value: float) -> float:
        return round(TOP + (height - TOP - BOTTOM) * (1 - min(max(value, 0.0), 1.0)), 1)

    labels = _spread([y(item.mean[-1]) for item in series], GAP, lowest=float(height - BOTTOM))
    lines = [
        Line(
            model=item.model,
            name=item.name or item.model,
            hue=number % HUES,
            is_dashed=number >= HUES,
            points=" ".join(f"{x(k)},{y(value)}" for k, value in enumerate(item.mean)),
            band=_band(item, x, y),
            end_x=x(len(item.mean) - 1),
            end_y=y(item.mean[-1]),
            label_y=round(labels[number], 1),
        )
        for number, item in enumerate(series)
    ]
    return Chart(
        title=title,
        series=series,
        height=height,
        lines=lines,
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
