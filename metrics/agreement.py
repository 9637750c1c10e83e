"""How well a state tracker recognises features whose truth is known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

import polars as pl

from metrics.frames import TRACKER_ACCURACY, TRACKER_CONFUSION
from metrics.overediting import none_column

Cell = tuple[str, Collection[str] | None, Collection[str] | None]
"""Sub-axis, true categories, found categories; empty = absent, None = unknown."""


def tracker_accuracy(cells: Sequence[Cell]) -> pl.DataFrame:
    """Share of features recognised exactly, per sub-axis.

    A total over sub-axes is not given: it is dominated by features that are easy because absent.

    Args:
        cells: One (sub-axis, truth, found) per image and sub-axis, in any order.

    Returns:
        Frame `metrics.frames.TRACKER_ACCURACY`, one row per sub-axis in alphabetical order. `n` cells are
        known on both sides and `share` of them have equal sets (0 to 1, high is good; null where n = 0);
        the cells left out are counted beside it.

    References:
        arXiv 2608.28802, Appendix E (accuracy = sets equal).

    """
    counts: dict[str, Counter[str]] = {}
    for sub_axis, truth, found in cells:
        held = counts.setdefault(sub_axis, Counter())
        if truth is None:
            held["truth_unknown"] += 1
        elif found is None:
            held["found_unknown"] += 1
        else:
            held["n"] += 1
            held["equal"] += set(truth) == set(found)
    rows = [
        {
            "sub_axis": sub_axis,
            "n": held["n"],
            "n_equal": held["equal"],
            "share": held["equal"] / held["n"] if held["n"] else None,
            "n_truth_unknown": held["truth_unknown"],
            "n_found_unknown": held["found_unknown"],
        }
        for sub_axis, held in sorted(counts.items())
    ]
    return pl.DataFrame(rows, schema=TRACKER_ACCURACY)


def tracker_confusion(cells: Sequence[Cell]) -> pl.DataFrame:
    """Which category is taken for which, where both sides name at most one.

    Args:
        cells: One (sub-axis, truth, found) per image and sub-axis, in any order.

    Returns:
        Frame `metrics.frames.TRACKER_CONFUSION`: one row per sub-axis, true and found category that
        occur, sorted; an absent feature is `None[<sub-axis>]`. `n_left_out` repeats, per sub-axis, the
        cells known on both sides where a side names several categories.

    References:
        arXiv 2608.28802, Appendix E and Figure 4.

    """
    counts: Counter[tuple[str, str, str]] = Counter()
    left_out: Counter[str] = Counter()
    for sub_axis, truth, found in cells:
        if truth is None or found is None:
            continue
        if len(set(truth)) > 1 or len(set(found)) > 1:
            left_out[sub_axis] += 1
            continue
        absent = none_column(sub_axis)
        counts[sub_axis, next(iter(truth), absent), next(iter(found), absent)] += 1
    rows = [
        {"sub_axis": sub_axis, "truth": truth, "found": found, "count": n, "n_left_out": left_out[sub_axis]}
        for (sub_axis, truth, found), n in sorted(counts.items())
    ]
    return pl.DataFrame(rows, schema=TRACKER_CONFUSION)
