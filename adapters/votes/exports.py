"""Matches given out as a table: CSV, JSONL or Parquet, with the places of their pictures.

Who made which face is not in it, nor which answers are known: a voter or a tool that knew would not be asked.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Literal

from domain.matches import Match, Side

TableKind = Literal["csv", "jsonl", "parquet"]
COLUMNS = ("match", "photo", "session", "question", "original", "image_a", "image_b", "left")
"""`left` says which of the two is to be shown left; a tool that draws sides itself returns its own."""


def rows(
    matches: Iterable[tuple[str, Match]],
    question: str,
    place: Callable[[str], str],
    left_of: Callable[[str], Side],
) -> Iterator[dict[str, str]]:
    """A row a match, in order; `place` says where a crop is, by its sha256."""
    for name, match in matches:
        shown = (match.original_sha256, match.crop_a_sha256, match.crop_b_sha256)
        values = (name, match.photo, match.session, question, *map(place, shown), left_of(name))
        yield dict(zip(COLUMNS, values, strict=True))


def write_table(path: Path, kind: TableKind, held: Iterable[dict[str, str]]) -> None:
    """Write rows as a file of a kind."""
    if kind == "parquet":
        import polars as pl

        pl.DataFrame(list(held), {name: pl.String for name in COLUMNS}).write_parquet(path)
        return
    with path.open("w", encoding="utf-8", newline="") as file:
        if kind == "jsonl":
            file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in held)
            return
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        writer.writerows(row.values() for row in held)
