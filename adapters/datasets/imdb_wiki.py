"""IMDB-WIKI: photos of film people and of people in Wikipedia, with a date of birth and a year of taking.

`imdb.mat` and `wiki.mat` hold one struct whose fields are arrays of one row, some of them cells in cells.
What the files say wrongly or not at all (impossible dates, no face, a second face) is left out and counted.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import numpy as np

from adapters.datasets.about import ABOUT
from adapters.datasets.files import Below, FoundPhoto, Listed, Note, in_order, opened, problem_of
from adapters.datasets.mat_files import FaceTable, read_mat_apart
from adapters.datasets.source import SourcePhoto, slug
from domain.dataset_options import ImdbWikiOptions
from domain.errors import DefinitionError
from domain.photos import LeftOut

MATLAB_DAY_OF_PYTHON_DAY_0 = 366
"""Matlab counts days from a year 0 that Python's calendar does not have."""
OLDEST = 100
GENDERS = {0.0: "female", 1.0: "male"}


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
        self._below = Below(self._folder)

    @classmethod
    def build(cls, root: Path, options: ImdbWikiOptions) -> ImdbWikiDataset:
        """The part in a folder."""
        return cls(root, options)

    def read(self) -> Iterator[SourcePhoto | LeftOut]:
        """Every photo that can be told to be of one person, subjects together."""
        return opened(self.files())

    def files(self) -> Iterator[Listed]:
        """The same, unread."""
        table = read_mat_apart(self._mat, self._options.part)
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
        place = self._below.place(path) if path else ("no_path", f"entry {number + 1}")
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


def _first(root: Path, names: tuple[str, ...]) -> Path:
    place = next((root / name for name in names if (root / name).exists()), None)
    if place is None:
        raise DefinitionError(
            f"none of {', '.join(dict.fromkeys(names))} in {str(root)!r}. {ABOUT['imdb_wiki'].get}",
            field="dataset.path",
        )
    return place
