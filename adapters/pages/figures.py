"""Figures of a report, drawn from plain numbers; equal numbers give equal bytes.

Colours are those of Okabe and Ito, which colour-blind readers tell apart; nothing is told by colour alone.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Literal, cast

Form = Literal["svg", "png"]
FORMS: tuple[Form, ...] = ("svg", "png")
PNG_DPI = 110


@dataclass(frozen=True)
class Caption:
    """What is said of a figure."""

    name: str
    """Of its files."""
    number: str
    """Its counterpart in the paper, such as `Figure 18`; empty where there is none."""
    title: str
    n: int
    """Values that went into it."""
    rules: str
    """The choices in force."""
    note: str = ""


@dataclass(frozen=True)
class Bar:
    """A mean with its 95 % interval, where that is determined."""

    value: float | None
    low: float | None
    high: float | None
    n: int


@dataclass(frozen=True)
class BarPanel:
    """Bars of every model: one for each group, in the order of the figure's groups."""

    title: str
    models: Sequence[str]
    bars: Sequence[Sequence[Bar]]


@dataclass(frozen=True)
class BarFigure:
    """Means of groups of people."""

    caption: Caption
    y_label: str
    groups: Sequence[str]
    panels: Sequence[BarPanel]


@dataclass(frozen=True)
class Line:
    """Means at steps 0, 1, 2, …, with a band where it is determined."""

    name: str
    mean: Sequence[float]
    low: Sequence[float | None]
    high: Sequence[float | None]


@dataclass(frozen=True)
class LinePanel:
    """Lines that share an axis."""

    title: str
    lines: Sequence[Line]


@dataclass(frozen=True)
class LineFigure:
    """How a mean goes from step to step."""

    caption: Caption
    x_label: str
    y_label: str
    panels: Sequence[LinePanel]


@dataclass(frozen=True)
class PointSet:
    """Points of one kind."""

    name: str
    x: Sequence[float]
    y: Sequence[float]


@dataclass(frozen=True)
class ScatterFigure:
    """Points, with a vertical line at a threshold."""

    caption: Caption
    x_label: str
    y_label: str
    threshold: float
    points: Sequence[PointSet]


@dataclass(frozen=True)
class HeatPanel:
    """A matrix; a cell that is not defined is None."""

    title: str
    rows: Sequence[str]
    columns: Sequence[str]
    values: Sequence[Sequence[float | None]]


@dataclass(frozen=True)
class HeatFigure:
    """Matrices by colour; small ones say their numbers too."""

    caption: Caption
    row_label: str
    column_label: str
    value_label: str
    panels: Sequence[HeatPanel]


AnyFigure = BarFigure | LineFigure | ScatterFigure | HeatFigure

STYLE: dict[str, Any] = {
    "svg.hashsalt": "facedrift",
    "svg.fonttype": "path",
    "text.parse_math": False,
    "font.family": ["DejaVu Sans"],
    "font.size": 10.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "hatch.linewidth": 0.6,
    "path.simplify": False,
}
"""Over the defaults of matplotlib, whatever the reader's own settings are."""


def draw(figure: AnyFigure) -> dict[Form, bytes]:
    """The figure as SVG and PNG, the same bytes for the same numbers and version of matplotlib."""
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    from adapters.pages import plots

    kinds: dict[type, Callable[[Any], Any]] = {
        BarFigure: plots.bars,
        LineFigure: plots.lines,
        ScatterFigure: plots.scatter,
        HeatFigure: plots.heat,
    }
    files: dict[Form, bytes] = {}
    settings: Any = mpl
    with settings.rc_context(), warnings.catch_warnings():
        # A name may hold characters that the font lacks; they are drawn as boxes.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        settings.rcdefaults()
        settings.rcParams.update(STYLE)
        drawn = kinds[type(figure)](_printable(figure))
        FigureCanvasAgg(drawn)
        # Laid out once for both forms, which is most of the work.
        drawn.draw_without_rendering()
        drawn.set_layout_engine("none")
        for form in FORMS:
            out = io.BytesIO()
            metadata = {"Date": None, "Creator": None} if form == "svg" else {"Software": None}
            drawn.savefig(out, format=form, dpi=PNG_DPI, metadata=metadata)
            files[form] = out.getvalue()
        drawn.clear()
    return files


_BREAKS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]+")


def _printable(value: Any) -> Any:
    """The same with every text on one line, of characters that SVG may hold."""
    if isinstance(value, str):
        return _BREAKS.sub(" ", value)
    if is_dataclass(value) and not isinstance(value, type):
        kind: Any = type(value)
        return kind(*(_printable(getattr(value, field.name)) for field in fields(value)))
    if isinstance(value, list | tuple):
        return [_printable(item) for item in cast("Sequence[Any]", value)]
    return value
