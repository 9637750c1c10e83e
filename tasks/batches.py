"""What is still to be measured of a run, and the batches in which it is done."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from itertools import count, islice
from typing import Any, TypeVar

from prefect.client.schemas.objects import State

from domain import keys
from domain.errors import IncompleteError
from domain.plan import Walk
from domain.runs import RunPlan
from tasks import wiring
from tasks.embedding import ImageKey
from tasks.judging import EditKey
from tasks.planning import finder, walks
from tasks.progress import Progress
from tasks.run_states import error_of
from tasks.threads import in_thread

Unit = TypeVar("Unit")


async def faces_to_read(run_id: str) -> tuple[str, list[ImageKey]]:
    """The face pack of a run, and its images without a face record."""
    return await in_thread(_faces_to_read, run_id)


def _faces_to_read(run_id: str) -> tuple[str, list[ImageKey]]:
    run, store = wiring.run_plan(run_id), wiring.store()
    fingerprint = keys.fingerprint(run.embedder)
    missing = [i for i in _images(run) if store.head(keys.faces(fingerprint, i.sha256)) is None]
    return run.suite.embedder.pack, missing


async def states_to_track(run_id: str) -> list[ImageKey]:
    """The images of a run without a state record, base photos included."""
    return await in_thread(_states_to_track, run_id)


def _states_to_track(run_id: str) -> list[ImageKey]:
    run, store = wiring.run_plan(run_id), wiring.store()
    fingerprint = keys.fingerprint(run.tracker)
    return [i for i in _images(run) if store.head(keys.state(fingerprint, i.sha256)) is None]


async def edits_to_judge(run_id: str) -> list[EditKey]:
    """The edits of a run without a judgement."""
    return await in_thread(_edits_to_judge, run_id)


def _edits_to_judge(run_id: str) -> list[EditKey]:
    run, store = wiring.run_plan(run_id), wiring.store()
    fingerprint = keys.fingerprint(run.judge)
    edits = dict.fromkeys(edit for walk in _walks(run) for edit in _edits(run, walk))
    return [edit for edit in edits if store.head(keys.judgement(fingerprint, edit.key)) is None]


async def in_batches(
    what: str,
    units: Sequence[Unit],
    size: int,
    concurrency: int,
    start: Callable[[int, tuple[Unit, ...]], Awaitable[State[Any]]],
) -> int:
    """Work through units in numbered batches, some at a time; the sum of what they return.

    Every batch is tried; the first error is raised once all are done, so that one bad batch costs no other.

    Raises:
        IncompleteError: some batches failed; `done` counts what was done all the same.
    """
    queue, numbers = iter(units), count(1)
    progress = Progress(what, len(units))
    states: list[State[Any]] = []

    async def work() -> None:
        while part := tuple(islice(queue, size)):
            states.append(await start(next(numbers), part))
            await progress.add(len(part), failed=0 if states[-1].is_completed() else len(part))

    await asyncio.gather(*(work() for _ in range(concurrency)))
    errors = [error for state in states if (error := await error_of(state))]
    done = sum([await state.aresult() for state in states if state.is_completed()])
    if errors:
        done += sum(error.done for error in errors if isinstance(error, IncompleteError))
        raise IncompleteError(str(errors[0]), done=done)
    return done


def _walks(run: RunPlan) -> Iterator[Walk]:
    photos = wiring.dataset(run.dataset)
    return walks(run, photos, finder(run, photos, wiring.store()))


def _images(run: RunPlan) -> list[ImageKey]:
    photos = wiring.dataset(run.dataset)
    base = (photos.by_id[name] for name in run.photos)
    found = dict.fromkeys(ImageKey(sha256=photo.image_sha256, extension=photo.extension) for photo in base)
    for walk in _walks(run):
        for outcome in walk.outcomes:
            if outcome.image:
                found[ImageKey(sha256=outcome.image.sha256, extension=outcome.image.extension)] = None
    return list(found)


def _edits(run: RunPlan, walk: Walk) -> Iterator[EditKey]:
    photo = wiring.dataset(run.dataset).by_id[walk.chain.photo]
    before = ImageKey(sha256=photo.image_sha256, extension=photo.extension)
    for outcome in walk.outcomes:
        if outcome.image:
            after = ImageKey(sha256=outcome.image.sha256, extension=outcome.image.extension)
            yield EditKey(before=before, after=after, prompt=outcome.identity.prompt)
            before = after
