"""Say which categories are seen in every image of a run that has not been tracked."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any

from prefect import flow
from prefect.client.schemas.objects import State

from tasks.batches import in_batches, states_to_track
from tasks.embedding import ImageKey
from tasks.judging import track_batch
from tasks.run_states import ended


@flow(name="track-states", flow_run_name="track {run_id}")
async def track_states(run_id: str, batch: int = 16, concurrency: int = 2) -> int:
    """Track what is missing; returns how many images were tracked now.

    Args:
        run_id: A planned run.
        batch: Images in one task run.
        concurrency: Batches in flight.
    """
    images = await states_to_track(run_id)

    def start(number: int, part: tuple[ImageKey, ...]) -> Awaitable[State[Any]]:
        return ended(track_batch(run_id, number, part, return_state=True))

    return await in_batches("states", images, batch, concurrency, start)
