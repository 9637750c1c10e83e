"""The overediting matrix and the missed edits of every model, as tidy counts."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import polars as pl
from numpy.typing import NDArray

from domain.taxonomy import Taxonomy
from metrics.frames import MISSED_EDITS, OVEREDITS
from metrics.masks import LAST_BIT, MAX_CATEGORIES, Masks, bit_table
from metrics.name_codes import distinct, joined
from metrics.overediting import Overedits, none_column
from metrics.planned_sessions import PlannedSessions, planned_sessions
from metrics.session_scores import ScoringRules, session_overedits

_MODEL = ("suite", "dataset", "model")
Integers = NDArray[np.int64]


def overediting_matrix(
    steps: pl.DataFrame, photos: pl.DataFrame, taxonomy: Taxonomy, rules: ScoringRules | None = None
) -> pl.DataFrame:
    """Which category changed when another was asked for, over the sessions that have an OER.

    Args:
        steps: Frame `metrics.frames.steps_schema(taxonomy)` or its compact form.
        photos: Frame `metrics.frames.photos_schema(taxonomy)`.
        taxonomy: The sub-axes and their categories.
        rules: The rules in force; the defaults where None.

    Returns:
        Frame `metrics.frames.OVEREDITS` in the taxonomy's order, one row for every cell that is defined:
        prompted categories x columns outside the asked sub-axis, `None[<sub-axis>]` included, zeros
        too. `rate` = count / prompts of the row (the paper's; a pattern is >= 0.15). `eligible` are the
        prompts whose before-state lacks the column, `rate_eligible` = count / eligible (null where none:
        a straight-haired person cannot become straight-haired). Low is good.

    Raises:
        MetricError: A table is malformed; the row is named.

    References:
        arXiv 2608.28802, overediting matrix and Table 3.

    """
    rules = rules or ScoringRules()
    planned = planned_sessions(steps, photos, taxonomy)
    return matrix_frame(planned, session_overedits(planned, rules.overediting), rules)


def matrix_frame(planned: PlannedSessions, found: Overedits, rules: ScoringRules) -> pl.DataFrame:
    """The matrix of planned sessions: the frame of `overediting_matrix`.

    Args:
        planned: The sessions.
        found: Their overedits under the same rules.
        rules: The rules in force.

    """
    prompts = _Prompts(planned, found, planned.planned)
    strict = rules.rule == "strict"
    parts: list[pl.DataFrame] = []
    for number, (sub_axis, names) in enumerate(planned.taxonomy.categories.items()):
        changed = prompts.bits(found.found[..., number], partial(bit_table, n_categories=len(names)))
        barred = prompts.bits(
            found.before[..., number], partial(_barred, n_categories=len(names), strict=strict)
        )
        counts = {"count": changed, "eligible": prompts.n[:, np.newaxis] - barred}
        parts.append(prompts.cells(sub_axis, counts).filter(pl.col("asked") != sub_axis))
    table = pl.concat(parts).sort("place", maintain_order=True)
    return table.select(
        *OVEREDITS.names()[:7],
        (pl.col("count") / pl.col("prompts")).alias("rate"),
        "eligible",
        (pl.col("count") / pl.when(pl.col("eligible") > 0).then(pl.col("eligible"))).alias("rate_eligible"),
    )


def missed_edits(
    steps: pl.DataFrame, photos: pl.DataFrame, taxonomy: Taxonomy, rules: ScoringRules | None = None
) -> pl.DataFrame:
    """What the asked sub-axis shows where it lacks the asked category, over the sessions that have an OER.

    Args:
        steps: Frame `metrics.frames.steps_schema(taxonomy)` or its compact form.
        photos: Frame `metrics.frames.photos_schema(taxonomy)`.
        taxonomy: The sub-axes and their categories.
        rules: The rules in force; the defaults where None.

    Returns:
        Frame `metrics.frames.MISSED_EDITS` in the taxonomy's order, one row per prompted category and
        column of its own sub-axis but itself, zeros too. `prompts` are those that ask for a change
        ("keep" is not one); `rate` = count / prompts; low is good.

    Raises:
        MetricError: A table is malformed; the row is named.

    References:
        Not in arXiv 2608.28802, which counts changes outside the asked sub-axis only.

    """
    rules = rules or ScoringRules()
    planned = planned_sessions(steps, photos, taxonomy)
    return missed_frame(planned, session_overedits(planned, rules.overediting))


def missed_frame(planned: PlannedSessions, found: Overedits) -> pl.DataFrame:
    """The missed edits of planned sessions: the frame of `missed_edits`."""
    prompts = _Prompts(planned, found, planned.planned & ~planned.keep)
    # The asked category tells the sub-axis, and with it what a bit stands for.
    missed = prompts.bits(found.missed, partial(bit_table, n_categories=MAX_CATEGORIES))
    parts: list[pl.DataFrame] = []
    for sub_axis, names in planned.taxonomy.categories.items():
        cells = prompts.cells(sub_axis, {"count": missed[:, [*range(len(names)), MAX_CATEGORIES]]})
        parts.append(cells.filter(pl.col("asked") == sub_axis, pl.col("intended") != pl.col("found")))
    table = pl.concat(parts).sort("place", maintain_order=True)
    return table.select(*MISSED_EDITS.names()[:7], (pl.col("count") / pl.col("prompts")).alias("rate"))


class _Prompts:
    """The steps that count, in rows of a model and an asked category that occur."""

    def __init__(self, planned: PlannedSessions, found: Overedits, steps: NDArray[np.bool_]) -> None:
        sessions = planned.complete & ~found.unknown
        self._taxonomy = planned.taxonomy
        names = list(planned.taxonomy.sub_axis_of)
        first, model = distinct(joined([planned.places[name] for name in _MODEL]))
        row = model[:, np.newaxis] * len(names) + planned.asked
        # What does not count has a row of its own behind the others, which is left away.
        row = np.where(steps & sessions[:, np.newaxis], row, len(first) * len(names)).T.ravel()
        counts = np.bincount(row, minlength=len(first) * len(names) + 1)[:-1]
        held = np.flatnonzero(counts)
        places = np.full(len(counts) + 1, len(held))
        places[held] = np.arange(len(held))
        self._row = places[row]
        self.n = counts[held]
        """Prompts of each row."""
        asked = pl.Series("intended", names).gather(pl.Series(held % len(names)))
        self._rows = (
            planned.keys[first[held // len(names)]]
            .select(_MODEL)
            .with_columns(
                asked,
                asked.replace_strict(planned.taxonomy.sub_axis_of, return_dtype=pl.String).alias("asked"),
                pl.Series("prompts", self.n),
                pl.Series("place", np.arange(len(held))),
            )
        )

    def bits(self, masks: Masks, table: Callable[[Masks], Integers]) -> Integers:
        """How often each bit is set in each row, the last bit last.

        Args:
            masks: Shape `(S, K)`, any order.
            table: The bits that a mask of shape `(n,)` stands for, shape `(n, bits)`.

        Returns:
            Shape `(rows, bits)`.

        """
        held, row = masks.T.ravel(), self._row
        if not table(np.zeros(1, dtype=np.uint16)).any():
            at = np.flatnonzero(held)
            held, row = held[at], row[at]
        # Few of the 65,536 sets occur: count those, and take them apart at the end.
        occurs = np.zeros(1 << 16, dtype=np.bool_)
        occurs[held] = True
        sets = np.flatnonzero(occurs)
        places = np.zeros(1 << 16, dtype=np.int64)
        places[sets] = np.arange(len(sets)) * (len(self.n) + 1)
        counts = np.bincount(places[held] + row, minlength=len(sets) * (len(self.n) + 1))
        whole = counts.reshape(len(sets), len(self.n) + 1)[:, :-1]
        return whole.T @ table(sets.astype(np.uint16))

    def cells(self, sub_axis: str, counts: dict[str, Integers]) -> pl.DataFrame:
        """Counts as rows: every row of prompts with every column of a sub-axis, in their order."""
        names = [*self._taxonomy.categories[sub_axis], none_column(sub_axis)]
        repeated = self._rows[np.repeat(np.arange(len(self.n)), len(names))]
        return repeated.with_columns(
            pl.Series("found", names * len(self.n), dtype=pl.String),
            **{name: pl.Series(held.ravel()) for name, held in counts.items()},
        )


def _barred(before: Masks, n_categories: int, *, strict: bool) -> Integers:
    """The columns that a state before a step rules out, shape `(n, n_categories + 1)`."""
    every = np.uint16((1 << n_categories) - 1) | LAST_BIT
    held = before
    if strict:
        # Strictly, a tie that resolves can still count in the column of what remains.
        held = np.where(np.bitwise_count(before) > 1, np.uint16(0), before)
    barred = np.where(before == LAST_BIT, every, np.where(before == 0, LAST_BIT, held))
    return bit_table(barred, n_categories)
