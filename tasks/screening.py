"""Which of the prepared photos are used, and what kind of photo each is."""

from __future__ import annotations

from collections.abc import Iterator

from adapters.base import ObjectStore
from adapters.imaging.decode import VERSION as DECODER
from adapters.imaging.prepare import VERSION as PREPARE
from domain import keys
from domain.dataset_options import ScreenedOptions
from domain.errors import DefinitionError, StoreError
from domain.photo_shapes import closest_shape
from domain.photos import Candidate, Dataset, LeftOut, Listing, Original, Photo, PhotoPreparation, Screening
from domain.records import FaceBox, FaceReading
from metrics import face_pose, photo_dimensions
from metrics.photo_crops import share_inside
from tasks import ledger
from tasks.cutting import rejected
from tasks.preparing_photos import side_by_side

DIMENSIONS = f"pose {face_pose.VERSION}, dimensions {photo_dimensions.VERSION}"
Problem = tuple[str, str]
"""A stable code, and a sentence."""


def screened(
    listing: Listing, dataset_id: str, options: ScreenedOptions, embedder: str, store: ObjectStore
) -> Dataset:
    """The dataset of a listing of prepared photos whose faces were read.

    Each content becomes one photo, the first that a source names. A photo with several faults is left out for
    the first in the order of `_problems`; the sentence names all.
    """
    done = side_by_side(lambda item: _screened(item, options.screening, embedder, store), listing.candidates)
    photos: dict[str, Photo] = {}
    left_out = list(listing.left_out)
    for candidate, item in zip(listing.candidates, done, strict=True):
        if isinstance(item, LeftOut):
            left_out.append(item)
        elif item.image_sha256 in photos:
            detail = f"the same picture as {photos[item.image_sha256].id}"
            left_out.append(rejected(candidate, "duplicate", detail))
        else:
            photos[item.image_sha256] = item
    made = PhotoPreparation(
        decoder=DECODER,
        prepare=PREPARE,
        dimensions=DIMENSIONS,
        screening=options.screening,
        licences=options.licences,
    )
    return Dataset(
        id=dataset_id,
        embedder_fingerprint=embedder,
        photos=tuple(photos.values()),
        left_out=tuple(left_out),
        preparation=made,
    )


def _screened(item: Candidate, screening: Screening, embedder: str, store: ObjectStore) -> Photo | LeftOut:
    record = ledger.faces(store, embedder, item.content.sha256)
    if record is None:
        key = keys.faces(embedder, item.content.sha256)
        raise StoreError(f"the reading {key!r} of {item.source} is not there; run again", key=key)
    if item.original is None:
        raise DefinitionError(f"{item.id} was not cropped; run again", field="dataset")
    problems = list(_problems(record.reading, item.content.height, item.original, screening))
    if problems:
        return rejected(item, problems[0][0], "; ".join(detail for _, detail in problems))
    return _photo(item, record.reading)


def _photo(item: Candidate, reading: FaceReading) -> Photo:
    content, box = item.content, reading.faces[0].box
    measured = {
        "people": str(len(reading.faces)),
        "face_size": photo_dimensions.face_size(photo_dimensions.face_share(box, content.height)),
        "photo_shape": closest_shape(content.width, content.height),
        "view": photo_dimensions.view_of(box, content.height),
    }
    return Photo(
        id=item.id,
        subject=item.subject,
        role="base",
        image_sha256=content.sha256,
        extension=content.extension,
        width=content.width,
        height=content.height,
        box=box,
        licence=item.licence,
        source=item.source,
        groups=measured | item.groups,
        perceptual_hash=content.perceptual_hash,
        notes=content.notes,
        original=item.original,
    )


def _problems(
    reading: FaceReading, height: int, original: Original, screening: Screening
) -> Iterator[Problem]:
    """Everything that speaks against a prepared photo."""
    if reading.status == "unreadable":
        reason, _, detail = (reading.detail or "unreadable").partition(": ")
        yield reason, detail
        return
    faces = reading.faces
    if not faces:
        yield "no_face", "no face found, one to four are needed"
    else:
        yield from _face_problems(faces, reading, height, screening)
    yield from _blur(original, screening)


def _face_problems(
    faces: tuple[FaceBox, ...], reading: FaceReading, height: int, screening: Screening
) -> Iterator[Problem]:
    if len(faces) > screening.max_faces:
        yield "too_many_faces", f"{len(faces)} faces found, at most {screening.max_faces} are allowed"
    frame = (0, 0, reading.width or 0, reading.height or 0)
    cut_off = sum(share_inside(face.box, frame) < screening.min_face_inside for face in faces)
    if cut_off:
        yield "face_cut_off", f"{cut_off} of {len(faces)} faces are cut off by the edge of the photo"
    share = photo_dimensions.face_share(faces[0].box, height)
    if share < screening.min_face_share:
        detail = (
            f"the largest face has {share:.1%} of the height, at least {screening.min_face_share:.1%} is "
        )
        yield "face_too_small", f"{detail}needed"
    yield from _turned(faces[0], screening)


def _turned(face: FaceBox, screening: Screening) -> Iterator[Problem]:
    pose = face_pose.face_pose(face.keypoints) if face.keypoints else None
    if pose is None:
        detail = "the landmarks of the largest face are not known, so nobody can say where it looks"
        yield "pose_unknown", detail
    elif abs(pose.yaw_deg) > screening.max_yaw_deg or abs(pose.pitch_deg) > screening.max_pitch_deg:
        yaw, pitch = abs(pose.yaw_deg), abs(pose.pitch_deg)
        detail = (
            f"the largest face is turned by {yaw:.0f}° to a side (at most {screening.max_yaw_deg:g}°) and "
        )
        detail += f"{pitch:.0f}° {'up' if pose.pitch_deg > 0 else 'down'} "
        yield "not_frontal", f"{detail}(at most {screening.max_pitch_deg:g}°)"


def _blur(original: Original, screening: Screening) -> Iterator[Problem]:
    held = original.sharpness
    if held.median is None:
        yield "blurred", "almost nowhere is any structure that could be sharp"
    limits = (
        ("in the median part", held.median, screening.min_sharpness),
        ("in the lower quartile of the parts", held.lower_quartile, screening.min_sharpness_low),
        ("of the largest face", held.face, screening.min_sharpness_face),
    )
    for where, value, least in limits:
        if value is not None and value < least:
            yield "blurred", f"the sharpness {where} is {value:.3f}, at least {least:g} is needed"
