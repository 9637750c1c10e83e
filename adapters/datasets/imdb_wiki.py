"""IMDB-WIKI: photos of film people and of people in Wikipedia, with a date of birth and a year of taking.

`imdb.mat` and `wiki.mat` hold one struct whose fields are arrays of one row, some of them cells in cells.
What the files say wrongly or not at all (impossible dates, no face, a second face) is left out and counted.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from adapters.datasets.about import ABOUT
from adapters.datasets.files import FoundPhoto, Listed, Note, in_order, opened, place_below, problem_of
from adapters.datasets.source import SourcePhoto, slug
from domain.dataset_options import ImdbWikiOptions
from domain.errors import DefinitionError
from domain.photos import LeftOut

Floats = npt.NDArray[np.float64]

MATLAB_DAY_OF_PYTHON_DAY_0 = 366
"""Matlab counts days from a year 0 that Python's calendar does not have."""
OLDEST = 100
GENDERS = {0.0: "female", 1.0: "male"}
NEEDED = ("dob", "photo_taken", "full_path", "gender", "name", "face_score", "second_face_score")


@dataclass(frozen=True)
class FaceTable:
    """The fields of a `.mat` file that are used, one entry a photo."""

    paths: list[str]
    people: list[tuple[str, str]]
    """Key and name of who it is; the key is empty where nobody knows."""
    dob: Floats
    taken: Floats
    gender: Floats
    score: Floats
    second: Floats
    ids_out_of_range: int


class ImdbWikiDataset:
    """The photos of one part, by person and path."""

    def __init__(self, root: Path, options: ImdbWikiOptions) -> None:
        """Raise DefinitionError where the part or its photos are missing."""
        part = options.part
        self._options = options
        self._mat = _first(root, (f"{part}.mat", f"{part}_crop/{part}.mat", f"{part}/{part}.mat"))
        folder = f"{part}_crop" if options.images == "crop" else part
        self._folder = _first(
            root, (folder, "." if root.name == folder or (root / "00").is_dir() else folder)
        )

    @classmethod
    def build(cls, root: Path, options: ImdbWikiOptions) -> ImdbWikiDataset:
        """The part in a folder."""
        return cls(root, options)

    def read(self) -> Iterator[SourcePhoto | LeftOut]:
        """Every photo that can be told to be of one person, subjects together."""
        return opened(self.files())

    def files(self) -> Iterator[Listed]:
        """The same, unread."""
        table = read_mat(self._mat, self._options.part)
        subjects: dict[str, str] = {}
        ids: dict[str, str] = {}
        seen: set[str] = set()
        found: list[tuple[tuple[str, str], FoundPhoto | LeftOut]] = []
        unknown = int(np.count_nonzero(~np.isin(table.gender, list(GENDERS))))
        if unknown:
            yield Note(f"gender: unknown of {unknown} of {len(table.paths)} photos")
        if table.ids_out_of_range:
            yield Note(f"celeb_id: {table.ids_out_of_range} lead to no name")
        for number, path in enumerate(table.paths):
            key, name = table.people[number]
            item = self._photo(table, number, seen)
            if isinstance(item, str):
                photo_id = slug(path.rpartition(".")[0], ids, owner=path)
                subject = slug(name or key, subjects, owner=key)
                licence, groups = ABOUT["imdb_wiki"].licence, _groups(table, number)
                item = FoundPhoto(photo_id, subject, item, path, licence, groups)
            found.append(((key, path), item))
        yield from in_order(found)

    def _photo(self, table: FaceTable, number: int, seen: set[str]) -> str | LeftOut:
        """Where a usable photo is, or why it is left out."""
        path = table.paths[number]
        place = place_below(str(self._folder), path) if path else ("no_path", f"entry {number + 1}")
        problem = place if isinstance(place, tuple) else self._fault(table, number)
        if problem is None and path in seen:
            problem = "duplicate_row", f"entry {number + 1} names it again"
        if problem is None:
            seen.add(path)
            problem = problem_of(Path(str(place)))
        if problem:
            source = path or f"{self._mat.name} entry {number + 1}"
            return LeftOut(source=source, reason=problem[0], detail=problem[1])
        return str(place)

    def _fault(self, table: FaceTable, number: int) -> tuple[str, str] | None:
        score, second = float(table.score[number]), float(table.second[number])
        least = self._options.min_face_score
        if not table.people[number][0]:
            return "no_person", "neither an id nor a name"
        if not math.isfinite(score):
            return "no_face", f"the face score is {score}"
        if self._options.faces == "single" and not math.isnan(second):
            return "several_faces", f"a second face with score {second:g}"
        if least is not None and score < least:
            return "low_face_score", f"the face score is {score:.4g}, at least {least:g} is needed"
        age = age_when_taken(float(table.dob[number]), float(table.taken[number]))
        if age is not None and not 0 <= age <= OLDEST:
            return (
                "impossible_age",
                f"age {age}: born on day {table.dob[number]:g}, in {table.taken[number]:g}",
            )
        return None


