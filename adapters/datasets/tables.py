"""Rows of a CSV, Parquet or JSONL file as text, one at a time, with the line that each is on."""

from __future__ import annotations

import csv
import json
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from adapters.datasets.files import printable
from adapters.datasets.text_files import unreadable
from domain.errors import DefinitionError

SUFFIXES = (".csv", ".tsv", ".parquet", ".jsonl", ".ndjson")
BATCH_ROWS = 50_000
NO_ROW: tuple[int, list[str]] = (0, [])


@dataclass(frozen=True, slots=True)
class TableRow:
    """One row; `problem` says why its values cannot be trusted."""

    line: int
    values: Mapping[str, str]
    problem: str | None = None


class PhotoTable:
    """A table file; its columns are known before its rows are read."""

    def __init__(self, path: Path) -> None:
        """Raise DefinitionError for a file of another kind, or one that cannot be read."""
        self.path = path
        if path.suffix.lower() not in SUFFIXES:
            raise DefinitionError(
                f"{path.name!r} is no table of photos", file=str(path), allowed=SUFFIXES, field="dataset.path"
            )
        self.columns = self._columns()
        """The names of its columns, in order."""

    def rows(self) -> Iterator[TableRow]:
        """Every row, in order."""
        kind = self.path.suffix.lower()
        try:
            if kind == ".parquet":
                yield from self._parquet_rows()
            elif kind in (".csv", ".tsv"):
                yield from self._csv_rows()
            else:
                yield from self._jsonl_rows()
        except (OSError, UnicodeDecodeError) as error:
            raise unreadable(error, self.path) from error

    def _no_parquet(self, error: Exception) -> DefinitionError:
        return DefinitionError(f"the table cannot be read: {error}", file=str(self.path))

    def _columns(self) -> tuple[str, ...]:
        kind = self.path.suffix.lower()
        try:
            if kind == ".parquet":
                names = self._parquet_names()
            elif kind in (".csv", ".tsv"):
                with closing(self._csv()) as lines:
                    names = tuple(name.strip() for name in next(lines, NO_ROW)[1])
            else:
                names = self._jsonl_names()
        except (OSError, UnicodeDecodeError) as error:
            raise unreadable(error, self.path) from error
        if not names:
            raise DefinitionError("the table is empty", file=str(self.path))
        separator = next((one for one in ";\t|," if one in names[0]), None)
        if len(names) == 1 and separator and kind in (".csv", ".tsv"):
            needed = "a tab" if kind == ".tsv" else "','"
            text = f"its columns are separated by {separator!r}; a {kind} file needs {needed}"
            raise DefinitionError(text, file=str(self.path), line=1)
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise DefinitionError(f"columns named twice: {', '.join(twice)}", file=str(self.path), line=1)
        return names

    def _csv(self) -> Generator[tuple[int, list[str]]]:
        """Rows that are not blank, with the line on which each starts."""
        delimiter = "\t" if self.path.suffix.lower() == ".tsv" else ","
        with self.path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, delimiter=delimiter, strict=True)
            before = 0
            try:
                for row in reader:
                    if any(value.strip() for value in row):
                        yield before + 1, row
                    before = reader.line_num
            except csv.Error as error:
                raise unreadable(error, self.path, before + 1) from error

    def _csv_rows(self) -> Iterator[TableRow]:
        rows = self._csv()
        next(rows, None)
        for line, row in rows:
            values = dict(zip(self.columns, (value.strip() for value in row), strict=False))
            wrong = len(row) != len(self.columns)
            problem = f"{len(row)} values, {len(self.columns)} are needed" if wrong else None
            yield TableRow(line, values, problem)

    def _jsonl_names(self) -> tuple[str, ...]:
        names, faults = dict[str, None](), list[TableRow]()
        for row in self._jsonl_rows():
            names.update(dict.fromkeys(row.values))
            faults += [row] if row.problem and not faults else []
        if faults and not names:
            text = f"no line holds an object of columns, and each must hold one; here: {faults[0].problem}"
            raise DefinitionError(text, file=str(self.path), line=faults[0].line)
        return tuple(names)

    def _jsonl_rows(self) -> Iterator[TableRow]:
        with self.path.open(encoding="utf-8-sig") as file:
            for line, text in enumerate(file, 1):
                if not text.strip():
                    continue
                try:
                    row: Any = json.loads(text)
                except (ValueError, RecursionError) as error:
                    yield TableRow(line, {}, f"not JSON: {error}")
                    continue
                if not isinstance(row, dict):
                    yield TableRow(line, {}, "not an object of columns")
                    continue
                yield _row(line, cast(dict[str, Any], row))

    def _parquet_names(self) -> tuple[str, ...]:
        import polars as pl

        try:
            return tuple(pl.scan_parquet(self.path).collect_schema().names())
        except pl.exceptions.PolarsError as error:
            raise self._no_parquet(error) from error

    def _parquet_rows(self) -> Iterator[TableRow]:
        import polars as pl

        frame, start = pl.scan_parquet(self.path), 0
        while True:
            try:
                part = frame.slice(start, BATCH_ROWS).collect()
            except pl.exceptions.PolarsError as error:
                raise self._no_parquet(error) from error
            for number, row in enumerate(part.iter_rows(named=True), start + 1):
                yield _row(number, row)
            start += part.height
            if part.height < BATCH_ROWS:
                return


def _row(line: int, values: Mapping[str, Any]) -> TableRow:
    nested = [printable(name) for name, value in values.items() if isinstance(value, list | dict | bytes)]
    problem = f"{', '.join(nested)} is not one value" if nested else None
    return TableRow(line, {printable(name): text_of(value) for name, value in values.items()}, problem)


def text_of(value: object) -> str:
    """A value as it stands in a CSV file: nothing is empty, 20.0 is 20, true is `true`."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return printable(str(value).strip())
