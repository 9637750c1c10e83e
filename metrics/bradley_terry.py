"""Strengths of models out of won and lost matches: the Bradley–Terry model."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from domain.errors import MetricError
from metrics.win_graphs import are_strong

Floats = NDArray[np.float64]

SCALE = 400 / math.log(10)
"""Points of an Elo-like scale to one unit of strength: 400 points are odds of ten to one."""
CENTRE = 1000.0
"""Mean rating of the models that are rated together."""
ITERATIONS = 50
TOLERANCE = 1e-8
"""Of strengths: the last step of Newton's method is below it, and what is left is about its square."""


def fit_strengths(wins: Floats, *, start: Floats | None = None, iterations: int = ITERATIONS) -> Floats:
    """Maximum-likelihood strengths, with P(i beats j) = 1 / (1 + exp(strength_j - strength_i)).

    Newton's method on all matrices at once. Its step is shortened to log(1 + M) / M, with M the widest change
    of a difference of strengths: then the likelihood rises in each step from any start, and near the maximum
    the step is whole.

    Args:
        wins: Wins of row over column, a tie half a win for each, shape `(..., n, n)`, >= 0; the diagonal is
            not read.
        start: Where to begin, shape `(..., n)` or `(n,)`; zero where None.
        iterations: Most steps.

    Returns:
        Shape `(..., n)`, natural logarithms of odds, mean 0 in each row; high = wins more.

    Raises:
        MetricError: A number of wins is negative or not finite, a matrix is not strongly connected (some
            models never lost to any of the others: no finite strengths are most likely), or the iterations
            did not converge.

    References:
        Bradley & Terry (1952), doi:10.2307/2334029 (model); Hunter (2004), doi:10.1214/aos/1079120141,
        section 2 (when the maximum is unique); Bach (2010), doi:10.1214/09-EJS521 (the likelihood is
        self-concordant in the sense that bounds the step).

    """
    shape = wins.shape
    n = shape[-1] if wins.ndim > 1 else 0
    if n == 0 or shape[-2] != n:
        raise MetricError(f"wins have shape {shape}, not (…, n, n) with n > 0")
    held = wins.reshape(-1, n, n) * (1 - np.eye(n))
    if not np.isfinite(held).all() or (held < 0).any():
        raise MetricError("a number of wins is negative or not finite")
    if not are_strong(held > 0).all():
        raise MetricError(
            "the strengths are not determined: some models have never lost to any of the others; rate those "
            "that are connected by wins both ways"
        )
    found = np.zeros((len(held), n)) if start is None else np.broadcast_to(start, (*shape[:-2], n))
    found = _newton(held, np.array(found, dtype=np.float64).reshape(-1, n), iterations)
    return found.reshape(*shape[:-2], n)


def _newton(wins: Floats, strengths: Floats, iterations: int) -> Floats:
    n = wins.shape[-1]
    matches = wins + wins.swapaxes(-1, -2)
    won = wins.sum(-1)
    # Adding a constant to the information fixes the mean, which the likelihood says nothing about.
    fixed = matches.sum((-1, -2))[:, np.newaxis, np.newaxis] / n**3
    diagonal = np.eye(n)
    left = np.arange(len(wins))
    for _ in range(iterations):
        now, met = strengths[left], matches[left]
        chance = 1 / (1 + np.exp(now[:, np.newaxis, :] - now[:, :, np.newaxis]))
        expected = met * chance
        information = -expected * chance.swapaxes(-1, -2)
        information -= information.sum(-1, keepdims=True) * diagonal
        gradient = won[left] - expected.sum(-1)
        change = _solved(information + fixed[left], gradient)
        widest = change.max(-1) - change.min(-1)
        size = np.log1p(widest) / np.where(widest > 0, widest, 1.0)
        strengths[left] = now + change * size[:, np.newaxis]
        left = left[widest >= TOLERANCE]
        if not len(left):
            return strengths - strengths.mean(-1, keepdims=True)
    raise MetricError(f"the strengths did not converge in {iterations} iterations of Newton's method")


def _solved(information: Floats, gradient: Floats) -> Floats:
    return np.asarray(np.linalg.solve(information, gradient[..., np.newaxis]), dtype=np.float64)[..., 0]


def ratings(strengths: Floats) -> Floats:
    """Strengths on the Elo-like scale: `CENTRE` is their mean, and `SCALE` points a unit.

    Args:
        strengths: Shape `(n,)`.

    References:
        Elo (1978), The Rating of Chessplayers (400 points for odds of ten to one).

    """
    return CENTRE + SCALE * (strengths - strengths.mean(-1, keepdims=True))
