"""Everyday photos are cropped and resized: once for each original and crop, the original kept beside."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import JsonValue

from adapters.base import ObjectStore
from adapters.imaging.decode import VERSION as DECODER
from adapters.imaging.decode import one_large_at_a_time
from adapters.imaging.prepare import VERSION as PREPARE
from adapters.imaging.prepare import prepare_photo
from domain import keys
from domain.errors import StoreError
from domain.photo_shapes import SHAPES, closest_shape
from domain.photos import (
    Candidate,
    CropArea,
    LeftOut,
    Listing,
    Original,
    PhotoRecord,
    PreparedRecord,
    Screening,
)
from metrics.photo_crops import Box, box_in, crop_around, crop_within, share_inside
from tasks import ledger
from tasks.preparing_photos import photo_record, side_by_side

ENLARGED = "enlarged"
"""Note of a photo that has more pixels than the part of its original that it shows."""


@dataclass(frozen=True)
class Cut:
    """What is made of an original."""

    crop: CropArea
    size: tuple[int, int]
    face: Box | None
    """The largest face, in pixels of the photo."""

    @property
    def digest(self) -> str:
        """Of all that decides the photo and what is measured of it."""
        face: JsonValue = list[JsonValue](self.face) if self.face else None
        return keys.fingerprint({"crop": self.crop.model_dump(), "face": face})


def with_cuts(listing: Listing, screening: Screening, embedder: str, store: ObjectStore) -> Listing:
    """A listing of originals, whose faces were read, as one of the photos that were made of them."""
    done = side_by_side(lambda item: _cut(item, screening, embedder, store), listing.candidates)
    candidates: list[Candidate] = []
    left_out = list(listing.left_out)
    for item in done:
        if isinstance(item, Candidate):
            candidates.append(item)
        else:
            left_out.append(item)
    return listing.model_copy(update={"candidates": tuple(candidates), "left_out": tuple(left_out)})


def _cut(item: Candidate, screening: Screening, embedder: str, store: ObjectStore) -> Candidate | LeftOut:
    content, credit = item.content, item.credit
    record = ledger.faces(store, embedder, content.sha256)
    if record is None:
        key = keys.faces(embedder, content.sha256)
        raise StoreError(f"the reading {key!r} of {item.source} is not there; run again", key=key)
    if record.reading.status == "unreadable":
        reason, _, detail = (record.reading.detail or "unreadable").partition(": ")
        return rejected(item, reason, detail)
    faces = [face.box for face in record.reading.faces]
    placed = credit.crop if credit else None
    if placed and (placed.x + placed.width > content.width or placed.y + placed.height > content.height):
        row = credit.row if credit else item.source
        detail = f"{row}: the crop ends at {placed.x + placed.width}, {placed.y + placed.height}, outside of "
        return rejected(item, "crop_outside", f"{detail}the upright photo, {content.width}×{content.height}")
    crop = (
        crop_within(placed, closest_shape(placed.width, placed.height))
        if placed
        else crop_around(content.width, content.height, faces)
    )
    cut_off = _cut_off(faces, crop, content, screening, placed=placed is not None)
    if cut_off:
        hint = "place the crop otherwise" if placed else "place a crop by hand, or leave the photo out"
        return rejected(item, "face_cut_off", f"{cut_off} of {len(faces)} faces would be cut off; {hint}")
    size = SHAPES[closest_shape(crop.width, crop.height)]
    scale = size[0] / crop.width
    if screening.max_enlargement is not None and scale > screening.max_enlargement:
        detail = f"{crop.width}×{crop.height} would be enlarged by {scale:.2f}, at most "
        return rejected(item, "too_small_original", f"{detail}{screening.max_enlargement:g} is allowed")
    there = [face for face in faces if share_inside(face, _corners(crop)) >= screening.min_face_inside]
    return _prepared(item, Cut(crop, size, box_in(crop, there[0], size) if there else None), store)


def _cut_off(
    faces: list[Box],
    crop: CropArea,
    content: PhotoRecord,
    screening: Screening,
    *,
    placed: bool,
) -> int:
    """How many faces a crop cuts; one wholly outside of a crop placed by hand was left out on purpose."""
    area = _corners(crop)
    whole = (0, 0, content.width, content.height)
    count = 0
    for face in faces:
        there = share_inside(face, whole)  # what the original shows of it
        kept = share_inside(face, area) / there if there > 0 else 0.0
        gone_on_purpose = placed and kept <= 1 - screening.min_face_inside
        count += kept < screening.min_face_inside and not gone_on_purpose
    return count


def _corners(crop: CropArea) -> Box:
    return (crop.x, crop.y, crop.x + crop.width, crop.y + crop.height)


def _prepared(item: Candidate, cut: Cut, store: ObjectStore) -> Candidate:
    key = keys.prepared(PREPARE, item.content.sha256, cut.digest)
    known = ledger.read(store, key, PreparedRecord)
    made = ledger.read(store, keys.photo(DECODER, known.sha256), PhotoRecord) if known else None
    if known is None or made is None or store.head(keys.image(made.sha256, made.extension)) is None:
        known, made = _make(item.content, cut, store)
        ledger.write_new(store, key, known)
    notes = (*item.content.notes, *((ENLARGED,) if cut.size[0] > cut.crop.width else ()))
    return item.model_copy(
        update={
            "content": made.model_copy(update={"notes": notes}),
            "original": Original(
                sha256=item.content.sha256,
                extension=item.content.extension,
                width=item.content.width,
                height=item.content.height,
                author=item.credit.author if item.credit else "",
                crop=cut.crop,
                crop_placed=bool(item.credit and item.credit.crop),
                sharpness=known.sharpness,
            ),
        }
    )


def _make(content: PhotoRecord, cut: Cut, store: ObjectStore) -> tuple[PreparedRecord, PhotoRecord]:
    data = ledger.read_image(store, content.sha256, content.extension)
    with one_large_at_a_time(data):
        photo = prepare_photo(data, cut.crop, cut.size, cut.face)
    made = photo_record(photo.data, store)
    record = PreparedRecord(
        of_sha256=content.sha256, crop=cut.crop, sha256=made.sha256, sharpness=photo.sharpness
    )
    return record, made


def rejected(item: Candidate, reason: str, detail: str) -> LeftOut:
    """Why a candidate is no photo."""
    return LeftOut(source=item.source, reason=reason, detail=detail, subject=item.subject)
