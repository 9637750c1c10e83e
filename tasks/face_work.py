"""Images whose faces are to be read, as lists in the store: a worker elsewhere is given a list's name."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict

from domain import keys
from domain.errors import StoreError
from domain.runs import Measured
from tasks import ledger, wiring
from tasks.embedding import ImageKey
from tasks.threads import in_thread

PART_IMAGES = 2000
"""Images of one list: minutes of work for one GPU."""


class FaceWork(BaseModel):
    """Images of one face pack."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    pack: str
    images: tuple[ImageKey, ...]


async def put_face_work(pack: str, images: Sequence[ImageKey]) -> list[str]:
    """Store images as lists of bounded length; their names, which are the same for the same images."""
    return await in_thread(_put_face_work, pack, images)


def _put_face_work(pack: str, images: Sequence[ImageKey]) -> list[str]:
    store, names = wiring.store(), list[str]()
    for start in range(0, len(images), PART_IMAGES):
        work = FaceWork(pack=pack, images=tuple(images[start : start + PART_IMAGES]))
        names.append(keys.fingerprint(work))
        ledger.write_new(store, keys.face_work(names[-1]), work)
    return names


async def read_face_work(name: str) -> FaceWork:
    """A list by its name; raises StoreError when there is none."""
    found = await in_thread(ledger.read, wiring.store(), keys.face_work(name), FaceWork)
    if found is None:
        raise StoreError(f"no list of images {name!r} in the store", key=keys.face_work(name))
    return found


async def keep_face_work_done(name: str, ended: Measured) -> None:
    """Store how the reading of a list ended."""
    data = ended.model_dump_json().encode()
    await in_thread(wiring.store().put, keys.face_work_done(name), data)


async def face_work_done(name: str) -> Measured | None:
    """How the latest reading of a list ended; None when it never came to an end."""
    return await in_thread(ledger.read, wiring.store(), keys.face_work_done(name), Measured)
