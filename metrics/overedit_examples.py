"""Steps behind the cells of the overediting matrix: a few of each, the same every time."""

from __future__ import annotations

import numpy as np
import polars as pl

from domain.taxonomy import Taxonomy
from metrics.masks import MAX_CATEGORIES
from metrics.overediting import none_column
from metrics.planned_sessions import planned_sessions
from metrics.session_scores import ScoringRules, session_overedits

CELL = ("dataset", "model", "intended", "found")
EXAMPLES = pl.Schema(
    {**{name: pl.String for name in (*CELL, "photo", "session")}, "step": pl.Int64, "place": pl.Int64}
)
"""One step of a cell a row; `place` counts the steps of a cell from 0."""


def overedit_examples(
    steps: pl.DataFrame,
    photos: pl.DataFrame,
    taxonomy: Taxonomy,
    rules: ScoringRules | None = None,
    *,
    per_cell: int = 3,
    first: pl.DataFrame | None = None,
) -> pl.DataFrame:
    """Steps that were counted in the cells of `metrics.overedit_tables.overediting_matrix`.

    Args:
        steps: Frame `metrics.frames.steps_schema(taxonomy)` or its compact form.
        photos: Frame `metrics.frames.photos_schema(taxonomy)`.
        taxonomy: The sub-axes and their categories.
        rules: The rules in force; the defaults where None.
        per_cell: How many at most; of different photos as far as there are some.
        first: Columns `photo` and `session` of those that are taken before others.

    Returns:
        Frame `EXAMPLES`, sorted by cell and place. A cell whose count is not 0 has at least one.

    Raises:
        MetricError: A table is malformed; the row is named.

    """
    rules = rules or ScoringRules()
    planned = planned_sessions(steps, photos, taxonomy)
    found = session_overedits(planned, rules.overediting)
    counts = (planned.complete & ~found.unknown)[:, np.newaxis] & planned.planned
    names = np.array(list(taxonomy.sub_axis_of))
    parts: list[pl.DataFrame] = []
    for number, (sub_axis, categories) in enumerate(taxonomy.categories.items()):
        bits = [*range(len(categories)), MAX_CATEGORIES]
        for bit, shown in zip(bits, [*categories, none_column(sub_axis)], strict=True):
            session, step = np.nonzero(counts & ((found.found[..., number] >> bit) & 1 == 1))
            parts.append(
                planned.keys[session]
                .select("dataset", "model", "photo", "session")
                .with_columns(
                    pl.Series("intended", names[planned.asked[session, step]], pl.String),
                    pl.lit(shown).alias("found"),
                    pl.Series("step", step + 1, pl.Int64),
                )
            )
    return _chosen(pl.concat(parts), first, per_cell)


def _chosen(rows: pl.DataFrame, first: pl.DataFrame | None, per_cell: int) -> pl.DataFrame:
    """The first of each cell, those of a further photo before a second of one."""
    chosen = pl.DataFrame(schema={"photo": pl.String, "session": pl.String}) if first is None else first
    marked = chosen.select("photo", "session").unique().with_columns(pl.lit(0).alias("is_later"))
    order = ["is_later", "photo", "session", "step"]
    ranked = (
        rows.join(marked, on=["photo", "session"], how="left")
        .with_columns(pl.col("is_later").fill_null(1))
        .sort(*CELL, *order)
        .with_columns(pl.int_range(pl.len()).over(*CELL, "photo").alias("again"))
        .sort(*CELL, "again", *order)
        .with_columns(pl.int_range(pl.len()).over(CELL).alias("place"))
    )
    return ranked.filter(pl.col("place") < per_cell).select(EXAMPLES.names()).cast(EXAMPLES)
