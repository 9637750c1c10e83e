"""Models of known strength that meet on photos, with a crowd that votes: what rankings are tested on."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import combinations

import numpy as np
import polars as pl

from metrics.model_ranking import Draws, ranking
from metrics.ranking_frames import MATCHES, RESULTS
from metrics.simulated_crowd import Crowd, simulate_votes, true_ratings, with_preferences
from metrics.vote_majorities import match_results

START = datetime(2026, 11, 30, tzinfo=UTC)


def round_robin(models: list[str], photos: int) -> pl.DataFrame:
    """Matches in which every pair of models meets once on every photo."""
    rows = [
        (f"{photo:04d}-{a}-{b}", f"photo-{photo:04d}", f"photo_{photo:04d}", a, b, None)
        for photo in range(photos)
        for a, b in combinations(sorted(models), 2)
    ]
    return pl.DataFrame(rows, schema=MATCHES, orient="row")


def results_of(rows: list[tuple[str, str, str, str]]) -> pl.DataFrame:
    """Match results from (photo, model a, model b, result), of one vote each."""
    made = [
        {
            "match": f"match-{number:04d}",
            "photo": photo,
            "session": photo,
            "model_a": a,
            "model_b": b,
            **{f"votes_{choice}": int(choice == result) for choice in ("a", "b", "tie")},
            "result": result,
        }
        for number, (photo, a, b, result) in enumerate(rows)
    ]
    return pl.DataFrame(made, schema=RESULTS)


@dataclass(frozen=True)
class World:
    """What is true, and how often it is looked at."""

    strengths: tuple[float, ...] = tuple(np.linspace(-0.9, 0.9, 12).tolist())
    photos: int = 100
    interaction_sd: float = 0.8
    votes_per_match: int = 3
    crowd: Crowd = field(default_factory=lambda: Crowd(annotators=100, random_share=0.1, tie_weight=0.3))

    @property
    def models(self) -> list[str]:
        return [f"model-{number:02d}" for number in range(len(self.strengths))]

    def results(self, seed: int) -> pl.DataFrame:
        """The match results of one drawing of photos and votes."""
        rng = np.random.default_rng((seed, 1))
        matches = round_robin(self.models, self.photos)
        strengths = dict(zip(self.models, self.strengths, strict=True))
        told = with_preferences(matches, strengths, interaction_sd=self.interaction_sd, rng=rng)
        votes = simulate_votes(told, self.crowd, votes_per_match=self.votes_per_match, start=START, rng=rng)
        return match_results(votes, matches).frame

    def truth(self) -> np.ndarray:
        """The rating of each model that ever more photos lead to."""
        return true_ratings(
            self.strengths,
            self.crowd,
            interaction_sd=self.interaction_sd,
            votes_per_match=self.votes_per_match,
        )


@dataclass(frozen=True)
class Coverage:
    """How often intervals held the truth, and how wide they were."""

    held: np.ndarray
    """Shape `(repetitions, models)`."""
    widths: np.ndarray


def coverage(world: World, repetitions: int, *, resamples: int = 1_000, by_match: bool = False) -> Coverage:
    """Intervals of drawings of a world, photos resampled or (naively) matches."""
    truth = world.truth()
    held, widths = [], []
    for seed in range(repetitions):
        results = world.results(seed)
        if by_match:
            results = results.with_columns(pl.col("match").alias("photo"))
        board = ranking(results, draws=Draws(seed, resamples)).sort("model")
        low, high = (
            board[f"rating_{bound}"].fill_null(beyond).to_numpy()
            for bound, beyond in (("low", -np.inf), ("high", np.inf))
        )
        held.append((low <= truth) & (truth <= high))
        widths.append(high - low)
    return Coverage(np.array(held), np.array(widths))
