"""Whether an edit kept the size and the shape of its input."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import polars as pl

from domain.errors import MetricError

OFF_SHAPE = 0.01
"""Relative difference of the aspects above which an output has another shape."""
SHAPES = pl.Schema({"model": pl.String, "edited": pl.Int64, "other_size": pl.Int64, "off_shape": pl.Int64})
"""Of each model: images, those of another size than their input, and those of another aspect."""


@dataclass(frozen=True)
class Pair:
    """Width and height in pixels of one edit's input and output."""

    model: str
    before: tuple[int, int]
    after: tuple[int, int]


def is_off_shape(before: tuple[int, int], after: tuple[int, int]) -> bool:
    """True when width / height changed by more than 1 % (either way).

    Raises:
        MetricError: A side is not positive.
    """
    if min(*before, *after) <= 0:
        raise MetricError(f"an image of {before} or {after} pixels has no shape")
    ratio = (after[0] * before[1]) / (after[1] * before[0])
    return max(ratio, 1 / ratio) > 1 + OFF_SHAPE


def shapes(pairs: Iterable[Pair] | Mapping[Pair, int]) -> pl.DataFrame:
    """Frame `SHAPES` of pairs, or of how often each is there; a model without images has no row."""
    counted: dict[str, list[int]] = {}
    for pair, n in Counter(pairs).items():
        row = counted.setdefault(pair.model, [0, 0, 0])
        row[0] += n
        row[1] += n * (pair.before != pair.after)
        row[2] += n * is_off_shape(pair.before, pair.after)
    return pl.DataFrame([(model, *row) for model, row in sorted(counted.items())], SHAPES, orient="row")
