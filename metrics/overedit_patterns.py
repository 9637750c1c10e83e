"""Overedits that come up so often with one asked-for category that they are a pattern (Table 3)."""

from __future__ import annotations

import polars as pl

from domain.errors import MetricError
from metrics.frames import OVEREDITS

FREQUENT = 0.15
"""Share of the images of an asked-for category from which an overedit is a pattern."""

PATTERNS = pl.Schema(
    {
        **{name: pl.String for name in ("suite", "dataset", "intended", "found")},
        "n_models": pl.Int64,
        "n_compared": pl.Int64,
        **{"models": pl.List(pl.String), "rates": pl.List(pl.Float64), "prompts": pl.List(pl.Int64)},
    }
)
"""One row per pattern of any model."""


def frequent_patterns(overedits: pl.DataFrame, *, share: float = FREQUENT) -> pl.DataFrame:
    """Overedits found in at least so many of the images with an asked-for category, and in which models.

    Args:
        overedits: Frame `metrics.frames.OVEREDITS`.
        share: Of the images, 0 to 1.

    Returns:
        Frame `PATTERNS`, most models first within suite and dataset, then by name. `rates` are, for each of
        `models`, count / images, and `prompts` these images; `n_compared` models were asked for the
        category. Low is good.

    Raises:
        MetricError: A column is absent, or `share` is not in 0 to 1.

    References:
        arXiv 2608.28802, Table 3.

    """
    missing = sorted(set(OVEREDITS) - set(overedits.columns))
    if missing:
        raise MetricError(f"overedits have no column {missing[0]!r}")
    if not 0 < share <= 1:
        raise MetricError(f"share is {share}, not in 0 to 1")
    key = ["suite", "dataset", "intended", "found"]
    cells = overedits.sort(*key, "model").group_by(key, maintain_order=True)
    # Compared as counts: 0.15 of 20 images are 3, which 3 / 20 >= 0.15 need not tell.
    often = pl.col("count") >= pl.col("prompts") * share * (1 - 1e-12)
    found = cells.agg(
        often.sum().alias("n_models"),
        pl.len().alias("n_compared"),
        pl.col("model").filter(often).alias("models"),
        pl.col("rate").filter(often).alias("rates"),
        pl.col("prompts").filter(often).alias("prompts"),
    )
    kept = found.filter(pl.col("n_models") > 0).sort(
        "suite", "dataset", "n_models", "intended", "found", descending=[False, False, True, False, False]
    )
    return kept.select(pl.col(name).cast(kind) for name, kind in PATTERNS.items())
