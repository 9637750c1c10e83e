"""How often models make their edits, by attempt, step and whole chain, and who can be ranked by that."""

from __future__ import annotations

import math
from collections.abc import Sequence

import polars as pl

from domain.errors import MetricError
from metrics.row_checks import columns_of, refuse_twice

_KEY = ("suite", "dataset", "model")
VERDICTS = ("made", "not_made", "refused", "no_image", "off_shape")
STATUSES = ("complete", "stopped", "unfinished")
PPM = 1_000_000
ATTEMPT = pl.Schema(
    {
        **{name: pl.String for name in (*_KEY, "photo", "session")},
        "step": pl.Int64,
        "attempt": pl.Int64,
        "verdict": pl.String,
    }
)
"""One attempt a row, those of a step numbered from 1 without a gap."""
CHAIN = pl.Schema({**{name: pl.String for name in (*_KEY, "photo", "session", "status")}})
"""One chain a row: `complete`, `stopped` at a step that failed as often as it is tried, or `unfinished`."""
COMPLETION = pl.Schema(
    {
        **{name: pl.String for name in _KEY},
        "n_chains": pl.Int64,
        "n_complete": pl.Int64,
        "n_stopped": pl.Int64,
        "n_unfinished": pl.Int64,
        "completion": pl.Float64,
        "threshold": pl.Float64,
        "ranked": pl.Boolean,
        "reason": pl.String,
        "n_attempts": pl.Int64,
        "n_off_shape": pl.Int64,
    }
)
"""`completion` is the share of all chains; `reason` says why a model is not ranked, null where it is."""
ATTEMPTS = pl.Schema(
    {
        **{name: pl.String for name in _KEY},
        "step": pl.Int64,
        "n_tried": pl.Int64,
        "made_at": pl.List(pl.Int64),
        "n_failed": pl.Int64,
        **{name: pl.Int64 for name in VERDICTS[1:]},
    }
)
"""Chains that tried a step, that made it at attempt 1, 2, …, and that failed it; then attempts by verdict."""
FAILED_STEPS = pl.Schema(
    {
        **{name: pl.String for name in (*_KEY, "photo", "session")},
        "step": pl.Int64,
        "reasons": pl.List(pl.String),
    }
)
"""Steps at which a chain ended, with what each attempt came to."""


def completion(chains: pl.DataFrame, attempts: pl.DataFrame, min_completion: float) -> pl.DataFrame:
    """Who completes enough of its chains to be ranked, and why the others are not.

    A chain that errors have left unfinished is no failure: where it could decide, the model waits for it.

    Args:
        chains: Columns `CHAIN`, one row a chain.
        attempts: Columns `ATTEMPT`, one row an attempt.
        min_completion: Share of its chains, 0 to 1, from which on a model is ranked.

    Returns:
        Frame `COMPLETION`, sorted by suite, dataset and model. The reason is `changes_shape` where most
        attempts have another shape than their input, `below_threshold`, or `unfinished` where the chains
        that are left decide. The share is compared in millionths, as whole numbers.

    Raises:
        MetricError: A column is absent, a status or verdict is unknown, a chain or attempt is there twice, or
            the share is not 0 to 1.

    References:
        The multi-step identity-drift leaderboard, section 4: ranked from 80 % on.

    """
    if not (math.isfinite(min_completion) and 0 <= min_completion <= 1):
        raise MetricError(f"min_completion is {min_completion}, not a share from 0 to 1")
    held = refuse_twice(
        columns_of(chains, CHAIN, "chains"), (*_KEY, "photo", "session"), "the chain is there twice"
    )
    _refuse_unknown(held["status"], STATUSES)
    tries = _checked(attempts).group_by(_KEY).agg(n_attempts=pl.len(), n_off_shape=_count("off_shape"))
    counts = held.group_by(_KEY).agg(
        n_chains=pl.len(),
        **{f"n_{status}": (pl.col("status") == status).sum() for status in STATUSES},
    )
    needed = pl.col("n_chains").cast(pl.Int64) * round(min_completion * PPM)
    complete, open_ones = (pl.col(f"n_{status}").cast(pl.Int64) for status in ("complete", "unfinished"))
    could_be = (complete + open_ones) * PPM
    reason = (
        pl.when(2 * pl.col("n_off_shape").cast(pl.Int64) > pl.col("n_attempts").cast(pl.Int64))
        .then(pl.lit("changes_shape"))
        .when(could_be < needed)
        .then(pl.lit("below_threshold"))
        .when(complete * PPM < needed)
        .then(pl.lit("unfinished"))
    )
    return (
        counts.join(tries, on=_KEY, how="left")
        .with_columns(pl.col("n_attempts", "n_off_shape").fill_null(0))
        .with_columns(reason=reason, threshold=pl.lit(min_completion))
        .with_columns(completion=complete / pl.col("n_chains"), ranked=pl.col("reason").is_null())
        .select(pl.col(name).cast(kind) for name, kind in COMPLETION.items())
        .sort(_KEY)
    )


