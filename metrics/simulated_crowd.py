"""A crowd that votes by known strengths, for rehearsals and for checks of what is made of its votes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import product

import numpy as np
import polars as pl
from numpy.typing import NDArray

from domain.errors import MetricError
from metrics.bradley_terry import fit_strengths, ratings
from metrics.name_codes import ranked
from metrics.ranking_frames import MATCHES, VOTES
from metrics.row_checks import columns_of

Floats = NDArray[np.float64]

GOLD_ERRORS = 1 / (1 + math.exp(5))
"""Of careful votes on matches with a known answer, those for the wrong side: one in 150."""
_CAREFUL_MS, _CARELESS_MS = 2_600.0, 420.0
_NODES = 64


@dataclass(frozen=True)
class Crowd:
    """Who votes, and how."""

    annotators: int = 200
    random_share: float = 0.05
    """Of the annotators, those who choose a side at random, and fast."""
    left_share: float = 0.0
    """Of the annotators, those who always choose what is shown left."""
    slips: float = 0.02
    """Of the votes of the others, those that are a random side."""
    tie_weight: float = 0.0
    """Davidson's nu: at equal strengths a careful voter says tie nu times as often as either side."""

    def __post_init__(self) -> None:
        shares = (self.random_share, self.left_share, self.slips)
        if self.annotators < 1 or min(shares) < 0 or sum(shares[:2]) > 1 or self.slips > 1:
            raise MetricError("a crowd needs annotators, and shares of them within 0 to 1 in all")
        if self.tie_weight < 0:
            raise MetricError(f"tie_weight is {self.tie_weight}, below 0")

    @property
    def kinds(self) -> NDArray[np.int64]:
        """Of each annotator: 0 careful, 1 random, 2 always left."""
        n_random, n_left = (round(share * self.annotators) for share in (self.random_share, self.left_share))
        return np.repeat([0, 1, 2], [self.annotators - n_random - n_left, n_random, n_left])

    def vote_chances(self, preference: Floats) -> Floats:
        """Chances that a vote of the crowd is for a, for b, and a tie.

        Args:
            preference: Log-odds of a over b, shape `(n,)`.

        Returns:
            Shape `(3, n)`.

        """
        careful = float((self.kinds == 0).mean()) * (1 - self.slips)
        blind = np.array([(1 - careful) / 2, (1 - careful) / 2, 0.0])
        return careful * self.careful_chances(preference) + blind[:, np.newaxis]

    def careful_chances(self, preference: Floats) -> Floats:
        """The same of a careful vote."""
        a, b = np.exp(preference / 2), np.exp(-preference / 2)
        return np.stack([a, b, np.full_like(a, self.tie_weight)]) / (a + b + self.tie_weight)


def with_preferences(
    matches: pl.DataFrame,
    strengths: Mapping[str, float],
    *,
    interaction_sd: float = 0.0,
    gold_errors: float = GOLD_ERRORS,
    rng: np.random.Generator,
) -> pl.DataFrame:
    """Matches with `preference`: the log-odds with which a careful voter chooses a.

    Args:
        matches: Frame `metrics.ranking_frames.MATCHES`.
        strengths: Of each model, natural logarithms of odds.
        interaction_sd: Standard deviation of what a photo adds to a model's strength, on all of its matches.
        gold_errors: Of careful votes for a side on matches with a known answer, the share for the wrong one;
            above 0 and at most one half.
        rng: Source of what photos add.

    Raises:
        MetricError: A column is absent, a model has no strength, or a share is no such share.

    """
    if not 0 < gold_errors <= 0.5:
        raise MetricError(f"gold_errors is {gold_errors}, not above 0 and at most 0.5")
    gold_preference = math.log1p(-gold_errors) - math.log(gold_errors)
    held = columns_of(matches, MATCHES, "matches").sort("id")
    rated = held.filter(pl.col("gold").is_null())
    names = pl.concat([rated["model_a"], rated["model_b"]])
    missing = sorted(set(names) - set(strengths))
    if missing:
        raise MetricError(f"model {missing[0]!r} has no strength")
    models, photos = ranked(names), ranked(rated["photo"])
    added = rng.normal(0.0, 1.0, (int(photos.max(initial=-1)) + 1, int(models.max(initial=-1)) + 1))
    own = np.array([strengths[name] for name in names.unique().sort()])
    a, b = models[: rated.height], models[rated.height :]
    preference = own[a] - own[b] + interaction_sd * (added[photos, a] - added[photos, b])
    told = rated.select("id", pl.Series("preference", preference, dtype=pl.Float64))
    known = (
        pl.when(pl.col("gold") == "a")
        .then(gold_preference)
        .when(pl.col("gold") == "b")
        .then(-gold_preference)
    )
    return held.join(told, on="id", how="left", maintain_order="left").with_columns(
        known.otherwise(pl.col("preference")).alias("preference")
    )


