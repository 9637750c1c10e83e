"""The photos that chains are for: a prepared dataset by its id or key, or a table of what was measured."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from pathlib import Path

from domain import keys
from domain.chain_lint import MEASURED
from domain.errors import DefinitionError
from domain.photos import Dataset, Photo
from tasks import ledger, wiring


def dataset_key(name_or_key: str) -> str:
    """The key of a dataset manifest, by itself or by the id of a dataset that has only one.

    Raises:
        DefinitionError: there is none, or several, which are named.
    """
    if "/" in name_or_key:
        return name_or_key
    try:
        prefix = keys.datasets(name_or_key)
    except ValueError as error:
        raise DefinitionError(f"{name_or_key!r} is no id of a dataset", field="dataset") from error
    found = [key for key in wiring.store().list(prefix) if _is_manifest(key, prefix)]
    if not found:
        raise DefinitionError(
            f"no dataset {name_or_key!r} in the store; prepare its photos first", field="dataset"
        )
    if len(found) > 1:
        raise DefinitionError(
            f"dataset {name_or_key!r} was prepared in {len(found)} ways; name the key of one",
            field="dataset",
            allowed=tuple(found),
        )
    return found[0]


def _is_manifest(key: str, prefix: str) -> bool:
    return key.endswith(".json") and "/" not in key.removeprefix(prefix)


def base_photos(name_or_key: str, only: Sequence[str] = ()) -> tuple[Photo, ...]:
    """The base photos of a dataset, or those that are named; raises DefinitionError or StoreError."""
    base = _dataset(dataset_key(name_or_key)).base
    known = {photo.id: photo for photo in base}
    strange = [name for name in only if name not in known]
    if strange:
        raise DefinitionError(f"no base photo {strange[0]!r}", field="photos", allowed=tuple(known))
    return tuple(known[name] for name in dict.fromkeys(only)) if only else base


def _dataset(key: str) -> Dataset:
    try:
        keys.check_key(key)
    except ValueError as error:
        raise DefinitionError(f"{key!r} is no key of a dataset", field="dataset") from error
    return wiring.dataset(key)


def measured(table_or_dataset: str) -> dict[str, dict[str, str]]:
    """What is measured of each photo, by its id.

    Args:
        table_or_dataset: A CSV with a column `photo` (or `id`) and any of `people`, `face_size`,
            `photo_shape` and `view`; or a dataset, by its id or key.

    Raises:
        DefinitionError: the table cannot be read, or there is no such dataset.
    """
    if Path(table_or_dataset).suffix.casefold() != ".csv":
        return {photo.id: _measured_of(photo.groups) for photo in base_photos(table_or_dataset)}
    try:
        with Path(table_or_dataset).open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file))
    except (OSError, ValueError, csv.Error) as error:
        raise DefinitionError(f"the table cannot be read: {error}", file=table_or_dataset) from error
    found: dict[str, dict[str, str]] = {}
    for line, row in enumerate(rows, 2):
        photo = (row.get("photo") or row.get("id") or "").strip()
        if not photo:
            raise DefinitionError(
                "a row names no photo; the table needs a column `photo` or `id`",
                file=table_or_dataset,
                line=line,
            )
        if photo in found:
            raise DefinitionError(f"photo {photo!r} has two rows", file=table_or_dataset, line=line)
        found[photo] = _measured_of(row)
    return found


def _measured_of(groups: dict[str, str]) -> dict[str, str]:
    return {name: value.strip() for name in MEASURED if (value := groups.get(name)) and value.strip()}


def carrying(name_or_key: str, only: Sequence[str]) -> Callable[[], None]:
    """What copies a dataset and those photos of it into the store of then, which a rehearsal changes."""
    source, key = wiring.store(), dataset_key(name_or_key)
    photos = base_photos(key, only)

    def copy() -> None:
        store, manifest = wiring.store(), source.get(key)
        for photo in photos:
            name = keys.image(photo.image_sha256, photo.extension)
            if store.head(name) is None:
                store.put_new(name, ledger.read_image(source, photo.image_sha256, photo.extension))
        if manifest is not None:
            store.put_new(key, manifest)

    return copy
