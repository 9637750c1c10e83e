"""How matches ended, out of the votes on them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import numpy as np
import polars as pl

from domain.errors import MetricError
from domain.votes import ANONYMOUS
from metrics.ranking_frames import CHOICES, MATCHES, RESULTS, VOTES
from metrics.row_checks import columns_of, refuse_rows

PRIOR = (5.6, 2.4)
"""Beta prior of an annotator's leave-one-out agreement: as if of 8 votes 5.6 had agreed."""
IS_KNOWN = ~pl.col("annotator").str.starts_with(ANONYMOUS)
"""Whether a vote is of a person whom its source tells from others."""
_SAME = 1e-9
"""Sums of weights that differ by less are equal."""


@dataclass(frozen=True)
class MatchResults:
    """Results of matches, and what was left out of them."""

    frame: pl.DataFrame
    """`metrics.ranking_frames.RESULTS`, sorted by match."""
    left_out: dict[str, int]
    """`votes_repeated` (of one person on one match, after the first), `votes_on_unknown_matches`,
    `votes_of_annotators_below_gold_accuracy`, `votes_on_gold_matches`, `matches_without_vote`."""
    annotators_left_out: tuple[str, ...]
    """Below the asked gold accuracy."""


def match_results(
    votes: pl.DataFrame,
    matches: pl.DataFrame,
    *,
    min_gold_accuracy: float | None = None,
    weighting: str = "none",
) -> MatchResults:
    """Each match goes to the choice that has more votes than any other; where none has, it is a tie.

    One person has one vote a match: the first. Gold matches rate no model and are left out.

    Args:
        votes: Frame `metrics.ranking_frames.VOTES`, in any order.
        matches: Frame `metrics.ranking_frames.MATCHES`.
        min_gold_accuracy: Votes of annotators whose share of right gold matches is below it are left out;
            those without a gold match stay, since nothing is known against them. None keeps all.
        weighting: `none`, or `agreement`: a vote weighs log(a / (1 - a)), a being its annotator's
            leave-one-out agreement (`agreement_with_others`) shrunk by Beta(5.6, 2.4), and nothing where a is
            below one half. A vote of an unknown person has a = 0.7, the mean of that prior, whatever it says.
            Vote counts stay counts; only `result` goes by weights.

    Returns:
        The results and what was left out, counted.

    Raises:
        MetricError: A column is absent or of another type, a choice is none of a, b and tie, a match is there
            twice, or the weighting is unknown.

    References:
        Nitzan & Paroush (1982), doi:10.2307/2526438 (log-odds weights are best for independent voters).

    """
    if weighting not in ("none", "agreement"):
        raise MetricError(f"weighting is {weighting!r}, neither 'none' nor 'agreement'")
    known = checked_matches(matches)
    told = known_votes(votes, known)
    gold = told.frame.filter(pl.col("gold").is_not_null())
    kept = told.frame.filter(pl.col("gold").is_null())
    below = below_gold_accuracy(gold, min_gold_accuracy)
    filtered = kept.filter(~pl.col("annotator").is_in(below))
    weighted = filtered.with_columns(
        _weights(filtered) if weighting == "agreement" else pl.lit(1.0).alias("w")
    )
    frame = (
        known.filter(pl.col("gold").is_null())
        .rename({"id": "match"})
        .join(_counted(weighted), on="match", how="inner")
    )
    n_rated = known["gold"].null_count()
    left_out = {
        **told.left_out,
        "votes_on_gold_matches": gold.height,
        "votes_of_annotators_below_gold_accuracy": kept.height - filtered.height,
        "matches_without_vote": n_rated - frame.height,
    }
    return MatchResults(frame.select(RESULTS.names()).cast(RESULTS).sort("match"), left_out, below)


@dataclass(frozen=True)
class KnownVotes:
    """First votes on known matches."""

    frame: pl.DataFrame
    """`metrics.ranking_frames.VOTES` with `photo` and `gold` of the match."""
    left_out: dict[str, int]


def known_votes(votes: pl.DataFrame, matches: pl.DataFrame) -> KnownVotes:
    """The first vote of each person on each match that is known.

    Raises:
        MetricError: A column is absent or of another type, or a choice is none of a, b and tie.

    """
    held = columns_of(votes, VOTES, "votes")
    refuse_rows(
        held,
        [
            (
                f"choice is none of {', '.join(CHOICES)}",
                ~pl.col("choice").is_in(CHOICES).fill_null(value=False),
            ),
            ("a vote lacks its annotator", pl.col("annotator").is_null()),
        ],
        ("match", "annotator"),
    )
    on_known = held.join(
        matches.select(pl.col("id").alias("match"), "photo", "gold"), on="match", how="inner"
    )
    again = pl.struct("match", "annotator").is_duplicated()
    several = on_known.filter(again)
    first = several.with_columns(pl.col("at").map_elements(_moment, return_dtype=pl.Float64).alias("moment"))
    first = first.sort("moment", "choice", "at", nulls_last=True).unique(("match", "annotator"), keep="first")
    frame = pl.concat([on_known.filter(~again), first.select(on_known.columns)]).sort("match", "annotator")
    return KnownVotes(
        frame,
        {
            "votes_on_unknown_matches": held.height - on_known.height,
            "votes_repeated": on_known.height - frame.height,
        },
    )


