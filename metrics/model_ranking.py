"""Leaderboards out of match results: ratings with intervals, and ranks that say how sure they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from metrics.board_slices import board_slices
from metrics.bradley_terry import CENTRE, SCALE, fit_strengths, ratings
from metrics.ranking_frames import RANKING, RESULTS
from metrics.rating_draws import rating_draws
from metrics.relabelling import block_stream
from metrics.row_checks import columns_of
from metrics.win_graphs import UNBEATEN, WinGraph, win_graph
from metrics.win_matrices import PhotoWins, photo_wins

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Row = dict[str, Any]

_ORDER = {None: 1, UNBEATEN: 0}
"""Of a board's rows: unbeaten, rated, then the others."""


_DIGITS = 6
"""Of a rating: more are the machine's, and would give one ranking two names."""


@dataclass(frozen=True)
class Draws:
    """How intervals are drawn."""

    seed: int = 0
    resamples: int = 2_000


def ranking(
    results: pl.DataFrame,
    *,
    chains: pl.DataFrame | None = None,
    dimensions: Mapping[str, Sequence[str]] | None = None,
    draws: Draws | None = None,
) -> pl.DataFrame:
    """The leaderboard over all matches, and one for each value of each dimension.

    Args:
        results: Frame `metrics.ranking_frames.RESULTS`, of ranked models only.
        chains: See `metrics.board_slices.board_slices`.
        dimensions: Name and values of what leaderboards are split by.
        draws: Seed and number of resamples of photos; the defaults where None.

    Returns:
        Frame `metrics.ranking_frames.RANKING`, boards in the order of the dimensions, each by component,
        then unbeaten models, rated ones by rating, and the others.

        - `rating`: Bradley–Terry on the Elo-like scale, 1000 = mean of the models rated together, high is
          good; null where matches do not determine it, and then `note` says why (`metrics.win_graphs`).
          Ratings of two components cannot be compared, and all of components above 1 are `disconnected`.
        - `rating_low`, `rating_high`: percentile 95 % interval over resampled photos; a bound that more than
          2.5 % of the resamples leave open is null, and so are both with one photo.
        - `rank`: within the component, 1 is best. Of a rated model 1 + the models above it without doubt +
          the rated ones whose interval lies above its own (so that several may share a rank, and a model
          without an interval is below nobody rated); of an unrated one 1 + those above it without doubt;
          null where its place is not known.
        - `rank_low`, `rank_high`: best and worst rank in 95 % of the resamples; null for unrated models.
        - `resamples_undetermined`: resamples in which some rated model of the component was unbeaten, winless
          or not connected; they count as beyond the bounds for that model (`metrics.rating_draws`).

    Raises:
        MetricError: A column is absent or of another type, a match has no chain, or the fit did not converge.

    References:
        Chiang et al. (2024), Chatbot Arena, arXiv 2403.04132, section 4 (ranks by intervals).

    """
    held = columns_of(results, RESULTS, "results")
    rows: list[Row] = []
    for dimension, value, part in board_slices(held, chains, dimensions or {}):
        board = _board(part, draws or Draws(), (dimension, value))
        rows += [{"dimension": dimension, "value": value} | row for row in board]
    return pl.DataFrame(rows, schema=RANKING)


def _board(results: pl.DataFrame, draws: Draws, name: tuple[str, str]) -> list[Row]:
    if results.is_empty():
        return []
    wins = photo_wins(results)
    graph = win_graph(wins.total)
    rows = _counts(results)
    for part in range(1, int(graph.component.max()) + 1):
        members = graph.members(part)
        if len(members):
            rng = block_stream(draws.seed, ("ranking", *name), part)
            _rate(rows, graph, wins, members, rng, draws.resamples)
    for model, row in enumerate(rows):
        row |= {"component": int(graph.component[model]), "note": graph.note[model]}
        if not graph.rated[model] and graph.ordered[model]:
            row["rank"] = 1 + int(graph.above[model])
    return sorted(
        rows,
        key=lambda row: (
            row["component"],
            _ORDER.get(row["note"], 1 if "rating" in row else 2),
            -row.get("rating", 0.0),
            row.get("rank", len(rows) + 1),
            0.0 if "rating" in row else -_share_won(row),
            row["model"],
        ),
    )


def _share_won(row: Row) -> float:
    """What orders models without a rating where nothing else does; a tie is half a win."""
    return (row["wins"] + row["ties"] / 2) / row["n_matches"] if row["n_matches"] else 0.0


def _rate(
    rows: list[Row],
    graph: WinGraph,
    wins: PhotoWins,
    members: Integers,
    rng: np.random.Generator,
    resamples: int,
) -> None:
    """Ratings, intervals and ranks of the models of a component that wins connect both ways."""
    inside = wins.of(members)
    strengths = fit_strengths(inside.total)
    rated = ratings(strengths)
    n = len(members)
    low, high = np.full(n, -np.inf), np.full(n, np.inf)
    best: Integers | None = None
    worst: Integers | None = None
    undetermined = 0
    if inside.photos > 1:
        drawn = rating_draws(inside, rng=rng, resamples=resamples)
        low, high = (CENTRE + SCALE * bound for bound in drawn.interval())
        best, worst = drawn.rank_interval()
        undetermined = drawn.undetermined
    for place, model in enumerate(members):
        above = int(graph.above[model])
        rows[model] |= {
            "rating": round(float(rated[place]), _DIGITS),
            "rating_low": _finite(low[place]),
            "rating_high": _finite(high[place]),
            "rank": 1 + above + int((low > high[place]).sum()),
            "rank_low": None if best is None else above + int(best[place]),
            "rank_high": None if worst is None else above + int(worst[place]),
            "resamples": resamples if inside.photos > 1 else 0,
            "resamples_undetermined": undetermined,
        }


def _finite(bound: float) -> float | None:
    return round(float(bound), _DIGITS) if np.isfinite(bound) else None


def _counts(results: pl.DataFrame) -> list[Row]:
    """Matches, votes, photos and results of each model, in alphabetical order as in `PhotoWins`."""
    votes = pl.col("votes_a") + pl.col("votes_b") + pl.col("votes_tie")
    sides = [
        results.select(
            pl.col(f"model_{own}").alias("model"),
            pl.col("photo"),
            votes.alias("votes"),
            (pl.col("result") == own).alias("won"),
            (pl.col("result") == other).alias("lost"),
        )
        for own, other in (("a", "b"), ("b", "a"))
    ]
    table = (
        pl.concat(sides)
        .group_by("model")
        .agg(
            pl.len().cast(pl.Int64).alias("n_matches"),
            pl.col("votes").sum().alias("n_votes"),
            pl.col("won").sum().cast(pl.Int64).alias("wins"),
            pl.col("lost").sum().cast(pl.Int64).alias("losses"),
            (~pl.col("won") & ~pl.col("lost")).sum().cast(pl.Int64).alias("ties"),
            pl.col("photo").n_unique().cast(pl.Int64).alias("n_photos"),
        )
        .sort("model")
    )
    return table.to_dicts()
