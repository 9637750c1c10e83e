"""From original files to the photos of an identity-drift suite: cropped, resized, screened, attributed."""

from __future__ import annotations

from prefect import flow

from flows.embed_faces import embed_listing
from flows.forms import PrepareForm
from tasks.own_photos import everyday_suite
from tasks.preparing_pages import show_dataset
from tasks.preparing_stages import cut_photos, look_at_photos, put_dataset_together


@flow(name="prepare-photos", flow_run_name="prepare photos of {request.suite}")
async def prepare_photos(request: PrepareForm) -> str:
    """Prepare the everyday photos of a suite; returns the key of the dataset manifest.

    The suite's prompt chains need not be there yet: they are written for photos that were prepared. What was
    decoded, cropped or read before is not done again.

    Args:
        request: Whose photos.

    Raises:
        DefinitionError: the suite has no everyday photos, none can be used, or they are not there.
        IncompleteError: some faces could not be read; what was read is kept.
    """
    suite = everyday_suite(request.suite, request.images_dir)
    listing = await look_at_photos(suite)
    await embed_listing(suite, listing)
    listing = await cut_photos(suite, listing)
    await embed_listing(suite, listing)
    dataset = await put_dataset_together(suite, listing)
    await show_dataset(dataset)
    return dataset
