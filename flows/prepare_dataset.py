"""From files to a dataset in the store: exactly one face each, rejections with their reasons."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from typing import Any

from prefect import flow
from prefect.client.schemas.objects import State

from domain.suites import Suite
from tasks.batches import LOCAL_BATCH, LOCAL_CONCURRENCY, in_batches
from tasks.embedding import ImageKey, embed_batch
from tasks.preparing import faces_of_photos, look_at_photos, mirror_photos, put_dataset_together
from tasks.preparing_pages import show_dataset
from tasks.run_states import ended


@flow(name="prepare-dataset", flow_run_name="prepare {suite.dataset.id}")
async def prepare_dataset(suite: Suite) -> str:
    """Prepare a suite's photos; returns the key of the dataset manifest.

    What was decoded or embedded before is not done again, so that adding photos costs only those.

    Args:
        suite: The suite, with the dataset that is to be read.
    """
    listing = await look_at_photos(suite)
    await _embed(suite, listing)
    listing = await mirror_photos(suite, listing)
    await _embed(suite, listing)
    dataset = await put_dataset_together(suite, listing)
    await show_dataset(dataset)
    return dataset


async def _embed(suite: Suite, listing: str) -> None:
    images = await faces_of_photos(suite, listing)
    if images:
        await embed_photos(suite.embedder.pack, images)


async def embed_photos(pack: str, images: Sequence[ImageKey]) -> None:
    """Read the faces of some photos in this process."""

    def start(number: int, part: tuple[ImageKey, ...]) -> Awaitable[State[Any]]:
        return ended(embed_batch(pack, number, part, return_state=True))

    await in_batches("photos embedded", images, LOCAL_BATCH, LOCAL_CONCURRENCY, start)
