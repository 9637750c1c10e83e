"""Who is base, who is reference: exactly one face each, references apart, every rejection counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from adapters.base import ObjectStore
from domain import keys
from domain.errors import StoreError
from domain.photos import Candidate, LeftOut, Listing, Photo, Role
from domain.records import FaceReading
from domain.suites import DatasetChoice
from metrics.near_duplicates import NEAR_DUPLICATE, near_duplicates
from metrics.similarity import cosine_to_references
from metrics.vectors import decode_embedding
from tasks import ledger
from tasks.preparing_photos import side_by_side


@dataclass(frozen=True)
class Usable:
    """A candidate with exactly one face."""

    candidate: Candidate
    reading: FaceReading

    @property
    def id(self) -> str:
        """Of the photo that it becomes."""
        return self.candidate.id

    @cached_property
    def embedding(self) -> npt.NDArray[np.float32]:
        """Of its face."""
        return decode_embedding(self.reading.faces[0].embedding)

    def photo(self, role: Role, fss0: float | None = None, near: Sequence[str] = ()) -> Photo:
        """What stands in the manifest."""
        return Photo(
            id=self.id,
            subject=self.candidate.subject,
            role=role,
            image_sha256=self.candidate.content.sha256,
            extension=self.candidate.content.extension,
            width=self.candidate.content.width,
            height=self.candidate.content.height,
            box=self.reading.faces[0].box,
            licence=self.candidate.licence,
            source=self.candidate.source,
            derived_from=self.candidate.derived_from,
            groups=self.candidate.groups,
            fss0=fss0,
            near_duplicates=tuple(near),
            perceptual_hash=self.candidate.content.perceptual_hash,
            notes=self.candidate.content.notes,
        )

    def left_out(self, reason: str, detail: str) -> LeftOut:
        """A rejection of it."""
        return LeftOut(
            source=self.candidate.source, reason=reason, detail=detail, subject=self.candidate.subject
        )


def usable_by_subject(
    listing: Listing, embedder: str, store: ObjectStore
) -> tuple[dict[str, list[Usable]], list[LeftOut]]:
    """The candidates with exactly one face, each content once, and why the others are none."""
    found: dict[str, list[Usable]] = {}
    left_out: list[LeftOut] = []
    first: dict[str, str] = {}
    for item in side_by_side(lambda candidate: _usable(candidate, embedder, store), listing.candidates):
        if isinstance(item, LeftOut):
            left_out.append(item)
            continue
        sha = item.candidate.content.sha256
        if sha in first:
            left_out.append(item.left_out("duplicate", f"same bytes as {first[sha]}"))
        else:
            first[sha] = item.candidate.source
            found.setdefault(item.candidate.subject, []).append(item)
    return found, left_out


def _usable(candidate: Candidate, embedder: str, store: ObjectStore) -> Usable | LeftOut:
    sha, faces = candidate.content.sha256, ledger.faces(store, embedder, candidate.content.sha256)
    if faces is None:
        key = keys.faces(embedder, sha)
        raise StoreError(f"the reading {key!r} of {candidate.source} is not there; run again", key=key)
    found = Usable(candidate, faces.reading)
    if faces.reading.status == "unreadable":
        reason, _, detail = (faces.reading.detail or "unreadable").partition(": ")
        return found.left_out(reason, detail)
    count = len(faces.reading.faces)
    if count != 1:
        reason = "several_faces" if count else "no_face"
        return found.left_out(reason, f"{count} faces found, exactly one is needed")
    return found


def is_alone(usable: Sequence[Usable]) -> bool:
    """Whether a person's only usable photo needs its mirror image as reference."""
    return len(usable) == 1 and usable[0].candidate.role != "reference"


@dataclass
class Person:
    """The photos of one person, with their roles."""

    base: list[Photo]
    references: list[Photo]
    left_out: list[LeftOut]


def assign_roles(usable: Sequence[Usable], choice: DatasetChoice) -> Person:
    """Roles as the source states them; of the others the first is base where none is, the rest references."""
    stated = [item for item in usable if item.candidate.role == "base"]
    base = stated or [item for item in usable if item.candidate.role is None][:1]
    edited = {item.id for item in base}
    references = [item for item in usable if item.id not in edited]
    person = Person([], [], [])
    kept = (
        _without_near_duplicates(base, references, person) if choice.exclude_near_duplicates else references
    )
    for item in base:
        _admit(item, kept, choice.min_fss0, person)
    if person.base or not any(item.candidate.derived_from for item in kept):
        person.references = [item.photo("reference") for item in kept]
    return person


def _admit(base: Usable, references: Sequence[Usable], min_fss0: float, person: Person) -> None:
    if not references:
        person.left_out.append(
            base.left_out("no_reference", "no other photo says what the person looks like")
        )
        return
    vectors = np.stack([item.embedding for item in references])
    fss0 = cosine_to_references(base.embedding, vectors)
    if min_fss0 > 0 and fss0 < min_fss0:
        detail = f"FSS₀ is {fss0:.4f}, at least {min_fss0} is needed"
        person.left_out.append(base.left_out("fss0_below_threshold", detail))
        return
    near = [item.id for item, is_near in zip(references, _near(base, references), strict=True) if is_near]
    person.base.append(base.photo("base", fss0, near))


def _near(base: Usable, references: Sequence[Usable]) -> list[bool]:
    """A mirror image of a base photo is one, however different it measures."""
    vectors = np.stack([item.embedding for item in references])
    hashes = [item.candidate.content.perceptual_hash for item in references]
    found = near_duplicates(
        base.embedding, vectors, base.candidate.content.perceptual_hash, hashes, NEAR_DUPLICATE
    )
    made = [item.candidate.derived_from == base.id for item in references]
    return [bool(is_near) or is_made for is_near, is_made in zip(found, made, strict=True)]


def _without_near_duplicates(
    base: Sequence[Usable], references: list[Usable], person: Person
) -> list[Usable]:
    of: dict[str, str] = {}
    for item in base if references else ():
        for other, is_near in zip(references, _near(item, references), strict=True):
            if is_near:
                of.setdefault(other.id, item.candidate.source)
    person.left_out += [
        item.left_out("near_duplicate", f"may be a copy of {of[item.id]}")
        for item in references
        if item.id in of
    ]
    return [item for item in references if item.id not in of]