def checked_matches(matches: pl.DataFrame) -> pl.DataFrame:
    """The columns of matches; raises MetricError where one is absent or a match is there twice."""
    held = columns_of(matches, MATCHES, "matches")
    refuse_rows(held, [("a match is there twice", pl.col("id").is_duplicated())], ("id",))
    return held


def below_gold_accuracy(gold_votes: pl.DataFrame, least: float | None) -> tuple[str, ...]:
    """Known annotators whose share of right gold matches is below the asked one, in alphabetical order."""
    if least is None:
        return ()
    shares = (
        gold_votes.filter(IS_KNOWN)
        .group_by("annotator")
        .agg((pl.col("choice") == pl.col("gold")).mean().alias("share"))
    )
    return tuple(sorted(shares.filter(pl.col("share") < least)["annotator"]))


def agreement_with_others(votes: pl.DataFrame) -> pl.DataFrame:
    """How often each annotator chose what most others chose in the same match.

    Args:
        votes: One vote a person and match: columns `match`, `annotator`, `choice`.

    Returns:
        Columns `annotator`, `n_compared` (votes on matches in which the others have a majority) and
        `n_agreed`, sorted.

    """
    counts = _choice_counts(votes)
    held = votes.join(counts, on="match", how="left", maintain_order="left")
    own = [(pl.col("choice") == name).cast(pl.Float64) for name in CHOICES]
    others = [pl.col(f"n_{name}") - mine for name, mine in zip(CHOICES, own, strict=True)]
    held = held.select("annotator", "choice", majority_of(others, tie=None).alias("majority"))
    return (
        held.group_by("annotator")
        .agg(
            pl.col("majority").is_not_null().sum().cast(pl.Int64).alias("n_compared"),
            (pl.col("choice") == pl.col("majority"))
            .fill_null(value=False)
            .sum()
            .cast(pl.Int64)
            .alias("n_agreed"),
        )
        .sort("annotator")
    )


def majority_of(sums: list[pl.Expr], tie: str | None) -> pl.Expr:
    """The choice whose sum is above both others, else `tie`; sums in the order of `CHOICES`."""
    chosen = pl.lit(tie, dtype=pl.String)
    for number, name in enumerate(CHOICES):
        rest = pl.max_horizontal(held for other, held in enumerate(sums) if other != number)
        chosen = pl.when(sums[number] > rest * (1 + _SAME)).then(pl.lit(name)).otherwise(chosen)
    return chosen


def _choice_counts(votes: pl.DataFrame) -> pl.DataFrame:
    return votes.group_by("match").agg(
        (pl.col("choice") == name).sum().cast(pl.Float64).alias(f"n_{name}") for name in CHOICES
    )


def _weights(votes: pl.DataFrame) -> pl.Series:
    """The weight of each vote; nothing is learnt of unknown people from their one vote each."""
    table = agreement_with_others(votes).with_columns(
        pl.when(IS_KNOWN).then(pl.col("n_agreed", "n_compared")).otherwise(0)
    )
    right, wrong = PRIOR
    agreed = (table["n_agreed"] + right) / (table["n_compared"] + right + wrong)
    shares = agreed.to_numpy()
    weights = table.select("annotator", pl.Series("w", np.maximum(0.0, np.log(shares / (1 - shares)))))
    return votes.select("annotator").join(weights, on="annotator", how="left", maintain_order="left")["w"]


def _counted(votes: pl.DataFrame) -> pl.DataFrame:
    """Votes and result of each match."""
    table = votes.group_by("match").agg(
        *((pl.col("choice") == name).sum().cast(pl.Int64).alias(f"votes_{name}") for name in CHOICES),
        *(pl.col("w").filter(pl.col("choice") == name).sum().alias(f"w_{name}") for name in CHOICES),
    )
    return table.with_columns(majority_of([pl.col(f"w_{name}") for name in CHOICES], "tie").alias("result"))


def _moment(at: str) -> float:
    try:
        return datetime.fromisoformat(at).timestamp()
    except ValueError as error:
        raise MetricError(f"the time of a vote is {at!r}, not ISO 8601") from error
