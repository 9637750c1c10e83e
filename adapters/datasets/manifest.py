"""A table of any photos: CSV, Parquet or JSONL with `image` and `person`, and what else is known of them.

Paths are relative to the table's folder and stay below it. A fault of the table is an error; a fault of a row
leaves its photo out, with file and line.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import cast, get_args

from adapters.datasets.files import Below, FoundPhoto, Listed, Note, in_order, opened, problem_of
from adapters.datasets.source import SourcePhoto, slug
from adapters.datasets.tables import PhotoTable, TableRow
from domain.dataset_options import ManifestOptions, TableOptions
from domain.errors import DefinitionError
from domain.groups import shown
from domain.photos import LeftOut, Role

NEEDED = ("image", "person")
KNOWN = (*NEEDED, "role", "licence", "source")


class ManifestDataset:
    """The photos that a table names, by person and name of the photo."""

    def __init__(
        self,
        table: Path,
        options: TableOptions,
        *,
        folder: Path | None = None,
        groups: tuple[str, ...] | None = None,
        licence: str = "not stated in the table",
    ) -> None:
        """Raise DefinitionError for a table without the columns that are needed or named."""
        self._table = PhotoTable(table)
        self._folder = str((folder or table.parent).absolute())
        self._columns = _columns(self._table, options, groups)
        self._licence = options.licence or licence
        self._unknown = frozenset(value.casefold() for value in options.unknown)
        self._spellings = {
            name: {meant.casefold(): meant for meant in held.values()}  # a meaning is a spelling of itself
            | {said.casefold(): meant for said, meant in held.items()}
            for name, held in options.spellings.items()
        }
        self._check_spellings(options.usual)
        self._check_values()

    @classmethod
    def build(cls, root: Path, options: ManifestOptions) -> ManifestDataset:
        """The photos of a table file."""
        return cls(root, options, groups=options.groups)

    def read(self) -> Iterator[SourcePhoto | LeftOut]:
        """Every photo that a row names, subjects together."""
        return opened(self.files())

    def files(self) -> Iterator[Listed]:
        """The same, unread."""
        unused = [name for name in self._table.columns if name not in self._columns.values()]
        if unused:
            yield Note(f"columns not used: {', '.join(unused)}")
        n_rows, below = 0, Below(self._folder)
        seen: dict[str, int] = {}
        subjects: dict[str, str] = {}
        ids: dict[str, str] = {}
        found: list[tuple[tuple[str, str], FoundPhoto | LeftOut]] = []
        for n_rows, row in enumerate(self._table.rows(), 1):  # noqa: B007 - the last one counts
            values = {name: row.values.get(column, "") for name, column in self._columns.items()}
            place = below.place(values["image"])
            problem = self._row_problem(row, values, place) or self._file_problem(values, str(place), seen)
            if problem:
                where = f"{self._table.path.name}:{row.line}"
                item = LeftOut(source=where, reason=problem[0], detail=problem[1])
            else:
                seen[str(place)] = row.line
                item = self._photo(values, str(place), subjects, ids)
            found.append(((values["person"], values["image"]), item))
        if not n_rows:
            yield Note(f"{self._table.path.name} has no rows")
        yield from in_order(found)

    def _row_problem(
        self, row: TableRow, values: Mapping[str, str], place: str | tuple[str, str]
    ) -> tuple[str, str] | None:
        """A reason and a detail where a row names no photo, no place that is allowed, or nobody."""
        image = values["image"]
        if row.problem or not image:
            return "malformed_row", row.problem or "no image"
        if not isinstance(place, str):
            return place
        if values["person"].casefold() in self._unknown:
            return "no_person", f"{image}: the person is not known"
        role = self._role(values)
        if role is not None and role not in get_args(Role):
            return "unknown_role", f"{image}: the role is {role!r}; allowed: {', '.join(get_args(Role))}"
        return None

    def _file_problem(
        self, values: Mapping[str, str], place: str, seen: Mapping[str, int]
    ) -> tuple[str, str] | None:
        if place in seen:
            return "duplicate_row", f"{values['image']}: also on line {seen[place]}"
        problem = problem_of(Path(place))
        return (problem[0], f"{values['image']}: {problem[1]}") if problem else None

    def _photo(
        self, values: Mapping[str, str], place: str, subjects: dict[str, str], ids: dict[str, str]
    ) -> FoundPhoto:
        groups = {name: self._meaning(name, value) for name, value in values.items() if name not in KNOWN}
        image = values["image"]
        return FoundPhoto(
            id=slug(image.rpartition(".")[0] or image, ids, owner=place),
            subject=slug(values["person"], subjects),
            path=place,
            source=values.get("source") or image,
            licence=values.get("licence") or self._licence,
            groups={name: value for name, value in groups.items() if value is not None},
            role=cast("Role | None", self._role(values)),
        )

    def _role(self, values: Mapping[str, str]) -> str | None:
        role = self._meaning("role", values.get("role", ""))
        return role.casefold() if role else None

    def _meaning(self, name: str, value: str) -> str | None:
        """What a value stands for; None where it is not known."""
        if value.casefold() in self._unknown:
            return None
        return self._spellings.get(name, {}).get(value.casefold(), value)

    def _check_spellings(self, usual: frozenset[str]) -> None:
        """Raise DefinitionError for spellings of what is no column of labels, which would mean nothing."""
        spelt = {name for name in self._columns if name == "role" or name not in KNOWN}
        for name in self._spellings:
            if name not in spelt and name not in usual:
                raise DefinitionError(
                    f"`spellings` names {name!r}, which is no label of the table, nor `role`",
                    file=str(self._table.path),
                    line=1,
                    field=f"dataset.options.spellings.{name}",
                    allowed=tuple(sorted(spelt)),
                )

    def _check_values(self) -> None:
        """Raise DefinitionError for values of a column with fixed spellings that are none of them."""
        checked = [name for name in self._spellings if name in self._columns and name != "role"]
        strange: dict[str, dict[str, int]] = {}
        for row in self._table.rows() if checked else ():
            for name in checked:
                value = row.values.get(self._columns[name], "")
                known = value.casefold() in self._unknown or value.casefold() in self._spellings[name]
                if not known and not row.problem:
                    strange.setdefault(name, {}).setdefault(value, row.line)
        for name, values in strange.items():
            first = list(values.items())[:10]
            held = ", ".join(f"{shown(value)!r} (line {line})" for value, line in first)
            raise DefinitionError(
                f"column {self._columns[name]!r} holds {held}; add it to `spellings` or empty the cell",
                file=str(self._table.path),
                line=min(values.values()),
                field=f"dataset.options.spellings.{name}",
                allowed=tuple(dict.fromkeys(self._spellings[name])),
            )


def _columns(table: PhotoTable, options: TableOptions, groups: tuple[str, ...] | None) -> dict[str, str]:
    """What we call each used column, to its name in the table."""
    for name, column in options.columns.items():
        if column not in table.columns:
            raise _no_column(table, column, f"dataset.options.columns.{name}")
    renamed = {column: name for name, column in options.columns.items()}
    free = [column for column in table.columns if column in renamed or column not in options.columns]
    named = {renamed.get(column, column): column for column in free}
    for name in NEEDED:
        if name not in named and name in renamed:
            raise DefinitionError(
                f"`columns` calls the column {name!r} {renamed[name]!r}, so that none is called {name!r}",
                file=str(table.path),
                line=1,
                field=f"dataset.options.columns.{renamed[name]}",
                allowed=KNOWN,
            )
        if name not in named:
            raise _no_column(table, name, f"dataset.options.columns.{name}")
    chosen = groups if groups is not None else tuple(name for name in named if name not in KNOWN)
    for name in chosen:
        if name not in named:
            raise _no_column(table, name, "dataset.options.groups")
        if "=" in name or name in ("", "all"):
            raise DefinitionError(
                f"{name!r} cannot name a column of groups (no equals sign, not `all`, not empty); rename it "
                "in `columns`, or choose others in `groups`",
                file=str(table.path),
                line=1,
            )
    return {name: column for name, column in named.items() if name in KNOWN or name in chosen}


def _no_column(table: PhotoTable, name: str, field: str) -> DefinitionError:
    return DefinitionError(
        f"the table has no column {name!r}", file=str(table.path), line=1, field=field, allowed=table.columns
    )
