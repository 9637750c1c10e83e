"""How often each model won against each other one."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import polars as pl

from domain.errors import MetricError
from metrics.board_slices import board_slices
from metrics.intervals import Z95
from metrics.ranking_frames import MATCHUPS, RESULTS
from metrics.row_checks import columns_of


def matchups(
    results: pl.DataFrame,
    *,
    chains: pl.DataFrame | None = None,
    dimensions: Mapping[str, Sequence[str]] | None = None,
) -> pl.DataFrame:
    """Each pair of models that met, over all matches and for each value of each dimension.

    Args:
        results: Frame `metrics.ranking_frames.RESULTS`.
        chains: See `metrics.board_slices.board_slices`.
        dimensions: Name and values of what leaderboards are split by.

    Returns:
        Frame `metrics.ranking_frames.MATCHUPS`, both directions, sorted by model and other within each
        board. `win_rate` is (wins + ties / 2) / matches, 0 to 1, high is good for `model`; `low` and `high`
        are Wilson's 95 % bounds, with the number of photos for that of trials: a pair meets once on a photo,
        and where it meets more often the matches of one photo are not independent.

    Raises:
        MetricError: A column is absent or of another type, or a match has no chain.

    References:
        Wilson (1927), doi:10.1080/01621459.1927.10502953.

    """
    held = columns_of(results, RESULTS, "results")
    boards = [
        _pairs(part).select(pl.lit(dimension).alias("dimension"), pl.lit(value).alias("value"), pl.all())
        for dimension, value, part in board_slices(held, chains, dimensions or {})
    ]
    return pl.concat(boards).select(MATCHUPS.names()).cast(MATCHUPS)


def _pairs(results: pl.DataFrame) -> pl.DataFrame:
    votes = pl.col("votes_a") + pl.col("votes_b") + pl.col("votes_tie")
    both = [
        results.select(
            pl.col(f"model_{own}").alias("model"),
            pl.col(f"model_{other}").alias("other"),
            "photo",
            votes.alias("votes"),
            (pl.col("result") == own).alias("won"),
            (pl.col("result") == other).alias("lost"),
        )
        for own, other in (("a", "b"), ("b", "a"))
    ]
    table = (
        pl.concat(both)
        .group_by("model", "other")
        .agg(
            pl.col("won").sum().cast(pl.Int64).alias("wins"),
            pl.col("lost").sum().cast(pl.Int64).alias("losses"),
            (~pl.col("won") & ~pl.col("lost")).sum().cast(pl.Int64).alias("ties"),
            pl.len().cast(pl.Int64).alias("n_matches"),
            pl.col("votes").sum().alias("n_votes"),
            pl.col("photo").n_unique().cast(pl.Int64).alias("n_photos"),
        )
        .sort("model", "other")
        .with_columns(((pl.col("wins") + pl.col("ties") / 2) / pl.col("n_matches")).alias("win_rate"))
    )
    bounds = [
        wilson_interval(rate, photos)
        for rate, photos in zip(table["win_rate"], table["n_photos"], strict=True)
    ]
    return table.with_columns(
        pl.Series("low", [low for low, _ in bounds], dtype=pl.Float64),
        pl.Series("high", [high for _, high in bounds], dtype=pl.Float64),
    )


def wilson_interval(share: float, n: int) -> tuple[float, float]:
    """Wilson's 95 % bounds of a share of n independent trials; both are within 0 to 1.

    Raises:
        MetricError: There is no trial, or the share is not within 0 to 1.

    References:
        Wilson (1927), doi:10.1080/01621459.1927.10502953.

    """
    if n < 1 or not 0 <= share <= 1:
        raise MetricError(f"a share of {share} of {n} trials is none")
    square = Z95 * Z95
    middle = (share + square / (2 * n)) / (1 + square / n)
    half = Z95 / (1 + square / n) * math.sqrt(share * (1 - share) / n + square / (4 * n * n))
    return max(0.0, middle - half), min(1.0, middle + half)
