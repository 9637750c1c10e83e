"""Rows of a CSV, TSV, JSONL or Parquet file, each with its line; a row that is none says why."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, cast

from adapters.votes.source import Bad
from domain.errors import DefinitionError

SUFFIXES = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet")
BATCH_ROWS = 20_000
LARGEST_VALUE = 10_000_000
"""Characters: the answers of all voters on a match are one value in some tables."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row; in a Parquet file lines are counted from 1 without a heading."""

    line: int
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class NoRow:
    """A line that is no row."""

    line: int
    why: Bad


def rows_of(path: Path, wanted: Sequence[str]) -> Iterator[Row | NoRow]:
    """Every row of a table, in order.

    Args:
        path: A file whose name ends in one of `SUFFIXES`.
        wanted: Columns that are read of a Parquet file, where they are there; of a picture only its path.

    Raises:
        DefinitionError: the file is absent, empty, of another kind, or no table.
    """
    kind = path.suffix.lower()
    if kind not in SUFFIXES:
        raise DefinitionError(f"{path.name!r} is no table of votes", file=str(path), allowed=SUFFIXES)
    try:
        if kind == ".parquet":
            yield from _parquet(path, wanted)
        elif kind in (".csv", ".tsv"):
            yield from _csv(path, "\t" if kind == ".tsv" else ",")
        else:
            yield from _jsonl(path)
    except OSError as error:
        raise DefinitionError(f"the file cannot be read: {error.strerror}", file=str(path)) from error


def _csv(path: Path, delimiter: str) -> Iterator[Row | NoRow]:
    before = csv.field_size_limit(LARGEST_VALUE)
    try:
        # What is no UTF-8 is carried along, so that one such row costs no other.
        with path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
            yield from _csv_rows(csv.reader(file, delimiter=delimiter, strict=True), path)
    finally:
        csv.field_size_limit(before)


def _csv_rows(reader: Any, path: Path) -> Iterator[Row | NoRow]:
    names: list[str] | None = None
    while True:
        line = reader.line_num + 1
        try:
            values = cast(list[str] | None, next(reader, None))
        except csv.Error as error:
            said = f"{_plain(error)}; double each quote that is inside a value"
            if reader.line_num > line:
                said += f"; lines {line} to {reader.line_num} were read as one row"
            yield NoRow(line, Bad("bad_quotes", said))
            continue
        if values is None:
            if names is None:
                raise DefinitionError("the table is empty: it has no header and no votes", file=str(path))
            return
        if not any(value.strip() for value in values):
            continue
        if names is None:
            names = [name.strip() for name in values]
            if len(set(names)) < len(names):
                raise DefinitionError("two columns have the same name", file=str(path), line=line)
            continue
        yield _checked(line, names, values)


def _plain(error: csv.Error) -> str:
    """What the reader of the standard library says of a row, for who wrote it."""
    said = str(error)
    if said == "unexpected end of data":
        return "a quote is opened and never closed"
    if "expected after" in said:
        return "a quote is closed in the middle of a value"
    if said.startswith("field larger than"):
        return f"a value has more than {LARGEST_VALUE} characters; a quote may not be closed"
    return said


def _checked(line: int, names: list[str], values: list[str]) -> Row | NoRow:
    if len(values) != len(names):
        reason = "short_row" if len(values) < len(names) else "long_row"
        return NoRow(line, Bad(reason, f"{len(values)} values, {len(names)} are needed"))
    if any("\udc80" <= letter <= "\udcff" for value in values for letter in value):
        return NoRow(line, Bad("not_utf8", "the row is not UTF-8; save the file as UTF-8"))
    return Row(line, dict(zip(names, values, strict=True)))


def _jsonl(path: Path) -> Iterator[Row | NoRow]:
    with path.open("rb") as file:
        for line, data in enumerate(file, 1):
            if data.strip():
                yield _json_row(line, data)


def _json_row(line: int, data: bytes) -> Row | NoRow:
    try:
        found = strict_json(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        return NoRow(line, Bad("not_utf8", "the row is not UTF-8; save the file as UTF-8"))
    except (ValueError, RecursionError) as error:
        return NoRow(line, Bad("not_json", str(error)))
    if not isinstance(found, dict):
        return NoRow(line, Bad("not_json", "a row is an object of columns"))
    return Row(line, cast(dict[str, Any], found))


def strict_json(text: str) -> Any:
    """What a JSON text says; raises ValueError for what is none, such as NaN."""
    return json.loads(text, parse_constant=_no_number)


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _parquet(path: Path, wanted: Sequence[str]) -> Iterator[Row | NoRow]:
    import polars as pl

    if not path.stat().st_size:
        raise DefinitionError("the table is empty: it has no header and no votes", file=str(path))
    try:
        frame = pl.scan_parquet(path)
        schema = frame.collect_schema()
        columns = [
            pl.col(name).struct.field("path").alias(name) if _is_picture(schema[name]) else pl.col(name)
            for name in wanted
            if name in schema
        ]
        frame = frame.select(columns or [pl.col(name) for name in schema.names()[:1]])
        start = 0
        while (part := frame.slice(start, BATCH_ROWS).collect()).height:
            for number, values in enumerate(part.iter_rows(named=True), start + 1):
                yield Row(number, values)
            start += part.height
    except pl.exceptions.PolarsError as error:
        raise DefinitionError(f"the table cannot be read: {error}", file=str(path)) from error


def _is_picture(kind: Any) -> bool:
    import polars as pl

    return isinstance(kind, pl.Struct) and "path" in {field.name for field in kind.fields}
