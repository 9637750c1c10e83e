"""Reading the faces of images: in batches, each image once per embedder."""

from __future__ import annotations

from collections.abc import Sequence

from prefect import task
from pydantic import BaseModel, ConfigDict

from adapters.base import Embedder, ObjectStore
from domain import keys
from domain.errors import IncompleteError
from domain.records import EmbedderIdentity, FaceRecord
from tasks import ledger, policies, wiring
from tasks.one_by_one import one_by_one
from tasks.threads import in_thread


class ImageKey(BaseModel):
    """Names an image of the store."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    sha256: str
    extension: str


def read_faces(
    images: Sequence[ImageKey], identity: EmbedderIdentity, embedder: Embedder, store: ObjectStore
) -> int:
    """Store a face record for each image that has none; return how many were read now."""
    fingerprint = keys.fingerprint(identity)
    missing = [image for image in images if store.head(keys.faces(fingerprint, image.sha256)) is None]
    there: list[tuple[ImageKey, bytes]] = []

    def load(image: ImageKey) -> bool:
        there.append((image, ledger.read_image(store, image.sha256, image.extension)))
        return True

    gone: IncompleteError | None = None
    try:
        one_by_one(missing, load)
    except IncompleteError as error:
        gone = error
    for (image, _), reading in zip(there, embedder.read([data for _, data in there]), strict=True):
        record = FaceRecord(
            image_sha256=image.sha256, embedder=identity, providers=embedder.providers(), reading=reading
        )
        ledger.write_new(store, keys.faces(fingerprint, image.sha256), record)
    if gone:
        raise gone
    return len(there)


@task(task_run_name="embed batch {number}", **policies.MEASURE)
async def embed_batch(pack: str, number: int, images: tuple[ImageKey, ...]) -> int:
    """One batch of images, named by their keys."""
    return await in_thread(_embed_batch, pack, images)


def _embed_batch(pack: str, images: tuple[ImageKey, ...]) -> int:
    return read_faces(images, wiring.embedder_identity(pack), wiring.embedder(pack), wiring.store())
