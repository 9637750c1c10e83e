"""A small prepared dataset of everyday photos in a store, without detector or download."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from builders import a_photo, png

from adapters.base import ObjectStore
from domain import keys
from domain.photos import Dataset, Photo
from tasks import ledger

GROUPS = {"people": "2", "face_size": "medium", "photo_shape": "landscape", "view": "half"}


def a_dataset_of(
    store: ObjectStore,
    names: Sequence[str] = ("market-1", "bench-2", "stairs-3"),
    groups: Mapping[str, Mapping[str, str]] | None = None,
    version: str = "1",
) -> str:
    """Store a dataset `everyday` and its photos; its key."""
    photos: list[Photo] = []
    for number, name in enumerate(names):
        data = png(f"#{number:02d}4080")
        sha = keys.sha256(data)
        store.put_new(keys.image(sha, "png"), data)
        held = dict((groups or {}).get(name, GROUPS))
        photos.append(a_photo(id=name, subject=name, image_sha256=sha, groups=held))
    made = Dataset(id="everyday", embedder_fingerprint="none", photos=tuple(photos))
    key = keys.dataset("everyday", keys.sha256(version.encode()))
    ledger.write_new(store, key, made)
    return key
