"""Cutting the face out of the last image of each chain: once per image, by a square found once per photo."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from prefect import task
from pydantic import BaseModel, ConfigDict

from adapters.base import ObjectStore
from adapters.imaging import crops
from domain import keys
from domain.crops import CROP_PIXELS, crop_box
from domain.errors import StoreError
from domain.matches import CropBox, CropRecord
from domain.photos import Photo
from domain.records import ImageRef
from domain.runs import RunPlan
from tasks import ledger, policies, wiring
from tasks.embedding import ImageKey
from tasks.one_by_one import one_by_one
from tasks.threads import in_thread, on_threads

BATCH, CONCURRENCY = 16, 2


class CropWork(BaseModel):
    """An image out of which the face of a photo's person is cut."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    photo: str
    image: ImageKey


def found_box(run: RunPlan, photo: Photo, store: ObjectStore) -> CropBox:
    """The square of a photo: the stored one, or the one around its largest face, which is then stored.

    The faces are those that the run's embedder read on the photo; without a reading it is the face that the
    dataset names.

    Raises:
        PhotoError: no face was found on it.
    """
    key = keys.crop_box(photo.id, photo.image_sha256)
    there = ledger.read(store, key, CropBox)
    if there is not None:
        return there
    record = ledger.faces(store, keys.fingerprint(run.embedder), photo.image_sha256)
    boxes = [face.box for face in record.reading.faces] if record else [photo.box]
    ledger.write_new(store, key, crop_box(photo.id, photo.image_sha256, (photo.width, photo.height), boxes))
    return _expect(store, key)


def _expect(store: ObjectStore, key: str) -> CropBox:
    found = ledger.read(store, key, CropBox)  # of whoever wrote it first
    if found is None:
        raise StoreError(f"the square {key!r} was there and is gone; run again", key=key)
    return found


def crop_key(box: CropBox, image_sha256: str, how: str = crops.CUTTER) -> str:
    """Where the record of a crop is: of another square or another way of cutting it is another crop."""
    return keys.crop(keys.fingerprint({"box": box.model_dump(mode="json"), "cutter": how}), image_sha256)


def cut_face(box: CropBox, image: ImageKey, store: ObjectStore) -> bool:
    """Store the face of an image unless it is there; True when it was cut now.

    Raises:
        PhotoError: the image does not decode.
        StoreError: it is gone or altered.
    """

    def make() -> bytes:
        return crops.cut(ledger.read_image(store, image.sha256, image.extension), box)

    return _keep(box, image.sha256, crops.CUTTER, make, store)


def degraded_face(crop: CropRecord, store: ObjectStore) -> str:
    """The sha256 of a crop that nobody can recognise, made of a stored one and stored beside it."""
    return _made_of(crop, crops.DEGRADER, crops.degraded, store)


def twin_face(crop: CropRecord, shown_on: str, store: ObjectStore) -> str:
    """The sha256 of a crop that looks like a stored one and is another picture, on each photo its own."""
    name = f"{crop.box.photo} on {shown_on}"
    return _made_of(crop, f"{crops.TWIN}: {name}", lambda data: crops.twin(data, name), store)


def _made_of(crop: CropRecord, how: str, make: Callable[[bytes], bytes], store: ObjectStore) -> str:
    box, image = crop.box, crop.image_sha256
    _keep(box, image, how, lambda: make(ledger.read_image(store, crop.crop_sha256, "png")), store)
    found = ledger.read(store, crop_key(box, image, how), CropRecord)
    if found is None:
        raise StoreError("a crop was there and is gone; run again")
    return found.crop_sha256


def _keep(box: CropBox, image_sha256: str, how: str, make: Callable[[], bytes], store: ObjectStore) -> bool:
    key = crop_key(box, image_sha256, how)
    if ledger.read(store, key, CropRecord) is not None:
        return False
    data = make()
    ref = ImageRef(
        sha256=keys.sha256(data),
        extension="png",
        content_type="image/png",
        width=CROP_PIXELS,
        height=CROP_PIXELS,
        size_bytes=len(data),
    )
    ledger.write_image(store, data, ref)
    record = CropRecord(image_sha256=image_sha256, box=box, cutter=how, crop_sha256=ref.sha256)
    return ledger.write_new(store, key, record)


def stored_crops(run: RunPlan, work: Sequence[CropWork], store: ObjectStore) -> list[CropRecord | None]:
    """Of each image the record of its crop, where there is one."""
    photos = wiring.dataset(run.dataset).by_id

    def read(one: CropWork) -> CropRecord | None:
        box = ledger.read(store, keys.crop_box(one.photo, photos[one.photo].image_sha256), CropBox)
        return ledger.read(store, crop_key(box, one.image.sha256), CropRecord) if box else None

    return on_threads(read, work)


def missing_crops(run: RunPlan, work: Sequence[CropWork], store: ObjectStore) -> list[CropWork]:
    """The images whose face is still to be cut out."""
    return [one for one, record in zip(work, stored_crops(run, work, store), strict=True) if record is None]


@task(task_run_name="crop batch {number}", **policies.MEASURE)
async def crop_batch(run_id: str, number: int, work: tuple[CropWork, ...]) -> int:
    """One batch of images, named by their keys; how many faces were cut out now."""
    return await in_thread(_crop_batch, run_id, work)


def _crop_batch(run_id: str, work: tuple[CropWork, ...]) -> int:
    run, store = wiring.run_plan(run_id), wiring.store()
    photos = wiring.dataset(run.dataset).by_id
    return one_by_one(work, lambda one: cut_face(found_box(run, photos[one.photo], store), one.image, store))
