"""From files to a dataset: exactly one face each, base apart from reference, every rejection counted."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby, islice

import numpy as np
from PIL import Image
from prefect import task

from adapters.base import Embedder, ObjectStore
from adapters.datasets.source import DatasetSource, SourcePhoto
from adapters.imaging.decode import decode_rgb, inspect_image
from domain import keys
from domain.errors import DefinitionError
from domain.photos import Dataset, LeftOut, Photo, Role
from domain.records import EmbedderIdentity, FaceReading, FaceRecord
from domain.suites import Suite
from metrics.similarity import cosine_to_references
from metrics.vectors import decode_embedding
from tasks import ledger, policies, wiring
from tasks.threads import in_thread

BATCH = 16
"""Photos decoded and embedded at a time; bounds memory."""


@dataclass(frozen=True)
class _Usable:
    photo: SourcePhoto
    reading: FaceReading
    sha256: str
    extension: str


def prepare(
    dataset_id: str,
    source: DatasetSource,
    embedder: Embedder,
    identity: EmbedderIdentity,
    store: ObjectStore,
    *,
    min_fss0: float = 0.0,
) -> Dataset:
    """Read a source into the store and say what became a photo and what was left out.

    Of each subject the first usable photo is the base photo and the others are references. A subject with
    one photo gets its mirror image as reference, marked as derived: it then says that the person is still
    there, not how the person looks on another day. A base photo whose FSS₀ is below `min_fss0` is left out;
    0 keeps all.

    Raises:
        DefinitionError: no photo can be used; the message counts the reasons.
    """
    photos: list[Photo] = []
    left_out: list[LeftOut] = []
    seen: set[str] = set()
    reader = _Reader(embedder, identity, store)
    for group in _by_subject(source.read()):
        usable: list[_Usable] = []
        for item in reader.look_at(group):
            if isinstance(item, LeftOut):
                left_out.append(item)
            elif item.sha256 in seen:
                left_out.append(
                    LeftOut(source=item.photo.source, reason="duplicate", detail="same bytes as another")
                )
            else:
                seen.add(item.sha256)
                usable.append(item)
        photos.extend(_roles(usable, reader, left_out, min_fss0))
    if not any(photo.role == "base" for photo in photos):
        raise DefinitionError(
            f"no photo of {dataset_id!r} can be used: {_reasons(left_out)}", field="dataset"
        )
    return Dataset(
        id=dataset_id,
        embedder_fingerprint=keys.fingerprint(identity),
        photos=tuple(photos),
        left_out=tuple(left_out),
    )


class _Reader:
    """Reads photos in batches and stores the bytes and the reading of each usable one."""

    def __init__(self, embedder: Embedder, identity: EmbedderIdentity, store: ObjectStore) -> None:
        self._embedder = embedder
        self._identity = identity
        self._fingerprint = keys.fingerprint(identity)
        self._store = store

    def look_at(self, items: Iterable[SourcePhoto | LeftOut]) -> Iterator[_Usable | LeftOut]:
        """The same items in order, each usable or left out with its reason."""
        items = iter(items)
        while batch := list(islice(items, BATCH)):
            found = [item for item in batch if isinstance(item, SourcePhoto)]
            readings = iter(self._read([item.data for item in found]))
            for item in batch:
                yield item if isinstance(item, LeftOut) else self._accept(item, next(readings))

    def _read(self, images: list[bytes]) -> list[FaceReading]:
        known = {
            keys.sha256(data): ledger.faces(self._store, self._fingerprint, keys.sha256(data))
            for data in images
        }
        unread = [data for data in images if known[keys.sha256(data)] is None]
        fresh = dict(zip(map(keys.sha256, unread), self._embedder.read(unread), strict=True))
        stored = {sha: record.reading for sha, record in known.items() if record}
        return [(stored | fresh)[keys.sha256(data)] for data in images]

    def _accept(self, item: SourcePhoto, reading: FaceReading) -> _Usable | LeftOut:
        if reading.status == "unreadable":
            reason, _, detail = (reading.detail or "unreadable").partition(": ")
            return LeftOut(source=item.source, reason=reason, detail=detail)
        if len(reading.faces) != 1:
            reason = "several_faces" if reading.faces else "no_face"
            detail = f"{len(reading.faces)} faces found, exactly one is needed"
            return LeftOut(source=item.source, reason=reason, detail=detail)
        sha, extension = keys.sha256(item.data), inspect_image(item.data).extension
        self._store.put_new(keys.image(sha, extension), item.data)
        record = FaceRecord(
            image_sha256=sha, embedder=self._identity, providers=self._embedder.providers(), reading=reading
        )
        ledger.write_new(self._store, keys.faces(self._fingerprint, sha), record)
        return _Usable(item, reading, sha, extension)


def _by_subject(
    items: Iterable[SourcePhoto | LeftOut],
) -> Iterator[Iterator[SourcePhoto | LeftOut]]:
    """Subject after subject; what was left out unread stays among its neighbours and parts nobody."""
    subject: str | None = None

    def subject_of(item: SourcePhoto | LeftOut) -> str | None:
        nonlocal subject
        subject = item.subject if isinstance(item, SourcePhoto) else subject
        return subject

    return (group for _, group in groupby(items, key=subject_of))


def _roles(usable: list[_Usable], reader: _Reader, left_out: list[LeftOut], min_fss0: float) -> list[Photo]:
    if not usable:
        return []
    base, *references = usable
    derived_from = None
    if not references:
        [mirrored] = reader.look_at([_mirror(base.photo)])
        if isinstance(mirrored, LeftOut):
            left_out.append(
                mirrored.model_copy(update={"source": base.photo.source, "reason": "no_reference"})
            )
            return []
        references, derived_from = [mirrored], base.photo.id
    if min_fss0 > 0 and (fss0 := _fss0(base, references)) < min_fss0:
        detail = f"FSS₀ is {fss0:.4f}, at least {min_fss0} is needed"
        left_out.append(LeftOut(source=base.photo.source, reason="fss0_below_threshold", detail=detail))
        return [] if derived_from else [_photo(item, "reference") for item in references]
    return [_photo(base, "base"), *(_photo(item, "reference", derived_from) for item in references)]


def _fss0(base: _Usable, references: list[_Usable]) -> float:
    face, *others = (decode_embedding(item.reading.faces[0].embedding) for item in (base, *references))
    return cosine_to_references(face, np.stack(others))


def _mirror(photo: SourcePhoto) -> SourcePhoto:
    out = io.BytesIO()
    Image.fromarray(decode_rgb(photo.data)[:, ::-1]).save(out, "PNG")
    return SourcePhoto(
        id=f"{photo.id}-mirrored",
        subject=photo.subject,
        data=out.getvalue(),
        source=f"{photo.source} (mirrored)",
        licence=photo.licence,
        groups=photo.groups,
    )


def _photo(item: _Usable, role: Role, derived_from: str | None = None) -> Photo:
    return Photo(
        id=item.photo.id,
        subject=item.photo.subject,
        role=role,
        image_sha256=item.sha256,
        extension=item.extension,
        width=item.reading.width or 0,
        height=item.reading.height or 0,
        box=item.reading.faces[0].box,
        licence=item.photo.licence,
        source=item.photo.source,
        derived_from=derived_from,
        groups=dict(item.photo.groups),
    )


def _reasons(left_out: list[LeftOut]) -> str:
    reasons = [item.reason for item in left_out]
    counts = [f"{reasons.count(reason)} × {reason}" for reason in sorted(set(reasons))]
    names = "; ".join(f"{item.source}: {item.reason}" for item in left_out[:10])
    return f"{', '.join(counts)} ({names})" if counts else "it is empty"


def prepare_suite(suite: Suite) -> str:
    """Prepare a suite's dataset; returns the key of its manifest."""
    pack, store = suite.embedder.pack, wiring.store()
    found = prepare(
        suite.dataset.id,
        wiring.dataset_source(suite.dataset),
        wiring.embedder(pack),
        wiring.embedder_identity(pack),
        store,
        min_fss0=suite.dataset.min_fss0,
    )
    key = keys.dataset(found.id, keys.fingerprint(found))
    ledger.write_new(store, key, found)
    return key


@task(task_run_name="prepare {suite.dataset.id}", **policies.ONCE)
async def prepare_photos(suite: Suite) -> str:
    """Prepare a suite's dataset; returns the key of its manifest."""
    return await in_thread(prepare_suite, suite)
