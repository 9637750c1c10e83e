"""How each kind of figure is drawn; needs matplotlib, so it is imported where it is drawn."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import Any

from matplotlib.figure import Figure

from adapters.pages.figures import (
    BarFigure,
    BarPanel,
    Caption,
    HeatFigure,
    HeatPanel,
    LineFigure,
    LinePanel,
    ScatterFigure,
)

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#999999", "#000000")
HATCHES = ("", "//", "..", "xx", "\\\\", "++", "oo", "--")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
DASHES = ("-", "--", "-.", ":")
SMALL_MATRIX = 14
"""Rows up to which a matrix says its numbers."""
LABEL_WIDTH = 28
NAME_WIDTH = 14
"""Characters after which the name of a model goes on in the next line."""


def bars(figure: BarFigure) -> Any:
    """Bars of every group, a panel a test set."""
    many = len(figure.panels)
    columns = 2 if many > 1 else 1
    rows = math.ceil(many / columns)
    widest = max(len(panel.models) for panel in figure.panels)
    drawn, panels = _canvas(rows, columns, (max(4.5, 1.6 * widest) * columns + 1.0, 3.2 * rows + 1.0))
    for axes, panel in zip(panels, figure.panels, strict=False):
        _bar_panel(axes, panel, figure)
    handles, labels = panels[0].get_legend_handles_labels()
    drawn.legend(handles, labels, loc="outside right upper", frameon=False)
    return _captioned(drawn, figure.caption, panels[many:])


def _bar_panel(axes: Any, panel: BarPanel, figure: BarFigure) -> None:
    width = 0.8 / len(figure.groups)
    for number, group in enumerate(figure.groups):
        held = [
            (place + (number - (len(figure.groups) - 1) / 2) * width, row[number])
            for place, row in enumerate(panel.bars)
        ]
        known = [(x, bar, bar.value) for x, bar in held if bar.value is not None]
        axes.bar(
            [x for x, _, _ in known], [value for _, _, value in known], width, label=group,
            color=COLOURS[number % len(COLOURS)], hatch=HATCHES[number % len(HATCHES)],
            edgecolor="white", linewidth=0.5,
        )  # fmt: skip
        for x, bar, _ in known:
            if bar.low is not None and bar.high is not None:
                axes.vlines(x, bar.low, bar.high, color="black", linewidth=1.0)
    axes.set_xticks(range(len(panel.models)), [_wrapped(name) for name in panel.models])
    axes.set_title(panel.title)
    axes.set_ylabel(figure.y_label)


def lines(figure: LineFigure) -> Any:
    """Lines with bands, a panel a dataset."""
    many = len(figure.panels)
    drawn, panels = _canvas(1, many, (5.5 * many + 1.5, 4.6))
    names = list(dict.fromkeys(line.name for panel in figure.panels for line in panel.lines))
    for axes, panel in zip(panels, figure.panels, strict=True):
        _line_panel(axes, panel, names)
        axes.set_xlabel(figure.x_label)
        axes.set_ylabel(figure.y_label)
    held = {
        label: handle
        for axes in panels
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    drawn.legend(list(held.values()), list(held), loc="outside right upper", frameon=False)
    return _captioned(drawn, figure.caption, [])


def _line_panel(axes: Any, panel: LinePanel, names: Sequence[str]) -> None:
    last = 0
    for line in panel.lines:
        number = names.index(line.name)
        colour, steps = COLOURS[number % len(COLOURS)], range(len(line.mean))
        last = max(last, len(line.mean) - 1)
        axes.plot(
            steps, line.mean, color=colour, marker=MARKERS[number % len(MARKERS)], markersize=5,
            linestyle=DASHES[number // len(COLOURS) % len(DASHES)], label=line.name,
        )  # fmt: skip
        band = [
            (step, low, high)
            for step, low, high in zip(steps, line.low, line.high, strict=True)
            if low is not None and high is not None
        ]
        if len(band) > 1:
            axes.fill_between(*zip(*band, strict=True), color=colour, alpha=0.2, linewidth=0)
    axes.set_xticks(range(last + 1))
    axes.set_ylim(min(0.0, axes.get_ylim()[0]), 1.0)
    axes.set_title(panel.title)
    axes.grid(axis="y", color="#dddddd", linewidth=0.6)


def scatter(figure: ScatterFigure) -> Any:
    """Points of several kinds and the threshold."""
    drawn, [axes] = _canvas(1, 1, (8.5, 4.6))
    for number, points in enumerate(figure.points):
        axes.scatter(
            points.x, points.y, s=28, color=COLOURS[number % len(COLOURS)],
            marker=MARKERS[number % len(MARKERS)], label=f"{points.name} (n = {len(points.x)})", alpha=0.8,
        )  # fmt: skip
    axes.axvline(figure.threshold, color="#555555", linestyle="--", linewidth=1.0)
    axes.set_xlim(left=0.0)
    axes.set_ylim(0.0, 1.02)
    axes.set_xlabel(figure.x_label)
    axes.set_ylabel(figure.y_label)
    drawn.legend(loc="outside right upper", frameon=False)
    return _captioned(drawn, figure.caption, [])


def heat(figure: HeatFigure) -> Any:
    """Matrices by colour, white where not defined."""
    many = len(figure.panels)
    columns = min(many, 4)
    rows = math.ceil(many / columns)
    across = max(len(panel.columns) for panel in figure.panels)
    down = max(len(panel.rows) for panel in figure.panels)
    size = (columns * (1.6 + 0.24 * across) + 1.2, rows * (1.7 + 0.24 * down) + 1.0)
    drawn, panels = _canvas(rows, columns, size)
    for axes, panel in zip(panels, figure.panels, strict=False):
        shown = _heat_panel(axes, panel)
        axes.set_xlabel(figure.column_label)
        axes.set_ylabel(figure.row_label)
        bar = drawn.colorbar(shown, ax=axes, shrink=0.7)
        bar.set_label(figure.value_label)
    return _captioned(drawn, figure.caption, panels[many:])


def _heat_panel(axes: Any, panel: HeatPanel) -> Any:
    values = [[math.nan if value is None else value for value in row] for row in panel.values]
    top = max((value for row in panel.values for value in row if value is not None), default=0.0)
    shown = axes.imshow(
        values, cmap="cividis_r", vmin=0.0, vmax=top or 1.0, aspect="auto", interpolation="none"
    )
    axes.set_xticks(
        range(len(panel.columns)), [_short(name) for name in panel.columns], rotation=90, fontsize=8
    )
    axes.set_yticks(range(len(panel.rows)), [_short(name) for name in panel.rows], fontsize=8)
    axes.set_title(panel.title)
    if len(panel.rows) <= SMALL_MATRIX:
        for down, row in enumerate(panel.values):
            for across, value in enumerate(row):
                if value:
                    colour = "white" if value > top * 0.55 else "black"
                    axes.text(across, down, f"{value:g}", ha="center", va="center", color=colour, fontsize=8)
    return shown


def _canvas(rows: int, columns: int, size: tuple[float, float]) -> tuple[Any, list[Any]]:
    drawn: Any = Figure(figsize=size, layout="constrained")
    grid: Any = drawn.subplots(rows, columns, squeeze=False)
    return drawn, list(grid.flat)


def _captioned(drawn: Any, caption: Caption, unused: Sequence[Any]) -> Any:
    for axes in unused:
        axes.set_axis_off()
    width = max(40, int(drawn.get_figwidth() * 15))
    drawn.suptitle(
        textwrap.fill(caption.title, max(30, int(drawn.get_figwidth() * 9))), ha="left", x=0.01, fontsize=12
    )
    told = f"{caption.note} n = {caption.n}. Rules: {caption.rules}.".strip()
    drawn.supxlabel(textwrap.fill(told, width), fontsize=8, color="#444444", ha="left", x=0.01)
    return drawn


def _wrapped(name: str) -> str:
    return textwrap.fill(name, NAME_WIDTH)


def _short(name: str) -> str:
    return textwrap.shorten(name, LABEL_WIDTH, placeholder=" …") if len(name) > LABEL_WIDTH else name
