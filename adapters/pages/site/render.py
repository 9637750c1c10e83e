"""Views as files: pages out of templates, one style sheet and one script with a hash in their names."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from adapters.pages.site.charts import chart_of
from adapters.pages.site.data import (
    DataFile,
    bias_data,
    board_data,
    data_file,
    examples_data,
    examples_name,
    inline,
    line_data,
    matrices_data,
    short_hash,
)
from adapters.pages.site.picture_views import Comparison, Picture
from adapters.pages.site.thumbnails import VERSION
from adapters.pages.site.views import Board, BoardLine, Column, Figure, Link, Page

SCRIPTS = ("parts.js", "state.js", "board.js", "heat.js", "bias.js", "compare.js", "start.js")
"""Joined in this order to the one script."""
TO_STORE = "../../../"
"""From a snapshot's page to the top of the store."""
NOTHING = "–"
OPEN = "…"
"""An end of an interval that nothing bounds."""


def site_files(page: Page) -> dict[str, bytes]:
    """Every file of a snapshot's site by its place, its page last."""
    made = {file.path: file.data for file in _assets()}
    data = _data_files(page)
    made |= {file.path: file.data for file in data}
    compared = list(page.comparisons)
    for at, comparison in enumerate(compared):
        around = (compared[at - 1] if at else None, compared[at + 1] if at + 1 < len(compared) else None)
        made[comparison.page] = _comparison(page, comparison, around, at + 1)
    made["index.html"] = _index(page, data)
    return made


def redirect(to: str, title: str) -> bytes:
    """A page that leads to another and keeps what stands behind the `#`."""
    script = f"location.replace({inline(to)}+location.hash)"
    policy = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    template = _environment().get_template("redirect.html.j2")
    return template.render(to=to, title=title, script=Markup(script), policy=policy).encode()


def suites_page(suites: Sequence[tuple[str, str]]) -> bytes:
    """A page that lists suites: the address of each and its name."""
    return _environment().get_template("suites.html.j2").render(suites=suites).encode()


def _index(page: Page, data: Sequence[DataFile]) -> bytes:
    charts = [chart_of(title, series) for title, series in page.drift]
    shown = {
        "suite": page.suite,
        "snapshot": page.snapshot,
        "store": TO_STORE,
        "thumbnails": f"{TO_STORE}thumbnails/{VERSION}/",
        "data": {file.name: file.path for file in data},
        "board": board_data(page.board),
    }
    template = _environment().get_template("index.html.j2")
    return template.render(
        page=page,
        charts=[chart for chart in charts if chart],
        first=_first_view(page.board),
        embedded=Markup(inline(shown)),
        **_places(""),
    ).encode()


def _comparison(
    page: Page, comparison: Comparison, around: tuple[Comparison | None, Comparison | None], number: int
) -> bytes:
    names = {item.id: item for item in page.board.models}
    template = _environment().get_template("compare.html.j2")
    return template.render(
        page=page,
        comparison=comparison,
        before=around[0],
        after=around[1],
        number=number,
        names=names,
        **_places("../"),
    ).encode()


def _data_files(page: Page) -> list[DataFile]:
    made: list[DataFile] = []
    if page.board.later:
        made.append(data_file("groups", [line_data(line) for line in page.board.later]))
    if page.bias:
        made.append(data_file("bias", bias_data(page.bias)))
    if page.overediting:
        made.append(data_file("overediting", matrices_data(page.overediting)))
        made += [
            data_file(examples_name(number), examples_data(matrix))
            for number, matrix in enumerate(page.overediting.matrices)
            if matrix.examples
        ]
    return made


def _first_view(board: Board) -> list[BoardLine]:
    """The lines that are seen before anything is chosen: models first, then controls, best first."""
    first = {item.id: item.options[0][0] for item in board.switches}
    controls = {item.id for item in board.models if item.is_control}
    column = next(item for item in board.columns if item.id == board.sorted_by)
    sign = -1.0 if column.better == "high" else 1.0

    def place(line: BoardLine) -> tuple[bool, bool, float, str]:
        value = line.figures.get(column.id, Figure(None)).value
        return line.model in controls, value is None, sign * (value or 0.0), line.model

    return sorted((line for line in board.lines if dict(line.where) == first), key=place)


def printed(figure: Figure | None, column: Column) -> str:
    """A number as it is read."""
    return NOTHING if figure is None else _number(figure.value, column)


def interval(figure: Figure | None, column: Column) -> str:
    """Its interval as it is read, an open end as such; empty where there is none."""
    if figure is None or figure.value is None:
        return ""
    if figure.low is None and figure.high is None and not column.has_open_ends:
        return ""
    low, high = (OPEN if end is None else _number(end, column) for end in (figure.low, figure.high))
    return f"{low} to {high}"


def _number(value: float | None, column: Column) -> str:
    if value is None:
        return NOTHING
    text = f"{value * column.factor:.{column.digits}f}"
    return (text[1:] if text.strip("-0.") == "" and text.startswith("-") else text) + column.suffix


def _is_link(cell: object) -> bool:
    return isinstance(cell, Link)


@cache
def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader("adapters.pages.site"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    shown: dict[str, Any] = {"printed": printed, "interval": interval, "is_link": _is_link}
    made.globals.update(shown)  # pyright: ignore[reportUnknownMemberType]
    return made


def _places(up: str) -> dict[str, Any]:
    """How a page that is so far below the snapshot's own reaches files."""
    style, script = _assets()

    def thumb(picture: Picture) -> str:
        return f"{up}{TO_STORE}thumbnails/{VERSION}/{picture.sha256[:2]}/{picture.sha256}.webp"

    def image(picture: Picture) -> str:
        return f"{up}{TO_STORE}images/sha256/{picture.sha256[:2]}/{picture.sha256}.{picture.extension}"

    return {"style": up + style.path, "script": up + script.path, "thumb": thumb, "image": image, "up": up}


@cache
def _assets() -> tuple[DataFile, DataFile]:
    folder = files("adapters.pages.site") / "assets"
    style = (folder / "site.css").read_bytes()
    parts = [(folder / name).read_text(encoding="utf-8") for name in SCRIPTS]
    script = ('"use strict";\n(() => {\n' + "\n".join(parts) + "})();\n").encode()
    return (
        DataFile("style", f"assets/site.{short_hash(style)}.css", style),
        DataFile("script", f"assets/site.{short_hash(script)}.js", script),
    )