def _groups(table: FaceTable, number: int) -> dict[str, str]:
    age = age_when_taken(float(table.dob[number]), float(table.taken[number]))
    gender = GENDERS.get(float(table.gender[number]))
    known = {"gender": gender, "age": None if age is None else str(age)}
    return {name: value for name, value in known.items() if value is not None}


def age_when_taken(dob: float, taken: float) -> int | None:
    """Years from a Matlab day of birth to the middle of the year in which a photo was taken.

    A day before the calendar starts counts as its first day, which makes an age that nobody has. None where
    either is not known.
    """
    if not (math.isfinite(dob) and math.isfinite(taken)):
        return None
    last = date.max.toordinal()
    born = date.fromordinal(min(max(int(dob) - MATLAB_DAY_OF_PYTHON_DAY_0, 1), last))
    return int(taken) - born.year - (born.month >= 7)


def read_mat(path: Path, part: str) -> FaceTable:
    """The struct of a `.mat` file.

    Raises:
        DefinitionError: it cannot be read, or a field is missing or has another length.
    """
    struct = _struct(path, part)
    fields = struct.dtype.names or ()
    missing = [name for name in NEEDED if name not in fields]
    if missing:
        raise DefinitionError(f"no field {', '.join(missing)}", file=str(path), field=part, allowed=fields)
    columns = {name: np.ravel(struct[name][0, 0]) for name in fields}
    paths = [_cell(value) for value in columns["full_path"]]
    for name in (*NEEDED, "celeb_id"):
        if name in columns and len(columns[name]) != len(paths):
            raise DefinitionError(
                f"{len(columns[name])} entries in {name}, {len(paths)} in full_path",
                file=str(path),
                field=name,
            )
    people, lost = _people(columns, paths)
    numbers = {
        name: np.asarray(columns[name], np.float64) for name in NEEDED if name not in ("full_path", "name")
    }
    return FaceTable(
        paths=paths,
        people=people,
        dob=numbers["dob"],
        taken=numbers["photo_taken"],
        gender=numbers["gender"],
        score=numbers["face_score"],
        second=numbers["second_face_score"],
        ids_out_of_range=lost,
    )


def _struct(path: Path, part: str) -> npt.NDArray[Any]:
    from scipy.io import loadmat
    from scipy.io.matlab import MatReadError

    try:
        found = loadmat(str(path), variable_names=[part])
    except (OSError, ValueError, TypeError, KeyError, NotImplementedError, MatReadError) as error:
        raise DefinitionError(
            f"no .mat file that can be read: {error}; get it again", file=str(path)
        ) from error
    struct = found.get(part)
    if struct is None or struct.dtype.names is None or struct.shape != (1, 1):
        raise DefinitionError(f"no struct {part!r} in the file", file=str(path))
    return struct


def _people(columns: dict[str, npt.NDArray[Any]], paths: list[str]) -> tuple[list[tuple[str, str]], int]:
    """Key and name of who is on each photo, and how many ids lead to no name.

    IMDb has a 1-based `celeb_id` into `celeb_names`; Wikipedia's paths start with a number for each person.
    """
    if "celeb_id" not in columns:
        names = [_cell(value) for value in columns["name"]]
        keys = [Path(path).name.partition("_")[0] for path in paths]
        return [(key if key.isdecimal() else name, name) for key, name in zip(keys, names, strict=True)], 0
    known = [_cell(value) for value in columns.get("celeb_names", np.empty(0, object))]
    ids = np.asarray(columns["celeb_id"], np.float64)
    places = [int(value) if math.isfinite(value) else 0 for value in ids]
    people = [(f"{place:06d}", known[place - 1]) if 0 < place <= len(known) else ("", "") for place in places]
    return people, sum(not key for key, _ in people)


def _cell(value: Any) -> str:
    """The text in a cell, however deeply it is nested; empty where there is none."""
    while isinstance(value, np.ndarray):
        held = np.ravel(cast(npt.NDArray[Any], value))
        value = held[0] if held.size else ""
    return str(value).strip()


def _first(root: Path, names: tuple[str, ...]) -> Path:
    place = next((root / name for name in names if (root / name).exists()), None)
    if place is None:
        raise DefinitionError(
            f"none of {', '.join(dict.fromkeys(names))} in {str(root)!r}. {ABOUT['imdb_wiki'].get}",
            field="dataset.path",
        )
    return place
