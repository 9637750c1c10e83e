"""Say which categories are seen in every image of a run that has not been tracked."""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import replace
from typing import Any

from prefect import flow
from prefect.client.schemas.objects import State

from domain.runs import Measured
from tasks.batches import ask_in_batches, states_to_track
from tasks.embedding import ImageKey
from tasks.judging import track_batch
from tasks.limits import slots
from tasks.run_states import ended


@flow(name="track-states", flow_run_name="track {run_id}")
async def track_states(run_id: str, max_cost_usd: float | None = None) -> Measured:
    """Track what is missing; returns how many images were tracked now, and what that cost.

    Args:
        run_id: A planned run.
        max_cost_usd: No answer is asked for that would bring the cost above it.
    """
    work = await states_to_track(run_id)

    def start(number: int, part: tuple[ImageKey, ...]) -> Awaitable[State[Any]]:
        return ended(track_batch(run_id, number, part, return_state=True))

    async with slots(run_id, work.provider, work.concurrency) as concurrency:
        work = replace(work, concurrency=concurrency)
        return await ask_in_batches("states", run_id, work, max_cost_usd, start)
