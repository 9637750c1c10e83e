"""Ratings of resampled photos: what the choice of photos could have made of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from domain.errors import MetricError
from metrics.bradley_terry import fit_strengths
from metrics.win_graphs import UNBEATEN, WINLESS, are_strong, win_graph
from metrics.win_matrices import PhotoWins

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
_AT_ONCE = 2**20
"""Cells of the matrices that are fitted at once; bounds the memory to some 50 MB."""
_SAME = 1e-7
"""Strengths that differ by less are equal."""


@dataclass(frozen=True)
class RatingDraws:
    """Strengths in each resample."""

    strengths: Floats
    """Shape `(resamples, n)`; +inf where a model is unbeaten in a resample, -inf where it is winless, NaN
    where the resample says nothing of it."""
    undetermined: int
    """Resamples that do not determine all of them."""

    def interval(self) -> tuple[Floats, Floats]:
        """Percentile 95 % interval of each model, shape `(n,)`; infinite where a bound is not determined.

        Order statistics, not interpolated; what a resample does not tell counts as beyond both bounds.
        """
        last = len(self.strengths) - 1
        unknown = np.isnan(self.strengths)
        low = np.sort(np.where(unknown, -np.inf, self.strengths), axis=0)[int(np.floor(0.025 * last))]
        high = np.sort(np.where(unknown, np.inf, self.strengths), axis=0)[int(np.ceil(0.975 * last))]
        return low, high

    def rank_interval(self) -> tuple[Integers, Integers]:
        """Best and worst rank of each model in 95 % of the resamples, shape `(n,)`.

        Models that a resample does not tell apart have, in it, each other's ranks too.
        """
        held = np.round(self.strengths / _SAME)
        last, n = held.shape[0] - 1, held.shape[1]
        best = np.empty(held.shape, dtype=np.int64)
        worst = np.empty(held.shape, dtype=np.int64)
        for model in range(n):
            own = held[:, model : model + 1]
            best[:, model] = 1 + (held > own).sum(1)
            worst[:, model] = n - (held < own).sum(1)
        low = np.sort(best, axis=0)[int(np.floor(0.025 * last))]
        return low, np.sort(worst, axis=0)[int(np.ceil(0.975 * last))]


def rating_draws(wins: PhotoWins, *, rng: np.random.Generator, resamples: int = 2_000) -> RatingDraws:
    """Strengths fitted to resamples of photos.

    Photos are drawn whole, with all of their matches: those of one photo share its two images of each model
    and are not independent. A resample in which wins do not connect all models both ways determines the
    largest set that they do; it is centred where the strengths of that set are over all photos, and the
    others are infinitely better or worse than it, or unknown.

    Args:
        wins: Matches of models that wins connect both ways.
        rng: Source of the resamples.
        resamples: Resamples drawn.

    Raises:
        MetricError: `resamples` < 1, the matches do not determine the strengths, or the fit did not converge.

    References:
        Davison & Hinkley (1997), doi:10.1017/CBO9780511802843, sections 3.8 and 5.3.

    """
    if resamples < 1:
        raise MetricError(f"resamples is {resamples}, not a positive count")
    n = len(wins.models)
    point = fit_strengths(wins.total)
    flat = wins.by_photo.reshape(wins.photos, n * n)
    rows = max(1, _AT_ONCE // (n * n))
    made: list[Floats] = []
    undetermined = 0
    for start in range(0, resamples, rows):
        block = min(rows, resamples - start)
        times = rng.multinomial(wins.photos, np.full(wins.photos, 1 / wins.photos), size=block)
        drawn = (times.astype(np.float64) @ flat).reshape(block, n, n)
        strong = are_strong(drawn > 0)
        held = np.empty((block, n))
        if strong.any():
            held[strong] = fit_strengths(drawn[strong], start=point)
        for row in np.flatnonzero(~strong):
            held[row] = _in_part(drawn[row], point)
        undetermined += int((~strong).sum())
        made.append(held)
    return RatingDraws(np.concatenate(made), undetermined)


def _in_part(wins: Floats, point: Floats) -> Floats:
    """Strengths in a resample that determines only some."""
    graph = win_graph(wins)
    members = graph.members(1)
    found = np.full(len(point), np.nan)
    if not len(members):
        return found
    for model in np.flatnonzero(graph.component == 1):
        found[model] = {UNBEATEN: np.inf, WINLESS: -np.inf}.get(graph.note[model] or "", np.nan)
    inside = fit_strengths(wins[np.ix_(members, members)], start=point[members])
    found[members] = inside + point[members].mean()
    return found
