"""The tables that the metrics take, made row by row: every chain walked, every record read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from adapters.base import ObjectStore
from domain import keys
from domain.photos import Dataset, Photo
from domain.plan import Walk
from domain.records import FaceRecord, JudgementRecord, OutcomeRecord, StateRecord
from domain.runs import RunPlan
from domain.summaries import StepFailure
from domain.taxonomy import Taxonomy
from metrics.face_choice import choose_face
from metrics.floors import Floor, fss_floor
from metrics.frames import photos_schema, state_column, steps_schema
from metrics.shapes import Pair
from metrics.similarity import cosine_to_references
from metrics.vectors import decode_embedding
from tasks import ledger
from tasks.collecting import Served
from tasks.definitions import load
from tasks.measured_tables import OWN, MeasuredTable

NEAR_DUPLICATE = 0.95
"""Cosine between a base photo and a reference above which they may be copies of one picture."""

Row = dict[str, Any]


class RowByRow:
    """Reads what is stored about a run; each record once."""

    def __init__(self, run: RunPlan, photos: Dataset, store: ObjectStore) -> None:
        self._run = run
        self._photos = photos
        self._taxonomy = load(Taxonomy, run.suite.taxonomy)
        self._store = store
        self.served: Counter[Served] = Counter()
        embedder = keys.fingerprint(run.embedder)
        self._judge, self._tracker = keys.fingerprint(run.judge), keys.fingerprint(run.tracker)
        self._faces = cache(lambda sha: ledger.faces(store, embedder, sha))
        self._state = cache(self._read_state)
        self._tracked: set[str] = set()
        table = MeasuredTable(run, self._taxonomy, store)
        rows = (row for card in run.cards for row in table.rows(card.id).iter_rows(named=True))
        self._known = {(row["key"], row["photo"]): row for row in rows}
        self._references = cache(self._reference_vectors)
        self._fss = cache(self._read_fss)

    def collect(self, walks: list[Walk], failures: list[StepFailure]) -> dict[str, Any]:
        """Both tables, in the order of the plan, and all else that is collected."""
        failed = {(failure.chain, failure.step): failure for failure in failures}
        steps: list[Row] = []
        truth: list[tuple[str, str, str, int, dict[str, Any]]] = []
        sizes: list[Pair] = []
        for walk in walks:
            steps.extend(self._chain_rows(walk, failed))
            sizes.extend(self._sizes(walk))
            for number, outcome in enumerate(walk.outcomes, 1):
                self._note("model", walk.chain.model, outcome.served_version)
                told = outcome.details.get("truth")
                if isinstance(told, dict):
                    truth.append((walk.chain.model, walk.chain.photo, walk.chain.session, number, told))
        base = [self._photo_row(self._photos.by_id[name]) for name in self._run.photos]
        return {
            "steps": pl.DataFrame(steps, schema=steps_schema(self._taxonomy)),
            "photos": pl.DataFrame(base, schema=photos_schema(self._taxonomy)),
            "truth": truth,
            "served": self.served,
            "floor": self._floor(),
            "sizes": Counter(sizes),
        }

    def _floor(self) -> Floor | None:
        base = [self._photos.by_id[name] for name in self._run.photos]
        faces = [(photo.subject, self._faces(photo.image_sha256)) for photo in base]
        found = [
            (subject, decode_embedding(record.reading.faces[0].embedding))
            for subject, record in faces
            if record and record.reading.faces
        ]
        return fss_floor(found, {subject: self._references(subject) for subject, _ in found})

    def _sizes(self, walk: Walk) -> Iterator[Pair]:
        photo = self._photos.by_id[walk.chain.photo]
        before = photo.width, photo.height
        for outcome in walk.outcomes:
            if outcome.image:
                after = outcome.image.width, outcome.image.height
                yield Pair(walk.chain.model, before, after)
                before = after

    def _note(self, role: str, card: str, version: str | None) -> None:
        if version is not None:
            self.served[Served(role, card, version)] += 1

    def _note_tracker(self, sha: str, version: str | None) -> None:
        if sha not in self._tracked:  # it looks at an image once, however many steps have it
            self._tracked.add(sha)
            self._note("tracker", self._run.tracker_card.id, version)

    def _read_state(self, sha: str) -> StateRecord | None:
        state = ledger.state(self._store, self._tracker, sha)
        if state:
            self._note_tracker(sha, state.served_version)
        return state

    def _judgement(self, key: str) -> JudgementRecord | None:
        return ledger.judgement(self._store, self._judge, key)

    def _photo_row(self, photo: Photo) -> Row:
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

    def _chain_rows(self, walk: Walk, failed: dict[tuple[Any, int], StepFailure]) -> list[Row]:
        rows: list[Row] = []
        photo = self._photos.by_id[walk.chain.photo]
        before = photo.image_sha256
        session = self._run.session[walk.chain.session]
        for number, instruction in enumerate(session.steps, 1):
            attribute = self._taxonomy.attributes[instruction.attribute.casefold()]
            outcome = walk.outcomes[number - 1] if number <= len(walk.outcomes) else None
            failure = failed.get((walk.chain, number)) if outcome is None else None
            row: Row = {
                "suite": self._run.suite.id,
                "dataset": self._photos.id,
                "model": walk.chain.model,
                "photo": walk.chain.photo,
                "subject": photo.subject,
                "session": walk.chain.session,
                "test_set": session.test_set,
                "step": number,
                "prompt": instruction.prompt,
                "asked_sub_axis": attribute.sub_axis,
                "asked_category": attribute.category,
                "keep": instruction.keep,
                "outcome": outcome.kind if outcome else "failed" if failure else "not_run",
                "reason": outcome.reason if outcome else failure.error if failure else None,
            }
            if outcome and outcome.image:
                row |= self._measured(outcome, before, photo)
                before = outcome.image.sha256
            rows.append(row)
        return rows

    def _measured(self, outcome: OutcomeRecord, before: str, photo: Photo) -> Row:
        assert outcome.image is not None, "only an edited step is measured"
        sha = outcome.image.sha256
        known = self._known.get((outcome.key, photo.id))
        if known is None:
            known = {"key": outcome.key, "photo": photo.id} | self._measure(outcome, before, photo, sha)
        self._note("judge", self._run.judge_card.id, known["judge_version"])
        self._note_tracker(sha, known["tracker_version"])
        return {name: value for name, value in known.items() if name not in OWN}

    def _measure(self, outcome: OutcomeRecord, before: str, photo: Photo, sha: str) -> Row:
        record = self._faces(sha)
        judged = self._judgement(keys.judgement_key(before, sha, outcome.identity.prompt))
        state = self._state(sha)
        return {
            **self._face(record, sha, photo),
            "judgement": judged.status if judged else "missing",
            "success": judged.success if judged else None,
            "overediting": judged.overediting if judged else None,
            "tracked": state.status if state else "missing",
            "judge_version": judged.served_version if judged else None,
            "tracker_version": state.served_version if state else None,
            **self._states(sha),
        }

    def _face(self, record: FaceRecord | None, sha: str, photo: Photo) -> Row:
        if record is None:
            return {"face": None, "n_faces": None, "fss": None}
        if record.reading.status == "unreadable":
            return {"face": "unreadable", "n_faces": None, "fss": None}
        fss = self._fss(sha, photo.id)
        return {
            "face": "no_face" if fss is None else "found",
            "n_faces": len(record.reading.faces),
            "fss": fss,
        }

    def _read_fss(self, sha: str, photo_id: str) -> float | None:
        photo, record = self._photos.by_id[photo_id], self._faces(sha)
        if record is None or not record.reading.faces:
            return None
        reading = record.reading
        chosen = choose_face(
            np.array([face.box for face in reading.faces], np.float64),
            (reading.width or 0, reading.height or 0),
            np.array(photo.box, np.float64),
            (photo.width, photo.height),
        )
        if chosen is None:
            return None
        return cosine_to_references(
            decode_embedding(reading.faces[chosen].embedding), self._references(photo.subject)
        )

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
