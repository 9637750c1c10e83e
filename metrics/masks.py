"""Sets of categories as bit masks: one bit a category of a sub-axis, one for "unknown" or "vanished"."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from domain.errors import MetricError
from domain.taxonomy import Taxonomy

Masks = NDArray[np.uint16]
"""0 = seen to be absent."""

MAX_CATEGORIES = 15
LAST_BIT = np.uint16(1 << MAX_CATEGORIES)
"""In a state: nothing is known of the feature. In what changed: the feature vanished."""


def mask_column(sub_axis: str) -> str:
    """The column that holds a sub-axis as a mask."""
    return "mask_" + sub_axis.replace(" ", "_")


def mask_schema(taxonomy: Taxonomy) -> dict[str, type[pl.DataType]]:
    """A mask column for each sub-axis, never null.

    Raises:
        MetricError: A sub-axis has more categories than there are bits.

    """
    for sub_axis, names in taxonomy.categories.items():
        if len(names) > MAX_CATEGORIES:
            raise MetricError(f"{sub_axis!r} has {len(names)} categories; a mask holds {MAX_CATEGORIES}")
    return {mask_column(sub_axis): pl.UInt16 for sub_axis in taxonomy.sub_axes}


def masks_of(states: pl.Series, categories: Sequence[str]) -> tuple[Masks, int | None]:
    """Lists of category names as masks.

    Args:
        states: Shape `(n,)`, lists of names; null = unknown, empty = absent.
        categories: The names of the sub-axis, the first has the lowest bit.

    Returns:
        Shape `(n,)`, and the first row that holds a name that is not among them, if any does.

    """
    bits = {name: 1 << place for place, name in enumerate(categories)}
    lengths = states.list.len().fill_null(0).to_numpy().astype(np.int64)
    names = states.explode(empty_as_null=False, keep_nulls=False)
    named = names.replace_strict(bits, default=0, return_dtype=pl.UInt16).to_numpy()
    masks = np.where(states.is_null().to_numpy(), LAST_BIT, np.uint16(0))
    held = lengths > 0
    starts = (np.cumsum(lengths) - lengths)[held]
    if len(starts):
        masks[held] = np.bitwise_or.reduceat(named, starts)
    strange = np.flatnonzero(named == 0)
    row = np.repeat(np.arange(len(states)), lengths)[strange[0]] if len(strange) else None
    return masks, None if row is None else int(row)


def bit_table(masks: Masks, n_categories: int) -> NDArray[np.int64]:
    """The bits of masks as 0 and 1: one column a category, the last bit in the last column.

    Args:
        masks: Shape `(n,)`.
        n_categories: Categories of the sub-axis.

    Returns:
        Shape `(n, n_categories + 1)`.

    """
    places = np.array([*range(n_categories), MAX_CATEGORIES])
    return (masks[:, np.newaxis].astype(np.int64) >> places) & 1
