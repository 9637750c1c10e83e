"""Refusals of a malformed table that name the row."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import polars as pl

from domain.errors import MetricError
from metrics.name_codes import order_of, ranked_rows

Check = tuple[str, pl.Expr]
"""What is wrong, and the rows where it is."""


def columns_of(frame: pl.DataFrame, schema: pl.Schema, table: str) -> pl.DataFrame:
    """The columns of a schema, in its order; further ones are dropped.

    Raises:
        MetricError: A column is absent or of another type.

    """
    for name, kind in schema.items():
        if name not in frame.columns:
            raise MetricError(f"{table} has no column {name!r}")
        if frame.schema[name] != kind:
            raise MetricError(f"{table}: column {name!r} is {frame.schema[name]}, not {kind}")
    return frame.select(schema.names())


def refuse_rows(frame: pl.DataFrame, checks: Iterable[Check], key: Sequence[str]) -> None:
    """Raise MetricError for the first check that any row fails, naming the first such row by its key."""
    held = list(checks)
    if not held:
        return
    # All checks in one pass; the row is looked for only when there is one.
    failed = frame.select(wrong.any().alias(str(number)) for number, (_, wrong) in enumerate(held)).row(0)
    for (message, wrong), is_wrong in zip(held, failed, strict=True):
        if is_wrong:
            raise row_error(message, frame.filter(wrong).sort(key), 0, key)


def row_error(message: str, frame: pl.DataFrame, row: int, key: Sequence[str]) -> MetricError:
    """An error that names a row by its key."""
    named = ", ".join(f"{name}={frame[name][row]!r}" for name in key)
    return MetricError(f"{message} ({named})")


def whole_rows(needed: Sequence[str], frame: pl.DataFrame, table: str) -> list[Check]:
    """The checks that named columns are filled and that numbers are finite."""
    null = [pl.col(name).is_null() for name in needed if frame[name].null_count()]
    return [
        (f"{table}: one of {', '.join(needed)} is null", pl.any_horizontal(pl.lit(value=False), *null)),
        *(
            (f"{table}: {name} is not finite", ~pl.col(name).is_finite())
            for name, kind in frame.schema.items()
            if kind == pl.Float64
        ),
    ]


def refuse_twice(frame: pl.DataFrame, key: Sequence[str], message: str) -> pl.DataFrame:
    """The rows sorted by their key.

    Raises:
        MetricError: Two rows have one key.

    """
    codes = ranked_rows(frame, key)
    order = order_of(codes)
    if order is not None:
        frame, codes = frame[order], codes[order]
    twice = np.flatnonzero(np.diff(codes) == 0)
    if len(twice):
        raise row_error(message, frame, int(twice[0]), key)
    return frame
