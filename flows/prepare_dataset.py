"""From files to a dataset in the store: exactly one face each, rejections with their reasons."""

from __future__ import annotations

from prefect import flow

from domain.requests import RunRequest
from flows.embed_faces import embed_listing
from flows.forms import PrepareForm
from flows.prepare_photos import prepare_photos
from tasks.planning import resolve
from tasks.preparing import screened_options
from tasks.preparing_pages import show_dataset
from tasks.preparing_stages import look_at_photos, mirror_photos, put_dataset_together


@flow(name="prepare-dataset", flow_run_name="prepare {request.suite}")
async def prepare_dataset(request: PrepareForm) -> str:
    """Prepare a suite's photos; returns the key of the dataset manifest.

    What was decoded or embedded before is not done again, so that adding photos costs only those. Everyday
    photos are prepared by `prepare_photos`.

    Args:
        request: Whose photos.

    Raises:
        DefinitionError: no photo can be used, or the photos are not there.
        IncompleteError: some faces could not be read; what was read is kept.
    """
    suite = resolve(RunRequest(suite=request.suite, images_dir=request.images_dir)).suite
    if screened_options(suite.dataset):
        return await prepare_photos(request)
    listing = await look_at_photos(suite)
    await embed_listing(suite, listing)
    listing = await mirror_photos(suite, listing)
    await embed_listing(suite, listing)
    dataset = await put_dataset_together(suite, listing)
    await show_dataset(dataset)
    return dataset
