"""What the calls of a run's models have cost, those that came to nothing included, over all its runs."""

from __future__ import annotations

from collections.abc import Iterable

from domain.records import OutcomeRecord
from domain.runs import ModelCalls, RunPlan
from tasks import wiring
from tasks.planning import finder, walks
from tasks.threads import in_thread


def calls_of(run: RunPlan, outcomes: Iterable[OutcomeRecord]) -> tuple[ModelCalls, ...]:
    """Of each model that is called over a provider, in the order of the run.

    What the provider does not tell is the card's price of each image. It is no part of a report, whose tables
    do not depend on how often a run was interrupted.
    """
    found = {card.id: ModelCalls(model=card.id) for card in run.cards}
    for outcome in outcomes:
        model = outcome.identity.model
        price_usd, so_far = run.card[model].price_usd, found[model]
        listed = price_usd if outcome.kind == "edited" else 0.0
        found[model] = ModelCalls(
            model=model,
            answers=so_far.answers + 1,
            lost=so_far.lost + outcome.lost_calls,
            cost_usd=so_far.cost_usd + (listed if outcome.cost_usd is None else outcome.cost_usd),
            maybe_paid_usd=so_far.maybe_paid_usd + outcome.lost_calls * price_usd,
        )
    return tuple(calls for name, calls in found.items() if not wiring.is_in_process(run.card[name].provider))


async def count_calls(run_id: str) -> tuple[ModelCalls, ...]:
    """What the calls of a run's models have cost so far, whichever run made them."""
    return await in_thread(_count_calls, run_id)


def _count_calls(run_id: str) -> tuple[ModelCalls, ...]:
    run, store = wiring.run_plan(run_id), wiring.store()
    photos = wiring.dataset(run.dataset)
    found = walks(run, photos, finder(run, photos, store))
    each_once = {outcome.key: outcome for walk in found for outcome in walk.outcomes}
    return calls_of(run, each_once.values())
