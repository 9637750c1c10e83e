"""The images and edits of a run, named by what a measurement is stored under."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from adapters.base import ObjectStore
from domain import keys
from domain.photos import Dataset
from domain.plan import Walk
from domain.runs import RunPlan
from tasks.embedding import ImageKey
from tasks.judging import EditKey


@dataclass(frozen=True)
class Unmeasured:
    """What the store lacks of a run's measurements, as far as its chains have come."""

    run: RunPlan
    photos: Dataset
    walks: Iterable[Walk]
    store: ObjectStore

    @cached_property
    def _edits(self) -> dict[EditKey, None]:
        return dict.fromkeys(edit for walk in self.walks for edit in _edits(self.photos, walk))

    @property
    def _images(self) -> dict[ImageKey, None]:
        base = (self.photos.by_id[name] for name in self.run.photos)
        found = dict.fromkeys(ImageKey(sha256=p.image_sha256, extension=p.extension) for p in base)
        return found | dict.fromkeys(edit.after for edit in self._edits)

    @property
    def faces(self) -> list[ImageKey]:
        """Images without a face record."""
        fingerprint = keys.fingerprint(self.run.embedder)
        return [i for i in self._images if self.store.head(keys.faces(fingerprint, i.sha256)) is None]

    @property
    def states(self) -> list[ImageKey]:
        """Images without a state record, base photos included."""
        fingerprint = keys.fingerprint(self.run.tracker)
        return [i for i in self._images if self.store.head(keys.state(fingerprint, i.sha256)) is None]

    @property
    def edits(self) -> list[EditKey]:
        """Edits without a judgement."""
        fingerprint = keys.fingerprint(self.run.judge)
        return [e for e in self._edits if self.store.head(keys.judgement(fingerprint, e.key)) is None]


def _edits(photos: Dataset, walk: Walk) -> Iterator[EditKey]:
    photo = photos.by_id[walk.chain.photo]
    before = ImageKey(sha256=photo.image_sha256, extension=photo.extension)
    for outcome in walk.outcomes:
        if outcome.image:
            after = ImageKey(sha256=outcome.image.sha256, extension=outcome.image.extension)
            yield EditKey(before=before, after=after, prompt=outcome.identity.prompt)
            before = after
