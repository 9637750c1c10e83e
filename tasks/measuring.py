"""The measurements of single steps and photos, out of their records."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from adapters.base import ObjectStore
from domain import keys
from domain.photos import Dataset, Photo
from domain.records import FaceRecord, StateRecord
from domain.runs import RunPlan
from domain.taxonomy import Taxonomy
from metrics.face_choice import choose_face
from metrics.floors import Floor, fss_floor
from metrics.frames import state_column
from metrics.similarity import cosine_to_references
from metrics.vectors import decode_embedding
from tasks import ledger
from tasks.threads import on_threads

NEAR_DUPLICATE = 0.95
"""Cosine between a base photo and a reference above which they may be copies of one picture."""

Row = dict[str, Any]


class Measurements:
    """Reads what is stored about images and edits; each record once."""

    def __init__(self, run: RunPlan, photos: Dataset, taxonomy: Taxonomy, store: ObjectStore) -> None:
        self._run = run
        self._photos = photos
        self._taxonomy = taxonomy
        self._store = store
        self._embedder = keys.fingerprint(run.embedder)
        self._judge = keys.fingerprint(run.judge) if run.judge else None
        self._tracker = keys.fingerprint(run.tracker) if run.tracker else None
        self._faces = cache(lambda sha: ledger.faces(store, self._embedder, sha))
        self._state = cache(self._read_state)
        self._references = cache(self._reference_vectors)
        self._own_face = cache(self._own_vector)
        self._fss = cache(self._read_fss)

    def read_photos(self) -> None:
        """Read what is stored about the photos at once, before it is asked for one by one."""
        base = [self._photos.by_id[name] for name in self._run.photos]
        subjects = dict.fromkeys(photo.subject for photo in base)
        near = [*base, *(photo for subject in subjects for photo in self._photos.references(subject))]
        on_threads(self._faces, dict.fromkeys(photo.image_sha256 for photo in near))
        on_threads(self._state, dict.fromkeys(photo.image_sha256 for photo in base))

    def photo(self, photo: Photo) -> Row:
        """The row of a base photo."""
        fss0 = self._fss(photo.image_sha256, photo.id)
        references = self._photos.references(photo.subject)
        return {
            "dataset": self._photos.id,
            "photo": photo.id,
            "subject": photo.subject,
            "fss0": fss0,
            "n_references": len(references),
            "near_duplicate": bool(photo.near_duplicates)
            if photo.fss0 is not None
            else any(r.derived_from for r in references) or (fss0 or 0) > NEAR_DUPLICATE,  # an older manifest
            "groups": self._run.suite.groups_of(photo.groups),
            **self._states(photo.image_sha256),
        }

    def face_of(self, photo: Photo) -> Row:
        """What was seen of a base photo's own face."""
        return self._face(self._faces(photo.image_sha256), photo.image_sha256, photo.id)

    def tracker_version(self, photo: Photo) -> str | None:
        """Which version of the tracker saw a base photo."""
        state = self._state(photo.image_sha256)
        return state.served_version if state else None

    def edit(self, before: str, sha: str, prompt: str, photo_id: str) -> Row:
        """What was measured of an edit, as far as it was."""
        record = self._faces(sha)
        judged = None
        if self._judge is not None:
            judged = ledger.judgement(self._store, self._judge, keys.judgement_key(before, sha, prompt))
        state = self._state(sha)
        return {
            **self._face(record, sha, photo_id),
            "judgement": judged.status if judged else "missing",
            "success": judged.success if judged else None,
            "overediting": judged.overediting if judged else None,
            "tracked": state.status if state else "missing",
            "judge_version": judged.served_version if judged else None,
            "tracker_version": state.served_version if state else None,
            **self._states(sha),
        }

    def floor(self) -> Floor | None:
        """The floor of FSS, by the photos of other people."""
        base = [self._photos.by_id[name] for name in self._run.photos]
        faces = [(photo.subject, self._faces(photo.image_sha256)) for photo in base]
        found = [
            (subject, decode_embedding(record.reading.faces[0].embedding))
            for subject, record in faces
            if record and record.reading.faces
        ]
        return fss_floor(found, {subject: self._references(subject) for subject, _ in found})

    def _face(self, record: FaceRecord | None, sha: str, photo_id: str) -> Row:
        if record is None:
            return {"face": None, "n_faces": None, "fss": None}
        if record.reading.status == "unreadable":
            return {"face": "unreadable", "n_faces": None, "fss": None}
        fss = self._fss(sha, photo_id)
        return {
            "face": "no_face" if fss is None else "found",
            "n_faces": len(record.reading.faces),
            "fss": fss,
        }

    def _read_fss(self, sha: str, photo_id: str) -> float | None:
        photo = self._photos.by_id[photo_id]
        face = self._vector(sha, photo)
        if face is None:
            return None
        if self._run.chain_set is None:
            return cosine_to_references(face, self._references(photo.subject))
        original = self._own_face(photo_id)
        return None if original is None else cosine_to_references(face, original[np.newaxis])

    def _vector(self, sha: str, photo: Photo) -> npt.NDArray[np.float32] | None:
        """The face of an image that is nearest to the photo's own; None where it shows none."""
        record = self._faces(sha)
        if record is None or not record.reading.faces:
            return None
        reading = record.reading
        chosen = choose_face(
            np.array([face.box for face in reading.faces], np.float64),
            (reading.width or 0, reading.height or 0),
            np.array(photo.box, np.float64),
            (photo.width, photo.height),
        )
        return None if chosen is None else decode_embedding(reading.faces[chosen].embedding)

    def _own_vector(self, photo_id: str) -> npt.NDArray[np.float32] | None:
        photo = self._photos.by_id[photo_id]
        return self._vector(photo.image_sha256, photo)

    def _read_state(self, sha: str) -> StateRecord | None:
        return None if self._tracker is None else ledger.state(self._store, self._tracker, sha)

    def _reference_vectors(self, subject: str) -> npt.NDArray[np.float32]:
        records = [self._faces(photo.image_sha256) for photo in self._photos.references(subject)]
        return np.stack(
            [decode_embedding(r.reading.faces[0].embedding) for r in records if r and r.reading.faces]
        )

    def _states(self, sha: str) -> Row:
        record: StateRecord | None = self._state(sha)
        seen = record.state if record else {}
        return {
            state_column(sub_axis): None if seen.get(sub_axis) is None else list(seen[sub_axis] or ())
            for sub_axis in self._taxonomy.sub_axes
        }
