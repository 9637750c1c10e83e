"""A folder of one's own photos: `person/photo.jpg`, or `photo.jpg` for a person with one photo.

Every file is tried, whatever its name ends in; what is not a usable photo is reported, never skipped
in silence. Hidden files are not looked at.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from adapters.datasets.source import SourcePhoto, slug
from domain.errors import DefinitionError
from domain.photos import LeftOut

MAX_FILE_BYTES = 200_000_000


class FolderDataset:
    """Photos below one directory, sorted by name."""

    def __init__(self, root: Path, licence: str = "not stated; the user's own folder") -> None:
        self._root = root
        self._licence = licence
        if not root.is_dir():
            raise DefinitionError(f"{str(root)!r} is not a folder of photos", field="images")

    def read(self) -> Iterator[SourcePhoto | LeftOut]:
        """Every file, subjects together."""
        subjects: dict[str, str] = {}
        ids: dict[str, str] = {}
        for path in _files(self._root):
            relative = path.relative_to(self._root)
            person = relative.parts[0] if len(relative.parts) > 1 else relative.stem
            subject = slug(person, subjects)
            subjects[subject] = person
            name = relative.with_suffix("").as_posix() if len(relative.parts) > 1 else relative.name
            photo_id = slug(name.replace("/", "-"), ids)
            ids[photo_id] = name.replace("/", "-")
            yield self._photo(path, relative, subject, photo_id)

    def _photo(self, path: Path, relative: Path, subject: str, photo_id: str) -> SourcePhoto | LeftOut:
        source = relative.as_posix()
        try:
            size = path.stat().st_size
            if size > MAX_FILE_BYTES:
                return LeftOut(source=source, reason="too_large", detail=f"{size} bytes")
            data = path.read_bytes()
        except OSError as error:
            return LeftOut(source=source, reason="unreadable", detail=str(error.strerror or error))
        return SourcePhoto(photo_id, subject, data, source, self._licence)


def _files(root: Path) -> list[Path]:
    def visible(path: Path) -> bool:
        return not any(part.startswith(".") for part in path.relative_to(root).parts)

    files = [path for path in root.rglob("*") if path.is_file() and visible(path)]
    return sorted(files, key=lambda path: path.relative_to(root).parts)
