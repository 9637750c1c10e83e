"""Which chains of a run came to their last step, the images they ended with, and who completed enough."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from adapters.base import ObjectStore
from domain.photos import Dataset
from domain.runs import RunPlan
from domain.votes import VoteRules
from metrics import attempts
from tasks.histories import IS_MADE, History
from tasks.surveys import survey

SCHEMA = pl.Schema(
    {
        "model": pl.String,
        "photo": pl.String,
        "session": pl.String,
        "image_sha256": pl.String,
        "image_extension": pl.String,
    }
)


@dataclass(frozen=True)
class Finished:
    """The finished chains of a run."""

    chains: pl.DataFrame
    """One row each, in the order of models, photos and sessions: see `SCHEMA`."""
    completion: pl.DataFrame
    """Frame `metrics.attempts.COMPLETION`: which models are ranked, and why the others are not."""
    asked: tuple[tuple[str, str], ...]
    """Photo and session of every chain that each model was to take."""

    @property
    def unranked(self) -> dict[str, str]:
        """Models that are not ranked, each with the reason."""
        left_out = self.completion.filter(~pl.col("ranked"))
        return dict(left_out.select("model", "reason").sort("model").iter_rows())


def finished(run: RunPlan, photos: Dataset, store: ObjectStore) -> Finished:
    """Follow every chain of a run to its end; raises StoreError where the store cannot be read."""
    return finished_of(survey(run, photos, store).history)


def finished_of(history: History) -> Finished:
    """The same, of chains that were followed."""
    run = history.run
    last = history.steps.group_by("chain", maintain_order=True).last()
    ends = last.filter(status_of(history) == "complete").sort("chain")
    rows: list[tuple[str, ...]] = []
    for number, sha, extension in ends.select("chain", "image_sha256", "image_extension").iter_rows():
        chain = history.chain(number)
        rows.append((chain.model, chain.photo, chain.session, sha, extension))
    return Finished(pl.DataFrame(rows, SCHEMA, orient="row"), completion_of(history), asked(run))


def status_of(history: History) -> pl.Expr:
    """How a chain stands, by its number `chain` and the `verdict` of its last attempt.

    It is `complete` only when that attempt was made: an attempt that failed may have left an image, too.
    """
    is_open = pl.col("chain").is_in(history.open["chain"].implode())
    return (
        pl.when(is_open)
        .then(pl.lit("unfinished"))
        .when(IS_MADE)
        .then(pl.lit("complete"))
        .otherwise(pl.lit("stopped"))
    )


def completion_of(history: History) -> pl.DataFrame:
    """Who completes enough of a run's chains, by the one rule that scores, matches and rankings go by."""
    run = history.run
    named = {"suite": run.suite.id, "dataset": history.photos.id}
    photos, sessions = history.pairs
    numbers = [
        at * history.stride + photo * len(run.sessions) + session
        for at in range(len(run.cards))
        for photo, session in zip(photos.tolist(), sessions.tolist(), strict=True)
    ]
    chains = pl.DataFrame(
        [(number, *named.values(), *history.chain(number).model_dump().values()) for number in numbers],
        {"chain": pl.UInt32, **dict.fromkeys((*named, "model", "photo", "session"), pl.String)},
        orient="row",
    )
    tried = history.steps.select("chain", "step", "attempt", "verdict")
    last = tried.group_by("chain", maintain_order=True).agg(pl.col("verdict").last())
    ends = chains.join(last, on="chain", how="left").with_columns(status=status_of(history))
    return attempts.completion(ends, chains.join(tried, on="chain"), min_completion(run))


def min_completion(run: RunPlan) -> float:
    """Share of its chains that a model must complete to be ranked."""
    return (run.suite.votes or VoteRules()).min_completion


def asked(run: RunPlan) -> tuple[tuple[str, str], ...]:
    """Photo and session of every chain that each model of a run is to take."""
    return tuple(
        (photo, session.id)
        for photo in run.photos
        for session in run.sessions
        if session.photo in (None, photo)
    )
