"""Matches of each leaderboard: all of them, and those of each value of each dimension."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import polars as pl

from domain.errors import MetricError
from metrics.ranking_frames import ALL


def board_slices(
    rows: pl.DataFrame, chains: pl.DataFrame | None, dimensions: Mapping[str, Sequence[str]]
) -> Iterator[tuple[str, str, pl.DataFrame]]:
    """Dimension, value and rows of each leaderboard that has rows.

    Args:
        rows: With columns `photo` and `session`.
        chains: One row a photo and session with a column for each dimension; None where photos are not split.
        dimensions: Name and values, in the order of the tables.

    Raises:
        MetricError: A column is absent, a chain is there twice, or a row has no chain.

    """
    yield ALL, ALL, rows
    if chains is None:
        return
    key = ["photo", "session"]
    missing = sorted({*key, *dimensions} - set(chains.columns))
    if missing:
        raise MetricError(f"chains have no column {missing[0]!r}")
    held = chains.select(*key, *(pl.col(name).alias(f"dimension_{name}") for name in dimensions))
    if held.select(pl.struct(key).is_duplicated().any()).item():
        raise MetricError("chains: a photo and session are there twice")
    joined = rows.join(held, on=key, how="left", maintain_order="left")
    without = rows.join(held, on=key, how="anti")
    if without.height:
        raise MetricError(f"no chain of photo {without['photo'][0]!r}, session {without['session'][0]!r}")
    for dimension, values in dimensions.items():
        for value in values:
            part = joined.filter(pl.col(f"dimension_{dimension}") == value).select(rows.columns)
            if part.height:
                yield dimension, value, part
