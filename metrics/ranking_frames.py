"""The tables of votes and rankings: their columns and types."""

from __future__ import annotations

import polars as pl

ALL = "all"
"""Dimension and value of the rows over all matches."""

VOTES = pl.Schema(
    {
        **{name: pl.String for name in ("match", "choice", "annotator", "at")},
        "left": pl.String,
        "ms": pl.Int64,
    }
)
"""One vote a row. `choice` is a, b or tie; `left` (a, b) is what was shown left, `ms` the time from the
pictures to the vote; both are null where they are not known."""

MATCHES = pl.Schema({name: pl.String for name in ("id", "photo", "session", "model_a", "model_b", "gold")})
"""Matches, one a row. `gold` (a, b) is the right answer of a match that tests voters and rates no model."""

CHOICES = ("a", "b", "tie")

RESULTS = pl.Schema(
    {
        **{name: pl.String for name in ("match", "photo", "session", "model_a", "model_b")},
        **{name: pl.Int64 for name in ("votes_a", "votes_b", "votes_tie")},
        "result": pl.String,
    }
)
"""Matches that have a vote, with how it ended: a, b or tie."""

RANKING = pl.Schema(
    {
        **{name: pl.String for name in ("dimension", "value", "model")},
        **{name: pl.Float64 for name in ("rating", "rating_low", "rating_high")},
        **{name: pl.Int64 for name in ("rank", "rank_low", "rank_high")},
        **{name: pl.Int64 for name in ("n_matches", "n_votes", "wins", "losses", "ties", "component")},
        "note": pl.String,
        "n_photos": pl.Int64,
        **{name: pl.Int64 for name in ("resamples", "resamples_undetermined")},
    }
)
"""Models of a leaderboard; null = not determined. See `metrics.model_ranking.ranking`."""

MATCHUPS = pl.Schema(
    {
        **{name: pl.String for name in ("dimension", "value", "model", "other")},
        **{name: pl.Int64 for name in ("wins", "losses", "ties", "n_matches", "n_votes", "n_photos")},
        **{name: pl.Float64 for name in ("win_rate", "low", "high")},
    }
)
"""Each pair of models that met, in both directions."""

ANNOTATORS = pl.Schema(
    {
        "annotator": pl.String,
        **{name: pl.Int64 for name in ("n_votes", "n_gold", "gold_right", "n_compared")},
        "majority_agreement": pl.Float64,
        "n_sided": pl.Int64,
        "left_share": pl.Float64,
        "median_ms": pl.Float64,
        "flags": pl.List(pl.String),
    }
)
"""People who voted."""

VOTE_AGREEMENT = pl.Schema(
    {
        "name": pl.String,
        **{name: pl.Float64 for name in ("value", "low", "high")},
        **{name: pl.Int64 for name in ("n", "n_clusters")},
    }
)
"""How well voters agree with each other and with known answers."""

METRIC_AGREEMENT = pl.Schema(
    {
        **{name: pl.String for name in ("metric", "dimension", "value")},
        **{name: pl.Int64 for name in ("n_matches", "agree", "ties", "unknown", "n_photos")},
        **{name: pl.Float64 for name in ("share", "low", "high")},
    }
)
"""In how many matches a metric picks the face that people preferred."""
