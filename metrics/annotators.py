"""Who votes how: agreement with known answers and with others, sides, speed."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from domain.votes import ANONYMOUS
from metrics.annotations import krippendorff_alpha
from metrics.intervals import cluster_bootstrap_interval
from metrics.model_ranking import Draws
from metrics.ranking_frames import ANNOTATORS, CHOICES, VOTE_AGREEMENT
from metrics.relabelling import block_stream
from metrics.vote_majorities import (
    IS_KNOWN,
    agreement_with_others,
    below_gold_accuracy,
    checked_matches,
    known_votes,
    majority_of,
)

ONE_SIDED, TOO_FAST, BELOW_GOLD = "one_sided", "too_fast", "below_gold_accuracy"
SIDE_ERRORS = 4
"""Standard errors from one half beyond which a share of left choices is one-sided."""
FASTEST_MS = 500
"""Median time to a vote below which two faces cannot have been compared with a third."""


def annotators(
    votes: pl.DataFrame, matches: pl.DataFrame, *, min_gold_accuracy: float | None = None
) -> pl.DataFrame:
    """What is known of each person who voted; those whom their source does not name are left out.

    Args:
        votes: Frame `metrics.ranking_frames.VOTES`.
        matches: Frame `metrics.ranking_frames.MATCHES`.
        min_gold_accuracy: The filter in force, for its flag.

    Returns:
        Frame `metrics.ranking_frames.ANNOTATORS`, most votes first. `majority_agreement` is the share of
        `n_compared` votes that are what most others chose in the match; `left_share` that of `n_sided` votes
        for a side, where sides are known; null where there is none. Flags: `one_sided` (|left share - 1/2|
        above 4 standard errors), `too_fast` (median below `FASTEST_MS`), `below_gold_accuracy` (left out).

    Raises:
        MetricError: As `metrics.vote_majorities.match_results`.

    """
    held = known_votes(votes, checked_matches(matches)).frame
    agreement = agreement_with_others(held.filter(pl.col("gold").is_null()))
    held = held.filter(IS_KNOWN)
    gold = pl.col("gold").is_not_null()
    sided = pl.col("left").is_not_null() & (pl.col("choice") != "tie")
    own = held.group_by("annotator").agg(
        pl.len().cast(pl.Int64).alias("n_votes"),
        gold.sum().cast(pl.Int64).alias("n_gold"),
        (gold & (pl.col("choice") == pl.col("gold"))).sum().cast(pl.Int64).alias("gold_right"),
        sided.sum().cast(pl.Int64).alias("n_sided"),
        (sided & (pl.col("choice") == pl.col("left"))).sum().cast(pl.Int64).alias("n_left"),
        pl.col("ms").median().alias("median_ms"),
    )
    table = own.join(agreement, on="annotator", how="left")
    below = below_gold_accuracy(held.filter(gold), min_gold_accuracy)
    n, left = pl.col("n_sided"), pl.col("n_left")
    table = table.with_columns(
        pl.col("n_compared").fill_null(0),
        pl.when(pl.col("n_compared") > 0)
        .then(pl.col("n_agreed") / pl.col("n_compared"))
        .alias("majority_agreement"),
        pl.when(n > 0).then(left / n).alias("left_share"),
        pl.concat_list(
            _flag(ONE_SIDED, (2 * left - n).abs() > SIDE_ERRORS * n.sqrt()),
            _flag(TOO_FAST, pl.col("median_ms") < FASTEST_MS),
            _flag(BELOW_GOLD, pl.col("annotator").is_in(below)),
        )
        .list.drop_nulls()
        .alias("flags"),
    )
    return (
        table.select(ANNOTATORS.names())
        .cast(ANNOTATORS)
        .sort("n_votes", "annotator", descending=[True, False])
    )


def vote_agreement(votes: pl.DataFrame, matches: pl.DataFrame, *, draws: Draws | None = None) -> pl.DataFrame:
    """How well voters agree with each other beyond chance, with the majority, and with known answers.

    Args:
        votes: Frame `metrics.ranking_frames.VOTES`.
        matches: Frame `metrics.ranking_frames.MATCHES`.
        draws: Seed and number of resamples; the defaults where None.

    Returns:
        Frame `metrics.ranking_frames.VOTE_AGREEMENT`; a value is null where the votes do not determine it.

        - `krippendorff_alpha`: nominal, 1 = perfect, 0 = chance, of the `n` votes on matches with two.
        - `majority_share`: share of the votes on such matches that are for the choice with most votes, where
          one has most; it counts the vote itself.
        - `leave_one_out_agreement`: share of votes that are what most others chose, where these have a
          majority.
        - `gold_accuracy`: share of right votes on matches with a known answer.

        Intervals are percentile 95 % ones over photos, that of `gold_accuracy` over annotators; unknown
        people, who may be one, are taken for one.

    Raises:
        MetricError: As `metrics.vote_majorities.match_results`.

    References:
        Krippendorff (2011), https://repository.upenn.edu/asc_papers/43.

    """
    held = known_votes(votes, checked_matches(matches)).frame
    rated = held.filter(pl.col("gold").is_null())
    pairable = rated.filter(pl.len().over("match") > 1)
    counts = [(pl.col("choice") == name).sum().over("match").cast(pl.Float64) for name in CHOICES]
    own = [(pl.col("choice") == name).cast(pl.Float64) for name in CHOICES]
    others = [count - mine for count, mine in zip(counts, own, strict=True)]
    with_majority = _share(pairable, majority_of(counts, tie=None))
    with_others = _share(pairable, majority_of(others, tie=None))
    gold = _share(held, pl.col("gold"))
    how = draws or Draws()
    rows = [
        _alpha(pairable, how),
        _estimated("majority_share", with_majority, "photo", how),
        _estimated("leave_one_out_agreement", with_others, "photo", how),
        _estimated("gold_accuracy", gold, "person", how),
    ]
    return pl.DataFrame(rows, schema=VOTE_AGREEMENT)


def _flag(name: str, is_so: pl.Expr) -> pl.Expr:
    return pl.when(is_so).then(pl.lit(name))


def _share(votes: pl.DataFrame, truth: pl.Expr) -> pl.DataFrame:
    """Votes with something to compare them with, and whether they are it."""
    told = votes.with_columns(truth.alias("truth")).filter(pl.col("truth").is_not_null())
    return told.with_columns(
        pl.when(IS_KNOWN).then(pl.col("annotator")).otherwise(pl.lit(ANONYMOUS)).alias("person"),
        (pl.col("choice") == pl.col("truth")).cast(pl.Float64).alias("right"),
    )


def _estimated(name: str, told: pl.DataFrame, cluster: str, draws: Draws) -> dict[str, object]:
    if told.is_empty():
        return {"name": name, "n": 0, "n_clusters": 0}
    estimate = cluster_bootstrap_interval(
        told["right"].to_list(),
        told[cluster].to_list(),
        rng=block_stream(draws.seed, ("vote_agreement", name), 0),
        resamples=draws.resamples,
    )
    return {
        "name": name,
        "value": estimate.mean,
        "low": estimate.low,
        "high": estimate.high,
        "n": estimate.n,
        "n_clusters": estimate.clusters,
    }


def _alpha(pairable: pl.DataFrame, draws: Draws) -> dict[str, object]:
    """Alpha and its interval: what it is made of are sums over photos, so a resample's are too."""
    name = "krippendorff_alpha"
    row: dict[str, object] = {"name": name, "n": pairable.height, "n_clusters": pairable["photo"].n_unique()}
    if pairable["choice"].n_unique() < 2:
        return row
    units = (
        pairable.sort("photo", "match")
        .group_by("photo", "match", maintain_order=True)
        .agg(
            "choice",
            *((pl.col("choice") == choice).sum().cast(pl.Float64).alias(choice) for choice in CHOICES),
        )
    )
    ratings: Sequence[Sequence[Hashable | None]] = units["choice"].to_list()
    row["value"] = krippendorff_alpha(ratings)
    held = pl.sum_horizontal(*CHOICES)
    apart = (held**2 - pl.sum_horizontal(pl.col(choice) ** 2 for choice in CHOICES)) / (held - 1)
    photos = units.with_columns(apart.alias("apart")).group_by("photo", maintain_order=True)
    sums = photos.agg(pl.col("apart", *CHOICES).sum()).select("apart", *CHOICES).to_numpy()
    if len(sums) > 1:
        rng = block_stream(draws.seed, ("vote_agreement", name), 0)
        row |= _alpha_bounds(sums, rng, draws.resamples)
    return row


def _alpha_bounds(
    sums: NDArray[np.float64], rng: np.random.Generator, resamples: int
) -> dict[str, float | None]:
    """Order statistics of alpha over resamples of photos; one that does not determine it is beyond both."""
    n = len(sums)
    drawn = rng.multinomial(n, np.full(n, 1 / n), size=resamples) @ sums
    totals = drawn[:, 1:]
    count = totals.sum(1)
    expected = (count**2 - (totals**2).sum(1)) / (count - 1)
    known = expected > 0
    alpha = 1 - drawn[:, 0] / np.where(known, expected, np.nan)
    last = resamples - 1
    low = float(np.sort(np.where(known, alpha, -np.inf))[math.floor(0.025 * last)])
    high = float(np.sort(np.where(known, alpha, np.inf))[math.ceil(0.975 * last)])
    bounds = {"low": low, "high": high}
    return {name: round(bound, 9) if math.isfinite(bound) else None for name, bound in bounds.items()}
