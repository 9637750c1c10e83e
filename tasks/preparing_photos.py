"""Looking at the files of a source: each content is decoded once, ever, and what was found is kept."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from adapters.base import ObjectStore
from adapters.datasets.source import DatasetSource, SourcePhoto
from adapters.imaging.decode import VERSION as DECODER
from adapters.imaging.decode import decode_rgb, decode_with_facts, one_large_at_a_time
from adapters.imaging.thumbnails import mirrored, perceptual_hash, thumbnail
from domain import keys
from domain.errors import PhotoError
from domain.photos import Candidate, LeftOut, Listing, MirrorRecord, PhotoRecord
from tasks import ledger
from tasks.progress import Progress

Item = TypeVar("Item")
Result = TypeVar("Result")

MOST_WORKERS = 8


def workers() -> int:
    """Threads for work that fills a core each."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(usable, MOST_WORKERS)


def list_photos(dataset_id: str, source: DatasetSource, store: ObjectStore) -> Listing:
    """Look at every file of a source, store what decodes, and say why the others do not."""
    candidates: list[Candidate] = []
    left_out: list[LeftOut] = []
    total = len(source) if hasattr(source, "__len__") else None  # pyright: ignore[reportArgumentType]
    progress = Progress("photos looked at", total)
    for item in side_by_side(lambda found: _look(found, store), source.read()):
        if isinstance(item, Candidate):
            candidates.append(item)
        else:
            left_out.append(item)
        progress.count()
    return Listing(id=dataset_id, candidates=tuple(candidates), left_out=tuple(left_out))


def side_by_side(work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """Results in order, worked out by a few threads; only so many items are taken ahead of time."""
    threads = workers()
    with ThreadPoolExecutor(threads, thread_name_prefix="photos") as pool:
        waiting: deque[Future[Result]] = deque()
        for item in items:
            waiting.append(pool.submit(work, item))
            if len(waiting) > 2 * threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _look(item: SourcePhoto | LeftOut, store: ObjectStore) -> Candidate | LeftOut:
    if isinstance(item, LeftOut):
        return item
    record = photo_record(item.data, store)
    if record.reason is not None:
        return LeftOut(source=item.source, reason=record.reason, detail=record.detail, subject=item.subject)
    return Candidate(
        id=item.id,
        subject=item.subject,
        source=item.source,
        licence=item.licence,
        groups=dict(item.groups),
        role=item.role,
        content=record,
        credit=item.credit,
    )


def photo_record(data: bytes, store: ObjectStore) -> PhotoRecord:
    """What decoding says of some bytes; they are decoded only where nothing was kept of them.

    Bytes that decode are in the store afterwards, with a thumbnail.
    """
    sha = keys.sha256(data)
    known = ledger.read(store, keys.photo(DECODER, sha), PhotoRecord)
    if known is None:
        with one_large_at_a_time(data):
            known = _decoded(sha, data, store)
        ledger.write_new(store, keys.photo(DECODER, sha), known)
    elif known.reason is None and store.head(keys.image(sha, known.extension)) is None:
        store.put_new(keys.image(sha, known.extension), data)
    return known


def _decoded(sha: str, data: bytes, store: ObjectStore) -> PhotoRecord:
    try:
        facts, pixels = decode_with_facts(data)
    except PhotoError as error:
        return PhotoRecord(sha256=sha, decoder=DECODER, reason=error.reason, detail=str(error))
    store.put_new(keys.image(sha, facts.extension), data)
    store.put_new(keys.thumbnail(DECODER, sha), thumbnail(pixels))
    return PhotoRecord(
        sha256=sha,
        decoder=DECODER,
        extension=facts.extension,
        width=facts.width,
        height=facts.height,
        perceptual_hash=perceptual_hash(pixels),
        notes=facts.notes,
    )


def mirror_of(candidate: Candidate, store: ObjectStore) -> Candidate:
    """The mirror image of a photo as a candidate of its own; made once."""
    known = ledger.read(store, keys.mirror(DECODER, candidate.content.sha256), MirrorRecord)
    made = ledger.read(store, keys.photo(DECODER, known.sha256), PhotoRecord) if known else None
    if made is None:
        made = _made_mirror(candidate.content, store)
    return candidate.model_copy(
        update={
            "id": f"{candidate.id}-mirrored",
            "source": f"{candidate.source} (mirrored)",
            "role": "reference",
            "content": made,
            "derived_from": candidate.id,
        }
    )


def _made_mirror(photo: PhotoRecord, store: ObjectStore) -> PhotoRecord:
    data = ledger.read_image(store, photo.sha256, photo.extension)
    with one_large_at_a_time(data):
        made = photo_record(mirrored(decode_rgb(data)), store)
    record = MirrorRecord(of_sha256=photo.sha256, sha256=made.sha256)
    ledger.write_new(store, keys.mirror(DECODER, photo.sha256), record)
    return made
