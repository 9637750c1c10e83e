"""A folder of one's own photos: `person/photo.jpg`, or `photo.jpg` for a person with one photo.

Every file is tried, whatever its name ends in; what is not a usable photo is reported, never skipped
in silence. Hidden files are not looked at.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from adapters.datasets.files import FoundPhoto, opened
from adapters.datasets.source import SourcePhoto, slug
from domain.dataset_options import DatasetOptions
from domain.errors import DefinitionError
from domain.photos import LeftOut


class FolderDataset:
    """Photos below one directory, sorted by name."""

    def __init__(self, root: Path, licence: str = "not stated; the user's own folder") -> None:
        self._root = root
        self._licence = licence
        if not root.is_dir():
            raise DefinitionError(f"{str(root)!r} is not a folder of photos", field="images")

    @classmethod
    def build(cls, root: Path, options: DatasetOptions) -> FolderDataset:
        """The folder at a place."""
        return cls(root)

    def read(self) -> Iterator[SourcePhoto | LeftOut]:
        """Every file, subjects together."""
        return opened(self.files())

    def files(self) -> Iterator[FoundPhoto | LeftOut]:
        """The same, unread."""
        subjects: dict[str, str] = {}
        ids: dict[str, str] = {}
        files, closed = _files(self._root)
        yield from closed
        for relative in sorted(files, key=lambda file: (_person(file), file.parts)):
            source = _text(relative)
            subject = slug(_person(relative), subjects)
            name = _text(relative.with_suffix("")) if len(relative.parts) > 1 else source
            photo_id = slug(name, ids, owner=source)
            yield FoundPhoto(photo_id, subject, str(self._root / relative), source, self._licence)


def _person(relative: Path) -> str:
    return _text(Path(relative.parts[0])) if len(relative.parts) > 1 else _text(Path(relative.stem))


def _text(relative: Path) -> str:
    """A path as text that can be stored: file names may hold bytes that are not UTF-8."""
    return os.fsencode(relative.as_posix()).decode("utf-8", "backslashreplace")


def _files(root: Path) -> tuple[list[Path], list[LeftOut]]:
    """Visible files relative to a folder, links followed, and the folders below that cannot be opened."""
    files: list[Path] = []
    closed: list[LeftOut] = []
    visited: set[Path] = set()

    def report(error: OSError) -> None:
        source = _text(Path(error.filename).relative_to(root))
        closed.append(LeftOut(source=source, reason="unreadable", detail=error.strerror or str(error)))

    for folder, folders, names in os.walk(root, onerror=report, followlinks=True):
        real = Path(folder).resolve()
        if real in visited:
            folders.clear()
            continue
        visited.add(real)
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        files += [Path(folder, name).relative_to(root) for name in names if not name.startswith(".")]
    return files, closed
