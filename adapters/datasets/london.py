"""The Face Research Lab London Set: 102 adults, neutral and smiling, from five sides, and a table of them.

A folder a view, files named by person and view: `neutral_front/001_03.jpg`, `smiling_front/001_08.jpg`. The
folder says which view it is. Age, gender and ethnicity are what the people said of themselves.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import cast, get_args

from adapters.datasets.about import ABOUT
from adapters.datasets.files import FoundPhoto, Listed, Note, names_in, opened, printable, problem_of
from adapters.datasets.source import SourcePhoto
from adapters.datasets.tables import PhotoTable
from domain.dataset_options import UNKNOWN, LondonOptions, View
from domain.errors import DefinitionError
from domain.photos import LeftOut, Role

TABLES = ("london_faces_info.csv", "london_info.csv")
PERSON = "face_id"
COLUMNS = {"face_age": "age", "face_gender": "gender", "face_eth": "ethnicity"}
NAME = re.compile(r"([0-9]{1,3})_([0-9]{2})\.jpe?g", re.IGNORECASE)
CODES = {"neutral_front": "03", "smiling_front": "08"}
"""What the names of a view's files end in, of the views where that is known."""


class LondonDataset:
    """The chosen views, by person; the base view first."""

    def __init__(self, root: Path, options: LondonOptions) -> None:
        """Raise DefinitionError where the table or a chosen view is missing."""
        self._root = root
        self._options = options
        table = next((root / name for name in TABLES if (root / name).is_file()), None)
        if table is None:
            raise DefinitionError(
                f"no {TABLES[0]} in {str(root)!r}. {ABOUT['london'].get}", field="dataset.path"
            )
        self._table = PhotoTable(table)
        for column in (PERSON, *COLUMNS):
            if column not in self._table.columns:
                raise DefinitionError(
                    f"the table has no column {column!r}",
                    file=str(table),
                    line=1,
                    allowed=self._table.columns,
                )
        self._views = _views_in(root)
        for field, views in (("base", (options.base,)), ("references", options.references)):
            for view in views:
                if view not in self._views:
                    raise DefinitionError(
                        f"no folder of the view {view} in {str(root)!r}. {ABOUT['london'].get}",
                        field=f"dataset.options.{field}",
                        allowed=tuple(self._views),
                    )

    @classmethod
    def build(cls, root: Path, options: LondonOptions) -> LondonDataset:
        """The set in a folder."""
        return cls(root, options)

    def read(self) -> Iterator[SourcePhoto | LeftOut]:
        """Every photo of the chosen views, by person."""
        return opened(self.files())

    def files(self) -> Iterator[Listed]:
        """The same, unread."""
        people, strays = self._people()
        yield from strays
        roles: dict[View, Role] = dict.fromkeys(self._options.references, "reference")
        order: dict[View, Role] = {self._options.base: "base", **roles}
        found: list[tuple[tuple[str, int], FoundPhoto]] = []
        seen: dict[str, str] = {}
        for place, (view, role) in enumerate(order.items()):
            before = len(found)
            for name in names_in(self._views[view]):
                item = self._photo(self._views[view] / name, view, role, people)
                if isinstance(item, FoundPhoto) and seen.setdefault(item.id, item.source) != item.source:
                    detail = f"{seen[item.id]} is that view of the same person"
                    item = LeftOut(source=item.source, reason="duplicate_row", detail=detail)
                if isinstance(item, LeftOut):
                    yield item
                else:
                    found.append(((item.subject, place), item))
            if len(found) == before:
                yield Note(f"no photo of {view}, so that there is no {role} photo of that view")
        yield from self._notes(people, {item.subject for _, item in found})
        yield from (item for _, item in sorted(found, key=lambda pair: pair[0]))
        yield from self._not_chosen(set(order))

    def _photo(
        self, path: Path, view: View, role: Role, people: dict[str, dict[str, str]]
    ) -> FoundPhoto | LeftOut:
        source = printable(f"{path.parent.name}/{path.name}")
        named = NAME.fullmatch(path.name)
        if named is None:
            return LeftOut(source=source, reason="not_a_photo", detail="not named like 001_03.jpg")
        person, code = named.group(1).zfill(3), named.group(2)
        if code != CODES.get(view, code):
            return LeftOut(
                source=source, reason="wrong_view", detail=f"photos of {view} end in {CODES[view]}"
            )
        problem = problem_of(path)
        if problem:
            return LeftOut(source=source, reason=problem[0], detail=problem[1])
        photo_id, licence = f"{person}-{view}", ABOUT["london"].licence
        return FoundPhoto(photo_id, person, str(path), source, licence, people.get(person, {}), role)

    def _people(self) -> tuple[dict[str, dict[str, str]], list[LeftOut]]:
        """What is known of each person, and the rows that could not be used."""
        people: dict[str, dict[str, str]] = {}
        strays: list[LeftOut] = []
        for row in self._table.rows():
            where, person = f"{self._table.path.name}:{row.line}", row.values.get(PERSON, "").zfill(3)
            if row.problem or not (person.isascii() and person.isdecimal()):
                detail = row.problem or f"{PERSON} is {row.values.get(PERSON, '')!r}"
                strays.append(LeftOut(source=where, reason="malformed_row", detail=detail))
            elif person in people:
                strays.append(LeftOut(source=where, reason="duplicate_row", detail=f"again {person}"))
            else:
                known = {name: row.values[column] for column, name in COLUMNS.items()}
                people[person] = {name: v for name, v in known.items() if v.casefold() not in UNKNOWN}
        return people, strays

    def _notes(self, people: dict[str, dict[str, str]], seen: set[str]) -> Iterator[Note]:
        without_row, without_photo = sorted(seen - set(people)), sorted(set(people) - seen)
        if without_row:
            yield Note(f"in no group, for they are not in the table: {', '.join(without_row)}")
        if without_photo:
            shown = ", ".join(without_photo[:10]) + (", …" if len(without_photo) > 10 else "")
            yield Note(f"{len(without_photo)} people of the table have no photo of a chosen view: {shown}")
        strange = [path.name for path in _folders(self._root) if _view_of(path.name) is None]
        if strange:
            yield Note(printable(f"folders that are no view: {', '.join(strange)}"))

    def _not_chosen(self, chosen: set[View]) -> Iterator[LeftOut]:
        for view, folder in self._views.items():
            names = () if view in chosen else names_in(folder)
            for name in names:
                if NAME.fullmatch(name):
                    detail = f"the view {view} is neither `base` nor among `references`"
                    yield LeftOut(source=f"{folder.name}/{name}", reason="view_not_chosen", detail=detail)


def _views_in(root: Path) -> dict[View, Path]:
    views: dict[View, Path] = {}
    for folder in _folders(root):
        view = _view_of(folder.name)
        if view is not None and views.setdefault(view, folder) != folder:
            raise DefinitionError(
                f"{views[view].name!r} and {folder.name!r} are both {view}; keep one", field="dataset.path"
            )
    return views


def _folders(root: Path) -> list[Path]:
    return [root / name for name in names_in(root) if (root / name).is_dir()]


def _view_of(folder: str) -> View | None:
    """The view that a folder's name means, however its parts are written."""
    plain = re.sub(r"[^a-z0-9]", "", folder.casefold()).replace("3quarter", "threequarter")
    views = cast(tuple[View, ...], get_args(View))
    return next((view for view in views if view.replace("_", "") == plain), None)
