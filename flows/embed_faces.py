"""Read the faces of every image of a run that has not been read: the flow of the GPU pool."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any

from prefect import flow
from prefect.client.schemas.objects import State

from domain.runs import Measured
from tasks.batches import faces_to_read, in_batches
from tasks.embedding import ImageKey, embed_batch
from tasks.run_states import ended


@flow(name="embed-faces", flow_run_name="embed {run_id}")
async def embed_faces(run_id: str, batch: int = 16, concurrency: int = 2) -> Measured:
    """Embed what is missing; returns how many images were read now.

    Args:
        run_id: A planned run.
        batch: Images whose faces go through recognition together.
        concurrency: Batches in flight.
    """
    pack, images = await faces_to_read(run_id)

    def start(number: int, part: tuple[ImageKey, ...]) -> Awaitable[State[Any]]:
        return ended(embed_batch(pack, number, part, return_state=True))

    return Measured(done=await in_batches("faces", images, batch, concurrency, start))
