"""What the page's script reads: small data inside the page, larger data as scripts that are loaded on demand.

A page that is opened from a folder cannot fetch files, but it can load scripts. JSON inside a page never
holds `<`, so nothing in it can end the element that holds it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from adapters.pages.site.picture_views import Matrix, Overediting
from adapters.pages.site.views import Bias, Board, BoardLine, Column, Figure


@dataclass(frozen=True)
class DataFile:
    """A file of data beside a page."""

    name: str
    """What the script asks for."""
    path: str
    """Its place, from the snapshot's own; it holds a hash of the content."""
    data: bytes


def inline(value: Any) -> str:
    """JSON that is safe inside an element of a page."""
    text = json.dumps(value, separators=(",", ":"), sort_keys=True, ensure_ascii=False, allow_nan=False)
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def data_file(name: str, value: Any) -> DataFile:
    """A value as a script that hands it to the page."""
    text = f"(window.facedriftData=window.facedriftData||{{}})[{inline(name)}]={inline(value)};\n"
    return DataFile(name, f"data/{name}.{short_hash(text.encode())}.js", text.encode())


def short_hash(data: bytes) -> str:
    """What tells two versions of a file apart."""
    return hashlib.sha256(data).hexdigest()[:12]


def board_data(board: Board) -> dict[str, Any]:
    """The board as its script takes it."""
    return {
        "columns": [_column(column) for column in board.columns],
        "switches": [
            {"id": item.id, "label": item.label, "options": [list(option) for option in item.options]}
            for item in board.switches
        ],
        "models": {
            item.id: {"name": item.name, "lab": item.lab, "control": item.is_control, "note": item.note}
            for item in board.models
        },
        "lines": [line_data(line) for line in board.lines],
        "sortedBy": board.sorted_by,
        "hasRanks": board.has_ranks,
        "hasChanges": bool(board.change_note),
        "fairChanges": board.is_change_fair,
    }


def _column(column: Column) -> dict[str, Any]:
    return {
        "id": column.id,
        "label": column.label,
        "meaning": column.meaning,
        "better": column.better,
        "digits": column.digits,
        "factor": column.factor,
        "suffix": column.suffix,
        "interval": column.has_interval,
        "shown": column.is_shown,
        "open": column.has_open_ends,
    }


def line_data(line: BoardLine) -> dict[str, Any]:
    """One line of a board."""
    held: dict[str, Any] = {
        "m": line.model,
        "w": dict(line.where),
        "f": {name: _figure(figure) for name, figure in line.figures.items()},
    }
    if line.ranks:
        held["r"] = list(line.ranks)
    if line.note:
        held["o"] = line.note
    return held


def _figure(figure: Figure) -> list[Any]:
    held = [figure.value, figure.low, figure.high, figure.n, figure.change, figure.is_apart]
    while held and held[-1] is None:
        held.pop()
    return held


def bias_data(bias: Bias) -> dict[str, Any]:
    """All group means and distances."""
    return {
        "axes": {name: list(groups) for name, groups in bias.axes.items()},
        "metrics": [list(item) for item in bias.metrics],
        "lines": [
            {
                "m": line.model,
                "w": dict(line.where),
                "g": {mean.group: _figure(mean.figure) for mean in line.means},
                "d": [dict(pair) for pair in line.distances],
            }
            for line in bias.lines
        ],
    }


def matrices_data(found: Overediting) -> dict[str, Any]:
    """Every heat map, without the cells where nothing was found."""
    rows = {name: at for at, name in enumerate(found.rows)}
    columns = {name: at for at, name in enumerate(found.columns)}
    return {
        "rows": list(found.rows),
        "columns": list(found.columns),
        "maps": [
            {
                "d": matrix.dataset,
                "m": matrix.model,
                "prompts": [matrix.prompts.get(name, 0) for name in found.rows],
                "cells": [
                    [rows[asked], columns[shown], *counts] for (asked, shown), counts in matrix.cells.items()
                ],
                "examples": examples_name(number) if matrix.examples else None,
            }
            for number, matrix in enumerate(found.matrices)
        ],
    }


def examples_name(number: int) -> str:
    """What the examples of the so manyth heat map are called."""
    return f"examples-{number:02d}"


def examples_data(matrix: Matrix) -> dict[str, Any]:
    """The examples of one heat map; each image and prompt is named once."""
    images: dict[tuple[str, str], int] = {}
    prompts: dict[str, int] = {}
    cells: dict[str, list[list[Any]]] = {}
    for (asked, shown), examples in matrix.examples.items():
        cells[f"{asked}|{shown}"] = [
            [
                example.photo,
                example.session,
                example.step,
                prompts.setdefault(example.prompt, len(prompts)),
                *(
                    images.setdefault((picture.sha256, picture.extension), len(images))
                    for picture in (example.before, example.after)
                ),
            ]
            for example in examples
        ]
    return {"images": [list(image) for image in images], "prompts": list(prompts), "cells": cells}


def history_script(entries: Sequence[Mapping[str, Any]], newest: str) -> bytes:
    """The list of a suite's snapshots, newest first, as a script that every one of its pages loads."""
    return f"window.facedriftHistory={inline({'newest': newest, 'snapshots': list(entries)})};\n".encode()


def read_history(script: bytes) -> list[dict[str, Any]]:
    """The snapshots that such a script lists; raises ValueError where it is none."""
    text = script.decode().removeprefix("window.facedriftHistory=").removesuffix(";\n")
    held = json.loads(text)
    if not isinstance(held, dict) or not isinstance(held.get("snapshots"), list):  # pyright: ignore[reportUnknownMemberType]
        raise ValueError("no list of snapshots")
    return held["snapshots"]  # pyright: ignore[reportUnknownVariableType]
