"""Names as whole numbers: what comes first in the alphabet gets the smaller number."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

Codes = NDArray[np.int64]
_LARGEST = 2**62
_TABLE = 2**20


def ranked(names: pl.Series) -> Codes:
    """The place of each name among the distinct ones in alphabetical order, -1 for null.

    Whole numbers are their own place; they must not be negative.

    Args:
        names: Shape `(n,)`: strings, categoricals, enums or whole numbers.

    Returns:
        Shape `(n,)`; equal names have equal numbers, and their order does not depend on that of the rows.

    """
    if names.dtype.is_integer():
        return names.cast(pl.Int64).fill_null(-1).to_numpy()
    held = names.cast(pl.Categorical)
    # A category's own number is its place in a table of the whole process, which says nothing.
    numbers = held.to_physical().cast(pl.Int64).fill_null(-1).to_numpy()
    a_row = np.full(int(numbers.max(initial=-1)) + 2, -1, dtype=np.int64)
    a_row[numbers] = np.arange(len(numbers))
    a_row[-1] = -1
    distinct = np.flatnonzero(a_row >= 0)
    texts: list[str] = held[a_row[distinct]].cast(pl.String).to_list()
    places = np.full(len(a_row), -1, dtype=np.int64)
    places[distinct[sorted(range(len(texts)), key=texts.__getitem__)]] = np.arange(len(texts))
    return places[numbers]


def joined(codes: Sequence[Codes]) -> Codes:
    """One number for each combination, in the order of the first code, then the second, and so on.

    Args:
        codes: At least one array of shape `(n,)`, numbers from -1 on.

    Returns:
        Shape `(n,)`.

    """
    whole = np.zeros(len(codes[0]), dtype=np.int64)
    bound = 1
    for code in codes:
        size = int(code.max(initial=-1)) + 2
        if bound * size >= _LARGEST:
            distinct, whole = np.unique(whole, return_inverse=True)
            bound = max(1, len(distinct))
        whole = whole * size + (code + 1)
        bound *= size
    return whole


def ranked_rows(frame: pl.DataFrame, columns: Sequence[str]) -> Codes:
    """One number for each combination of names, ordered as the columns are."""
    return joined([ranked(frame[name]) for name in columns])


def order_of(codes: Codes) -> Codes | None:
    """The order that sorts these numbers, ties as they stand; None where they are sorted already."""
    return None if (np.diff(codes) >= 0).all() else np.argsort(codes, kind="stable")


def cluster_codes(subject: Codes, photo: Codes) -> Codes:
    """The unit that is resampled, as a number: the person where known, else the photo.

    Args:
        subject: The place of each person, -1 where unknown, shape `(n,)`; people of one name in two
            datasets share a number.
        photo: The place of each photo, shape `(n,)`.

    Returns:
        Shape `(n,)`, >= 0.

    """
    return np.where(subject >= 0, subject, photo + int(subject.max(initial=-1)) + 1)


def distinct(codes: Codes) -> tuple[Codes, Codes]:
    """The numbers that occur.

    Args:
        codes: Shape `(n,)`, >= 0.

    Returns:
        The first row of each, by size of the number, and the place of each row's number among them.

    """
    size = int(codes.max(initial=-1)) + 1
    if size > max(_TABLE, 4 * len(codes)):
        _, first, place = np.unique(codes, return_index=True, return_inverse=True)
        return first, place.astype(np.int64)
    rows = np.full(size, -1, dtype=np.int64)
    rows[codes[::-1]] = np.arange(len(codes))[::-1]
    held = rows >= 0
    return rows[held], (np.cumsum(held) - 1)[codes]


def category_numbers(names: pl.Series) -> NDArray[np.uint32]:
    """A number for each distinct name, in no order; 2^32 - 1 for null."""
    return names.cast(pl.Categorical).to_physical().fill_null(2**32 - 1).to_numpy()
