"""Sets that somebody wrote, in the store and as files: a set under one id never changes.

What a run used can always be read again. Other content under the same name becomes its next version, an id of
its own, `<id>-v2`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from adapters.base import ObjectStore
from domain.errors import DefinitionError, StoreError
from domain.versions import id_of


@dataclass(frozen=True)
class Kept:
    """One version of a set in the store."""

    id: str
    version: int
    key: str
    is_new: bool
    """False when the very same set was there already."""


def keep_version(
    name: str,
    key_of: Callable[[str, int], str],
    holds_the_same: Callable[[str, str], bool | None],
    text: Callable[[str, int], str],
    store: ObjectStore,
) -> Kept:
    """Store a set under the first version of a name that is free or holds the very same one.

    Args:
        name: Of the set.
        key_of: The key of a version of a name.
        holds_the_same: Whether what is under a key, or defined under an id, is the same; None: nothing is.
        text: The file for an id and version.
        store: Where it is kept.
    """
    version = 1
    while True:
        set_id, key = id_of(name, version), key_of(name, version)
        same = holds_the_same(key, set_id)
        if same is False:
            version += 1
            continue
        is_new = store.put_new(key, text(set_id, version).encode()) and same is None
        if is_new or same is not None:
            return Kept(set_id, version, key, is_new)
        # Another process took this version in between: look again at what it holds.


def export_file(set_id: str, key: str, out: Path, store: ObjectStore) -> Path:
    """Copy a set out of the store, to a file or into a folder; an equal file is left as it is.

    Raises:
        DefinitionError: the file is there with other content, or its name is not the id of the set.
    """
    data = store.get(key)
    if data is None:
        raise StoreError(f"the set {key!r} is gone from the store; write it again", key=key)
    file = out.expanduser()
    if file.suffix not in (".yaml", ".yml"):
        file /= f"{set_id}.yaml"
    if file.stem != set_id:  # a later version, or a slip: a set is looked up by its file's name
        file = file.with_name(f"{set_id}.yaml")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("xb") as new:
            new.write(data)
    except FileExistsError as error:
        if file.read_bytes() != data:
            raise DefinitionError(
                f"{file} is there with other content, and a set is never changed in place; name another "
                "folder or another set"
            ) from error
    except OSError as error:
        raise DefinitionError(f"{file} cannot be written: {error.strerror}") from error
    return file
