"""What ratings of a paper-sized board cost, beside evalica's, and how often their intervals hold the truth.

Run with `python -m tests.benchmarks.ranking`; prints Markdown tables. Times are CPU seconds of this process
in one run, medians of rounds that alternate. 60,800 matches of 25 models on 199 photos, as the identity-drift
leaderboard has them; results are drawn from known strengths, one match in twenty a tie. Both sides start
from the same names. Most of evalica's call (0.4.2, Rust) is its indexing of names, which is also timed
alone and taken off. It refits the same resamples of photos, as weights of the matches and with its index
given, fewer of them, and its time is scaled linearly. Ratings are checked to be equal.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from statistics import median

import evalica
import numpy as np
import polars as pl

sys.path.insert(0, str(Path(__file__).parents[1]))  # as pytest does

from ranked_worlds import World, coverage

from metrics.bradley_terry import fit_strengths
from metrics.model_ranking import Draws, ranking
from metrics.ranking_frames import RESULTS
from metrics.rating_draws import rating_draws
from metrics.win_matrices import photo_wins

MATCHES, MODELS, PHOTOS = 60_800, 25, 199
ROUNDS = 5
RESAMPLES = 1_000
EVALICA_RESAMPLES = 20
REPETITIONS = 200
FEW_PHOTOS = 25
TOLERANCE = 1e-8


def drawn_results() -> pl.DataFrame:
    """Match results of known strengths."""
    rng = np.random.default_rng(0)
    names = [f"model-{number:02d}" for number in range(MODELS)]
    strengths = rng.normal(0, 0.8, MODELS)
    pairs = np.array(list(combinations(range(MODELS), 2)))
    each = np.tile(pairs, (PHOTOS, 1))  # 59,700: some pairs meet twice on a photo
    photo = np.repeat(np.arange(PHOTOS), len(pairs))
    rows = np.concatenate([np.arange(len(photo)), rng.integers(len(photo), size=MATCHES - len(photo))])
    a, b = each[rows].T
    chance = 1 / (1 + np.exp(strengths[b] - strengths[a]))
    drawn = rng.random(MATCHES)
    result = np.where(drawn < 0.95 * chance, "a", np.where(drawn < 0.95, "b", "tie"))
    return pl.DataFrame(
        {
            "match": [f"match-{number:05d}" for number in range(MATCHES)],
            "photo": [f"photo-{number:03d}" for number in photo[rows]],
            "session": "edits",
            "model_a": np.array(names)[a],
            "model_b": np.array(names)[b],
            "votes_a": (result == "a").astype(np.int64),
            "votes_b": (result == "b").astype(np.int64),
            "votes_tie": (result == "tie").astype(np.int64),
            "result": result,
        },
        schema=RESULTS,
    )


def seconds(work: Callable[[], object]) -> float:
    """CPU seconds of this process."""
    start = time.process_time()
    work()
    return time.process_time() - start


class Evalica:
    """The same matches as evalica takes them."""

    def __init__(self, results: pl.DataFrame) -> None:
        self.a, self.b = results["model_a"].to_list(), results["model_b"].to_list()
        told = {"a": evalica.Winner.X, "b": evalica.Winner.Y, "tie": evalica.Winner.Draw}
        self.winners = [told[result] for result in results["result"]]
        _, _, self.index = evalica.indexing(self.a, self.b)
        self.photo = results["photo"].rank("dense").to_numpy() - 1

    def indexed(self) -> None:
        """What a call does first."""
        evalica.indexing(self.a, self.b)

    def indexed_again(self) -> None:
        """What it does first where its index is given."""
        evalica.indexing(self.a, self.b, self.index)

    def fit(self, times: np.ndarray | None = None) -> np.ndarray:
        """Strengths, in alphabetical order."""
        weights = None if times is None else times[self.photo].astype(np.float64).tolist()
        index = None if times is None else self.index
        found = evalica.bradley_terry(
            self.a, self.b, self.winners, index=index, weights=weights, tolerance=TOLERANCE, limit=10_000
        )
        strengths = np.log(found.scores.sort_index().to_numpy())
        return strengths - strengths.mean()


def fits() -> list[str]:
    """The first table."""
    results = drawn_results()
    theirs = Evalica(results)
    wins = photo_wins(results)
    far = np.abs(fit_strengths(wins.total) - theirs.fit()).max()
    times = np.random.default_rng(1).multinomial(PHOTOS, np.full(PHOTOS, 1 / PHOTOS), size=EVALICA_RESAMPLES)
    drawn = rating_draws(wins, rng=np.random.default_rng(1), resamples=EVALICA_RESAMPLES).strengths
    far_drawn = np.abs(drawn - np.stack([theirs.fit(row) for row in times])).max()
    assert max(far, far_drawn) < 1e-5

    def refits() -> None:
        for row in times:
            theirs.fit(row)

    def redrawn() -> None:
        rating_draws(photo_wins(results), rng=np.random.default_rng(1), resamples=RESAMPLES).interval()

    total, scale = wins.total, RESAMPLES / EVALICA_RESAMPLES
    rounds = [
        Round(
            index=seconds(theirs.indexed),
            index_again=seconds(theirs.indexed_again),
            call=seconds(theirs.fit),
            calls=seconds(refits) * scale,
            names=seconds(lambda: photo_wins(results)),
            fit=seconds(lambda: fit_strengths(total)),
            draws=seconds(redrawn),
            board=seconds(lambda: ranking(results, draws=Draws(resamples=RESAMPLES))),
        )
        for _ in range(ROUNDS)
    ]
    call, calls, names, fit, draws = (
        [getattr(each, name) for each in rounds] for name in ("call", "calls", "names", "fit", "draws")
    )
    rows = {
        f"{MATCHES:,} matches, names to strengths": (call, [a + b for a, b in zip(names, fit, strict=True)]),
        "evalica's call, our fit of the win matrix": (call, fit),
        "the same without its indexing": ([median(call) - median(r.index for r in rounds)], [median(fit)]),
        f"{RESAMPLES:,} resamples of photos, from names": (calls, draws),
        "these without its indexing": (
            [median(calls) - RESAMPLES * median(r.index_again for r in rounds)],
            [median(draws)],
        ),
    }
    return [
        "| | evalica, s | ours, s | ratio | ratios of the rounds |",
        "|---|---|---|---|---|",
        *(_line(name, *pair) for name, pair in rows.items()),
        "",
        f"Largest difference of strengths: {far:.0e} (point), {far_drawn:.0e} (resamples). "
        f"The whole board with intervals and ranks: {median(r.board for r in rounds):.2f} s.",
    ]


@dataclass(frozen=True)
class Round:
    """CPU seconds."""

    index: float
    index_again: float
    call: float
    calls: float
    """Scaled to `RESAMPLES`."""
    names: float
    fit: float
    draws: float
    board: float


def _line(name: str, theirs: list[float], ours: list[float]) -> str:
    ratios = sorted(slow / fast for slow, fast in zip(theirs, ours, strict=True))
    shown = f"{ratios[0]:.0f} to {ratios[-1]:.0f}" if len(ratios) > 1 else "of medians"
    return f"| {name} | {median(theirs):.4f} | {median(ours):.5f} | **{median(ratios):.0f} ×** | {shown} |"


def intervals() -> list[str]:
    """The second table."""
    worlds = {
        "photos": (World(), False),
        "matches, as if independent": (World(), True),
        f"photos, {FEW_PHOTOS} of them": (World(photos=FEW_PHOTOS), False),
        "photos, one vote a match": (World(votes_per_match=1), False),
    }
    lines = ["| resampled | hold the truth | median width, points | repetitions |", "|---|---|---|---|"]
    for name, (world, by_match) in worlds.items():
        found = coverage(world, REPETITIONS, by_match=by_match)
        width = f"{np.median(found.widths):.0f}"
        lines.append(f"| {name} | **{found.held.mean():.1%}** | {width} | {len(found.held)} |")
    return lines


def main() -> None:
    """Print both tables."""
    print("\n".join([*fits(), "", *intervals()]))  # noqa: T201


if __name__ == "__main__":
    main()
