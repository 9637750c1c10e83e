"""What the calls of a run's models have cost, those that came to nothing included, over all its runs."""

from __future__ import annotations

import polars as pl

from domain.runs import RunPlan
from domain.summaries import ModelCalls
from tasks import wiring
from tasks.surveys import survey
from tasks.threads import in_thread

COLUMNS = ("key", "model", "kind", "cost_usd", "lost_calls")
"""Of the table of finished steps."""


def calls_of(run: RunPlan, finished: pl.DataFrame) -> tuple[ModelCalls, ...]:
    """Of each model that is called over a provider, in the order of the run.

    What the provider does not tell is the card's price of each image. It is no part of a report, whose tables
    do not depend on how often a run was interrupted.
    """
    prices = pl.DataFrame(
        {"model": [card.id for card in run.cards], "price_usd": [card.price_usd for card in run.cards]}
    )
    listed = pl.when(pl.col("kind") == "edited").then("price_usd").otherwise(0.0)
    counted = (
        finished.unique("key", keep="first", maintain_order=True)
        .join(prices, on="model", maintain_order="left")
        .group_by("model")
        .agg(
            answers=pl.len(),
            lost=pl.col("lost_calls").sum(),
            cost_usd=pl.coalesce("cost_usd", listed).sum(),
            maybe_paid_usd=(pl.col("lost_calls") * pl.col("price_usd")).sum(),
        )
    )
    found = {row["model"]: ModelCalls(**row) for row in counted.iter_rows(named=True)}
    called = [card.id for card in run.cards if not wiring.is_in_process(card.provider)]
    return tuple(found.get(name, ModelCalls(model=name)) for name in called)


async def count_calls(run_id: str) -> tuple[ModelCalls, ...]:
    """What the calls of a run's models have cost so far, whichever run made them."""
    return await in_thread(_count_calls, run_id)


def _count_calls(run_id: str) -> tuple[ModelCalls, ...]:
    run, store = wiring.run_plan(run_id), wiring.store()
    return calls_of(run, survey(run, wiring.dataset(run.dataset), store, COLUMNS).history.steps)