def simulate_votes(
    matches: pl.DataFrame,
    crowd: Crowd,
    *,
    votes_per_match: int,
    start: datetime,
    rng: np.random.Generator,
) -> pl.DataFrame:
    """Votes of a crowd; nobody votes twice on a match, and sides are drawn at each serving.

    Args:
        matches: Result of `with_preferences`, or any matches with `preference`.
        crowd: Who votes.
        votes_per_match: Votes on each match.
        start: Time of the first vote, with a zone; one follows each second.
        rng: Source of everything.

    Returns:
        Frame `metrics.ranking_frames.VOTES`; annotators are called `simulated-0001` and so on.

    Raises:
        MetricError: There are fewer annotators than votes on a match, or no vote is asked for.

    """
    if not 1 <= votes_per_match <= crowd.annotators:
        raise MetricError(f"{votes_per_match} votes a match of {crowd.annotators} annotators cannot be had")
    n = matches.height * votes_per_match
    kinds = rng.permutation(crowd.kinds)
    first = rng.integers(crowd.annotators, size=matches.height)
    apart = np.arange(votes_per_match) * (crowd.annotators // votes_per_match)
    voter = ((first[:, np.newaxis] + apart) % crowd.annotators).ravel()
    left = rng.integers(2, size=n)
    preference = np.repeat(matches["preference"].to_numpy(), votes_per_match)
    bounds = crowd.careful_chances(preference).cumsum(0)
    drawn, side = rng.random(n), rng.integers(2, size=n)
    careful = np.where(drawn < bounds[0], 0, np.where(drawn < bounds[1], 1, 2))
    blind = (kinds[voter] == 1) | (rng.random(n) < crowd.slips)
    choice = np.where(kinds[voter] == 2, left, np.where(blind, side, careful))
    typical = np.where(kinds[voter] == 0, _CAREFUL_MS, _CARELESS_MS)
    letters = np.array(["a", "b", "tie"])
    return pl.DataFrame(
        {
            "match": np.repeat(matches["id"].to_numpy(), votes_per_match),
            "choice": letters[choice],
            "annotator": np.array([f"simulated-{k + 1:04d}" for k in range(crowd.annotators)])[voter],
            "at": [(start + timedelta(seconds=k)).isoformat() for k in range(n)],
            "left": letters[left],
            "ms": np.rint(typical * np.exp(rng.normal(0, 0.4, n))).astype(np.int64),
        },
        schema=VOTES,
    )


def result_share(preference: Floats, crowd: Crowd, votes_per_match: int) -> Floats:
    """Chance that the majority of a match is for a, and half of that of a tie, over who votes.

    Args:
        preference: Log-odds of a over b, shape `(n,)`.
        crowd: Who votes.
        votes_per_match: Votes on each match.

    """
    chances = crowd.vote_chances(preference)
    share = np.zeros_like(preference)
    for a, b in product(range(votes_per_match + 1), repeat=2):
        ties = votes_per_match - a - b
        if ties < 0:
            continue
        ways = math.factorial(votes_per_match) / math.prod(math.factorial(k) for k in (a, b, ties))
        won = 1.0 if a > max(b, ties) else 0.0 if b > max(a, ties) else 0.5
        share += won * ways * chances[0] ** a * chances[1] ** b * chances[2] ** ties
    return share


def true_ratings(
    strengths: Sequence[float], crowd: Crowd, *, interaction_sd: float = 0.0, votes_per_match: int = 1
) -> Floats:
    """The ratings that more and more photos lead to, if every pair meets on every photo.

    The majority of several votes is surer than one vote, and what photos add is no Bradley–Terry model; so
    the truth is the model that fits the true chances of each pair best, in likelihood.

    Args:
        strengths: Of each model, natural logarithms of odds, shape `(n,)`.
        crowd: Who votes.
        interaction_sd: As in `with_preferences`; integrated over by Gauss–Hermite quadrature.
        votes_per_match: Votes on each match.

    Returns:
        Shape `(n,)`, on the Elo-like scale.

    References:
        White (1982), doi:10.2307/1912526 (what a fit of a model that is not the true one converges to).

    """
    nodes, weights = np.polynomial.hermite.hermgauss(_NODES)
    own = np.asarray(strengths, dtype=np.float64)
    n = len(own)
    # A difference of two photos' effects has twice the variance; the rule's weight is exp(-x^2).
    added = 2 * interaction_sd * nodes
    preference = (own[:, np.newaxis] - own)[..., np.newaxis] + added
    shares = result_share(preference.ravel(), crowd, votes_per_match).reshape(n, n, _NODES)
    return ratings(fit_strengths(shares @ (weights / math.sqrt(math.pi))))
