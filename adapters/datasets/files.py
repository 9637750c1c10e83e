"""What adapters over files share: photos that are found first and read one at a time."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, runtime_checkable

from adapters.datasets.source import SourcePhoto
from domain.errors import DefinitionError
from domain.photos import Credit, LeftOut, Role

MAX_FILE_BYTES = 200_000_000


@dataclass(frozen=True, slots=True)
class FoundPhoto:
    """A file that may become a photo, not yet read; the fields are those of `SourcePhoto`."""

    id: str
    subject: str
    path: str
    source: str
    licence: str
    groups: Mapping[str, str] = field(default_factory=dict[str, str])
    role: Role | None = None
    credit: Credit | None = None


@dataclass(frozen=True, slots=True)
class Note:
    """What is to be known of a dataset as a whole, one sentence."""

    text: str


Listed = FoundPhoto | LeftOut | Note


@runtime_checkable
class ListsFiles(Protocol):
    """A source that can say what it has without reading a photo."""

    def files(self) -> Iterator[Listed]:
        """As `read`, in the same order, with notes in between."""
        ...


def opened(found: Iterable[Listed]) -> Iterator[SourcePhoto | LeftOut]:
    """The same in order, each file read when its turn comes and forgotten afterwards."""
    for item in found:
        if isinstance(item, LeftOut):
            yield item
        elif isinstance(item, FoundPhoto):
            data = read_file(Path(item.path))
            if isinstance(data, bytes):
                yield SourcePhoto(
                    item.id,
                    item.subject,
                    data,
                    item.source,
                    item.licence,
                    item.groups,
                    item.role,
                    item.credit,
                )
            else:
                yield LeftOut(source=item.source, reason=data[0], detail=data[1])


def problem_of(path: Path) -> tuple[str, str] | None:
    """A reason and a detail where a file cannot be read; None where it seems that it can."""
    try:
        found = path.stat()
    except FileNotFoundError as error:
        return "missing_file", error.strerror or str(error)
    except (OSError, ValueError) as error:  # ValueError: a null character in the name
        return "unreadable", getattr(error, "strerror", None) or str(error)
    if not stat.S_ISREG(found.st_mode):
        return "unreadable", "not a file"
    if found.st_size > MAX_FILE_BYTES:
        return "too_large", f"{found.st_size} bytes"
    return None


def listed_problem_of(path: Path) -> tuple[str, str] | None:
    """The same of a file that was listed: gone since, or a link that leads nowhere, it is unreadable."""
    problem = problem_of(path)
    return ("unreadable", problem[1]) if problem and problem[0] == "missing_file" else problem


def read_file(path: Path) -> bytes | tuple[str, str]:
    """The bytes of a file that was listed, or a reason and a detail."""
    problem = listed_problem_of(path)
    if problem:
        return problem
    try:
        return path.read_bytes()
    except OSError as error:
        return "unreadable", error.strerror or str(error)


def printable(text: str) -> str:
    """A text that can be stored: names of files may hold bytes, and JSON escapes, that are no UTF-8."""
    return text.encode("utf-8", "backslashreplace").decode()


def names_in(folder: Path) -> list[str]:
    """Names of the visible files and folders in a folder, sorted; raises DefinitionError."""
    try:
        return sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))
    except OSError as error:
        raise DefinitionError(
            f"{str(folder)!r} cannot be read: {error.strerror}", field="dataset.path"
        ) from error


class Below:
    """The places below a folder, which names in a table may lead to."""

    def __init__(self, root: str | Path) -> None:
        self._root = os.path.normpath(root)
        self._real: dict[str, str] = {}

    def place(self, name: str) -> str | tuple[str, str]:
        """Where a name leads, or a reason and a detail where that is not below the folder."""
        if "://" in name:
            said = "photos are never downloaded; download it yourself and name the file here"
            return "remote_url", f"{name}: {said}"
        if "\0" in name:
            return "unreadable", "a null character in the name"
        place = os.path.normpath(os.path.join(self._root, name))  # noqa: PTH118 - Path keeps `..`
        if not _is_below(self._root, place):
            return "outside_folder", f"{name} is not below the folder of the dataset"
        folder, last = os.path.split(place)
        linked = os.path.realpath(place) if Path(place).is_symlink() else f"{self._followed(folder)}/{last}"
        if not _is_below(self._followed(self._root), linked):
            return "outside_folder", f"{name} leads by a link out of the folder; copy the file into it"
        return place

    def _followed(self, folder: str) -> str:
        """Where a folder is once links are followed; looked up once."""
        if folder not in self._real:
            self._real[folder] = os.path.realpath(folder)
        return self._real[folder]


def _is_below(root: str, place: str) -> bool:
    return place != root and os.path.commonpath([place, root]) == root


def in_order(found: Iterable[tuple[tuple[str, str], FoundPhoto | LeftOut]]) -> list[FoundPhoto | LeftOut]:
    """By subject, then by name of the photo; what has no subject comes first."""
    return [item for _, item in sorted(found, key=lambda pair: pair[0])]
