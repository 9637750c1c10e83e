"""Read the faces of images that have not been read: the flow of the GPU pool."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from typing import Any

from prefect import flow
from prefect.client.schemas.objects import State

from domain.errors import IncompleteError
from domain.runs import Measured
from domain.suites import Suite
from tasks.batches import in_batches
from tasks.embedding import ImageKey, embed_batch
from tasks.face_work import face_work_done, keep_face_work_done, put_face_work, read_face_work
from tasks.pools import error_on_pool, on_pool, run_on_pool
from tasks.preparing_stages import faces_of_photos
from tasks.run_states import ended, error_of

DEPLOYMENT = "embed-faces/gpu"
PARTS_AT_ONCE = 16
"""Lists handed to the pool at the same time; its workers decide how many are in work."""


@flow(name="embed-faces", flow_run_name="embed {work}")
async def embed_faces(work: str, batch: int = 16, concurrency: int = 2) -> Measured:
    """Embed what is missing of a list; returns how many images were read now.

    Args:
        work: Name of a list of images in the store; see `tasks.face_work`.
        batch: Images whose faces go through recognition together.
        concurrency: Batches in flight.
    """
    listed = await read_face_work(work)

    def start(number: int, part: tuple[ImageKey, ...]) -> Awaitable[State[Any]]:
        return ended(embed_batch(listed.pack, number, part, return_state=True))

    try:
        done = Measured(done=await in_batches("faces", listed.images, batch, concurrency, start))
    except IncompleteError as error:
        await keep_face_work_done(work, Measured(done=error.done, problem=str(error)))
        raise
    await keep_face_work_done(work, done)
    return done


async def embed_images(pack: str, images: Sequence[ImageKey]) -> Measured:
    """Read the faces of images, on the GPU pool where there is one and in this process where not.

    Raises:
        IncompleteError: some were not read; `done` counts those that were.
    """
    names = await put_face_work(pack, images)
    if names and await on_pool(DEPLOYMENT):
        at_once = asyncio.Semaphore(PARTS_AT_ONCE)
        parts = await asyncio.gather(*(_on_pool(name, at_once) for name in names))
    else:
        parts = [await _here(name) for name in names]
    done = sum(part.done for part in parts)
    problems = [part.problem for part in parts if part.problem]
    if problems:
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        raise IncompleteError(f"{problems[0]}{more}", done=done)
    return Measured(done=done)


async def embed_listing(suite: Suite, listing: str) -> None:
    """Read the faces of the photos of a listing that were not read; raises IncompleteError as above."""
    images = await faces_of_photos(suite, listing)
    if images:
        await embed_images(suite.embedder.pack, images)


async def _here(name: str) -> Measured:
    state = await ended(embed_faces(name, return_state=True))
    error = await error_of(state)
    if error is None:
        return await state.aresult()
    return Measured(done=getattr(error, "done", 0), problem=str(error))


async def _on_pool(name: str, at_once: asyncio.Semaphore) -> Measured:
    async with at_once:
        state = await run_on_pool(DEPLOYMENT, {"work": name}, f"embed {name[:12]}")
    error = error_on_pool(f"embed-faces of {name[:12]}", state)
    if error is None:
        return await face_work_done(name) or Measured(done=0, problem=f"{name} has no record of its end")
    told = await face_work_done(name)
    return told if told and told.problem else Measured(done=0, problem=str(error))
