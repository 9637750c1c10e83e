"""A folder of original photos with a table that says who made each and under which licence.

A fault of the table is an error. A fault of a row leaves its photo out, with file, line, field and what is
allowed; all other rows are kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from adapters.datasets.files import Below, FoundPhoto, Listed, Note, opened, problem_of
from adapters.datasets.source import SourcePhoto, slug
from adapters.datasets.tables import SUFFIXES, PhotoTable, TableRow
from adapters.datasets.yaml_rows import SUFFIXES as YAML_SUFFIXES
from adapters.datasets.yaml_rows import YamlTable
from domain.chains import View
from domain.dataset_options import EverydayOptions
from domain.errors import DefinitionError
from domain.licences import SPELLINGS, licence_id, needs_attribution
from domain.photo_shapes import MOST_OFF_PERCENT, SHAPES, closest_shape, is_off_shape, largest_within
from domain.photos import Credit, CropArea, LeftOut, Slug

NEEDED = ("file", "licence")
CROP = ("crop_x", "crop_y", "crop_w", "crop_h")
COLUMNS = (*NEEDED, "id", "author", "source", *CROP, "view")


@dataclass(frozen=True)
class _Fault:
    reason: str
    detail: str


class EverydayPhotos:
    """The photos that a table names, in its order."""

    def __init__(self, root: Path, options: EverydayOptions) -> None:
        """Raise DefinitionError for a table that is not there, or has other columns."""
        self._below = Below(root.absolute())
        path = root / options.table
        if not path.is_file():
            raise DefinitionError(
                f"no table {options.table!r} in {str(root)!r}; write one with the columns file, author, "
                "source and licence",
                field="dataset.options.table",
            )
        self._table = _opened(path)
        self._admitted = {_plain(licence): licence for licence in options.licences}
        self._check_columns()

    @classmethod
    def build(cls, root: Path, options: EverydayOptions) -> EverydayPhotos:
        """The photos of a folder."""
        return cls(root, options)

    def read(self) -> Iterator[SourcePhoto | LeftOut]:
        """Every photo that a row names."""
        return opened(self.files())

    def files(self) -> Iterator[Listed]:
        """The same, unread."""
        yield from list(self._rows())

    def _rows(self) -> Iterator[Listed]:
        ids: dict[str, str] = {}
        taken: dict[str, int] = {}
        n_rows = 0
        for n_rows, row in enumerate(self._table.rows(), 1):  # noqa: B007 - the last one counts
            where = f"{self._table.path.name}:{row.line}"
            found = self._photo(row, where, ids)
            if isinstance(found, FoundPhoto) and found.id in taken:
                detail = f"id: {found.id!r} is also on line {taken[found.id]}; give one of them another"
                found = _Fault("duplicate_id", detail)
            if isinstance(found, _Fault):
                name = row.values.get("file", "")
                detail = f"{name}: {found.detail}" if name else found.detail
                yield LeftOut(source=where, reason=found.reason, detail=detail)
            else:
                taken[found.id] = row.line
                yield found
        if not n_rows:
            yield Note(f"{self._table.path.name} has no rows")

    def _photo(self, row: TableRow, where: str, ids: dict[str, str]) -> FoundPhoto | _Fault:
        held = {name: row.values.get(name, "") for name in COLUMNS}
        if row.problem or not held["file"]:
            return _Fault("malformed_row", row.problem or "the row names no file")
        place = self._below.place(held["file"])
        problem = place if isinstance(place, tuple) else problem_of(Path(place))
        licence, crop = self._licence(held), _crop(held)
        faults = [
            _Fault(*problem) if problem else None,
            licence if isinstance(licence, _Fault) else None,
            crop if isinstance(crop, _Fault) else None,
            _odd(held),
        ]
        wrong = [fault for fault in faults if fault]
        if wrong:
            return _Fault(wrong[0].reason, "; ".join(fault.detail for fault in wrong))
        assert isinstance(licence, str)
        assert not isinstance(crop, _Fault)
        name = held["id"] or slug(held["file"].rpartition(".")[0] or held["file"], ids, owner=held["file"])
        return FoundPhoto(
            id=name,
            subject=name,
            path=str(place),
            source=held["source"] or held["file"],
            licence=licence,
            groups={"view": held["view"].casefold()} if held["view"] else {},
            role="base",
            credit=Credit(row=where, author=held["author"], crop=crop),
        )

    def _licence(self, held: Mapping[str, str]) -> str | _Fault:
        """As it is recorded, or what is wrong with it."""
        stated = held["licence"]
        admitted = self._admitted.get(_plain(stated))
        if admitted is not None:
            return admitted
        found = licence_id(stated)
        if found is None:
            others = "".join(f"; {licence}" for licence in self._admitted.values())
            said = f"the licence {stated!r} is not admitted" if stated else "no licence is stated"
            return _Fault("licence", f"{said}; allowed: {SPELLINGS}{others}")
        missing = [name for name in ("author", "source") if not held[name]]
        if missing and needs_attribution(found):
            return _Fault("licence", f"no {' and no '.join(missing)} is stated, and {found} asks for it")
        return found

    def _check_columns(self) -> None:
        table = self._table
        if not table.columns:
            return
        missing = [name for name in NEEDED if name not in table.columns]
        strange = [name for name in table.columns if name not in COLUMNS]
        if missing or strange:
            text = (
                f"the table has no column {missing[0]!r}"
                if missing
                else f"no column is called {strange[0]!r}"
            )
            raise DefinitionError(text, file=str(table.path), line=1, allowed=COLUMNS)


def _opened(path: Path) -> PhotoTable | YamlTable:
    if path.suffix.lower() in YAML_SUFFIXES:
        return YamlTable(path)
    if path.suffix.lower() not in SUFFIXES:
        raise DefinitionError(
            f"{path.name!r} is no table of photos",
            file=str(path),
            field="dataset.options.table",
            allowed=(*SUFFIXES, *YAML_SUFFIXES),
        )
    return PhotoTable(path)


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _odd(held: Mapping[str, str]) -> _Fault | None:
    """An id or a view that is none."""
    if held["id"] and not re.fullmatch(Slug, held["id"]):
        allowed = "lower-case letters, digits, '.', '_' and '-', first a letter or digit"
        return _Fault("malformed_row", f"id: {held['id']!r} cannot be an id; allowed: {allowed}")
    if held["view"] and held["view"].casefold() not in get_args(View):
        return _Fault("malformed_row", f"view: {held['view']!r}; allowed: {', '.join(get_args(View))}")
    return None


def _crop(held: Mapping[str, str]) -> CropArea | _Fault | None:
    """The crop that a row places; None where it places none."""
    stated = {name: held[name] for name in CROP if held[name]}
    if not stated:
        return None
    if len(stated) < len(CROP):
        missing = ", ".join(name for name in CROP if name not in stated)
        return _Fault(
            "malformed_row", f"no {missing} is stated; a crop needs {', '.join(CROP)}, or none of them"
        )
    for name, value in stated.items():
        least = 0 if name in ("crop_x", "crop_y") else 1
        if not re.fullmatch(r"[0-9]{1,6}", value) or int(value) < least:
            allowed = f"whole pixels of the upright photo from {least} on"
            return _Fault("malformed_row", f"{name}: {value!r}; allowed: {allowed}")
    x, y, width, height = (int(stated[name]) for name in CROP)
    if is_off_shape(width, height):
        shape = closest_shape(width, height)
        wide, high = largest_within(width, height, shape)
        shapes = ", ".join(f"{w}×{h}" for w, h in SHAPES.values())
        said = f"{width}×{height} is not within {MOST_OFF_PERCENT} % of a shape ({shapes})"
        nearest = f"the nearest that it holds is {wide}×{high} ({shape})"
        return _Fault("crop_off_shape", f"crop_w, crop_h: {said}; {nearest}")
    return CropArea(x=x, y=y, width=width, height=height)
