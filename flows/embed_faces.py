"""Read the faces of every image of a run that has not been read: the flow of the GPU pool."""

from __future__ import annotations

from prefect import flow

from tasks.batches import faces_to_read, in_batches
from tasks.embedding import embed_batch


@flow(name="embed-faces", flow_run_name="embed {run_id}")
async def embed_faces(run_id: str, batch: int = 16, concurrency: int = 2) -> int:
    """Embed what is missing; returns how many images were read now.

    Args:
        run_id: A planned run.
        batch: Images whose faces go through recognition together.
        concurrency: Batches in flight.
    """
    pack, images = await faces_to_read(run_id)
    return await in_batches(
        "faces", images, batch, concurrency, lambda n, part: embed_batch(pack, n, part, return_state=True)
    )
