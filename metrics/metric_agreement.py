"""Does a metric pick the face that people preferred?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from domain.errors import MetricError
from metrics.board_slices import board_slices
from metrics.intervals import cluster_bootstrap_interval
from metrics.model_ranking import Draws
from metrics.ranking_frames import METRIC_AGREEMENT
from metrics.relabelling import block_stream


def metric_agreement(
    results: pl.DataFrame,
    metric: str,
    *,
    chains: pl.DataFrame | None = None,
    dimensions: Mapping[str, Sequence[str]] | None = None,
    draws: Draws | None = None,
) -> pl.DataFrame:
    """In how many matches a metric is higher for the model that people chose.

    Args:
        results: Frame `metrics.ranking_frames.RESULTS` with `<metric>_a` and `<metric>_b`: the metric of both
            last images, any unit, high = better; null where it is not known (FSS: no face).
        metric: Its name, such as `fss`.
        chains: See `metrics.board_slices.board_slices`.
        dimensions: Name and values of what leaderboards are split by.
        draws: Seed and number of resamples of photos; the defaults where None.

    Returns:
        Frame `metrics.ranking_frames.METRIC_AGREEMENT`, one row a board. `unknown` matches lack the metric on
        a side; in `ties`, of the others, people or the metric prefer neither; `share` = `agree` / the rest, 0
        to 1, 0.5 = chance, with its 95 % interval over photos; null where there is no rest, bounds also with
        one photo.

    Raises:
        MetricError: A column is absent, a value is not finite, or a match has no chain.

    """
    needed = ("photo", "session", "result", f"{metric}_a", f"{metric}_b")
    missing = [name for name in needed if name not in results.columns]
    if missing:
        raise MetricError(f"results have no column {missing[0]!r}")
    held = results.select(
        "photo",
        "session",
        "result",
        pl.col(f"{metric}_a").cast(pl.Float64).alias("a"),
        pl.col(f"{metric}_b").cast(pl.Float64).alias("b"),
    )
    if not held.select((pl.col("a", "b").drop_nulls().is_finite()).all()).transpose().to_series().all():
        raise MetricError(f"a value of {metric} is not finite")
    rows = [
        {"metric": metric, "dimension": dimension, "value": value}
        | _row(part, (metric, dimension, value), draws or Draws())
        for dimension, value, part in board_slices(held, chains, dimensions or {})
    ]
    return pl.DataFrame(rows, schema=METRIC_AGREEMENT)


def _row(rows: pl.DataFrame, name: tuple[str, ...], draws: Draws) -> dict[str, object]:
    known = rows.filter(pl.col("a").is_not_null() & pl.col("b").is_not_null())
    told = known.filter((pl.col("result") != "tie") & (pl.col("a") != pl.col("b")))
    picks = ((told["a"] > told["b"]) == (told["result"] == "a")).cast(pl.Float64)
    estimate = None
    if told.height:
        estimate = cluster_bootstrap_interval(
            picks.to_list(),
            told["photo"].to_list(),
            rng=block_stream(draws.seed, ("metric_agreement", *name), 0),
            resamples=draws.resamples,
        )
    return {
        "n_matches": rows.height,
        "agree": int(picks.sum()),
        "ties": known.height - told.height,
        "unknown": rows.height - known.height,
        "n_photos": told["photo"].n_unique(),
        "share": estimate and estimate.mean,
        "low": estimate and estimate.low,
        "high": estimate and estimate.high,
    }
