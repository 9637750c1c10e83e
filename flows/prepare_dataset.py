"""From files to a dataset in the store: exactly one face each, rejections with their reasons."""

from __future__ import annotations

from prefect import flow

from domain.requests import RunRequest
from domain.suites import Suite
from flows.embed_faces import embed_images
from flows.forms import PrepareForm
from tasks.planning import resolve
from tasks.preparing import faces_of_photos, look_at_photos, mirror_photos, put_dataset_together
from tasks.preparing_pages import show_dataset


@flow(name="prepare-dataset", flow_run_name="prepare {request.suite}")
async def prepare_dataset(request: PrepareForm) -> str:
    """Prepare a suite's photos; returns the key of the dataset manifest.

    What was decoded or embedded before is not done again, so that adding photos costs only those.

    Args:
        request: Whose photos.

    Raises:
        DefinitionError: no photo can be used, or the photos are not there.
        IncompleteError: some faces could not be read; what was read is kept.
    """
    suite = resolve(RunRequest(suite=request.suite, images_dir=request.images_dir)).suite
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
        await embed_images(suite.embedder.pack, images)