def attempts_by_step(attempts: pl.DataFrame, most: int) -> pl.DataFrame:
    """At which attempt each step was made, and what the other attempts came to.

    Args:
        attempts: Columns `ATTEMPT`, one row an attempt.
        most: Attempts that a step may take, >= 1.

    Returns:
        Frame `ATTEMPTS`, sorted by suite, dataset, model and step.

    Raises:
        MetricError: As `completion`; or an attempt is above `most`.

    """
    held = _checked(attempts)
    if held.filter(pl.col("attempt") > most).height:
        raise MetricError(f"an attempt is above {most}")
    at = [((pl.col("attempt") == n) & (pl.col("verdict") == "made")).sum() for n in range(1, most + 1)]
    is_end = (pl.col("attempt") == most) & (pl.col("verdict") != "made")
    return (
        held.group_by(*_KEY, "step")
        .agg(
            (pl.col("attempt") == 1).sum().alias("n_tried"),
            *(count.cast(pl.Int64).alias(f"made_{n}") for n, count in enumerate(at, 1)),
            is_end.sum().alias("n_failed"),
            *(_count(verdict).alias(verdict) for verdict in VERDICTS[1:]),
        )
        .with_columns(made_at=pl.concat_list(f"made_{n}" for n in range(1, most + 1)))
        .select(pl.col(name).cast(kind) for name, kind in ATTEMPTS.items())
        .sort(*_KEY, "step")
    )


def failed_steps(attempts: pl.DataFrame, most: int) -> pl.DataFrame:
    """The steps at which chains ended.

    Args:
        attempts: Columns `ATTEMPT`, and `detail`: what is known of an attempt beyond its verdict, or null.
        most: Attempts that a step may take, >= 1.

    Returns:
        Frame `FAILED_STEPS`, sorted; each reason is a verdict, with its detail after a colon.

    Raises:
        MetricError: As `completion`.

    """
    key = (*_KEY, "photo", "session", "step")
    held = _checked(attempts).join(attempts.select(*key, "attempt", "detail"), on=[*key, "attempt"])
    ended = held.filter((pl.col("attempt") == most) & (pl.col("verdict") != "made")).select(key)
    told = pl.concat_str("verdict", pl.lit(": "), "detail")
    return (
        held.join(ended, on=key, how="semi")
        .sort(*key, "attempt")
        .group_by(key, maintain_order=True)
        .agg(reasons=pl.coalesce(told, "verdict"))
        .select(pl.col(name).cast(kind) for name, kind in FAILED_STEPS.items())
    )


def _checked(attempts: pl.DataFrame) -> pl.DataFrame:
    key = (*_KEY, "photo", "session", "step", "attempt")
    held = refuse_twice(columns_of(attempts, ATTEMPT, "attempts"), key, "the attempt is there twice")
    _refuse_unknown(held["verdict"], VERDICTS)
    return held


def _refuse_unknown(found: pl.Series, known: Sequence[str]) -> None:
    strange = found.filter(~found.is_in(list(known)))
    if found.null_count() or len(strange):
        raise MetricError(
            f"{found.name} {strange[0] if len(strange) else None!r} is none of {', '.join(known)}"
        )


def _count(verdict: str) -> pl.Expr:
    return (pl.col("verdict") == verdict).sum()
