"""`imdb.mat` and `wiki.mat`, read in a process of their own: damaged ones can end it."""

from __future__ import annotations

import math
import pickle
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from domain.errors import DefinitionError

Floats = npt.NDArray[np.float64]

NUMBERS = ("dob", "photo_taken", "gender", "face_score", "second_face_score")
NEEDED = ("dob", "photo_taken", "full_path", "gender", "name", "face_score", "second_face_score")
CHILD = "import sys; sys.path[:] = {path!r}; from adapters.datasets.mat_files import child; child()"


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


def read_mat_apart(path: Path, part: str) -> FaceTable:
    """As `read_mat`, and whatever a damaged file does to its reader is a DefinitionError too."""
    with tempfile.TemporaryDirectory(prefix="facedrift-mat-") as folder:
        out = Path(folder) / "table"
        code = CHILD.format(path=sys.path)
        ended = subprocess.run(
            [sys.executable, "-c", code, str(path), part, str(out)],
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
        if ended.returncode != 0:
            said = (ended.stderr.strip().splitlines() or [""])[-1]
            if ended.returncode < 0:
                said = f"reading it ended with signal {-ended.returncode}"
            raise DefinitionError(
                f"the file is damaged, or no .mat file: {said}; get it again", file=str(path)
            )
        with out.open("rb") as file:
            found = pickle.load(file)
    if isinstance(found, DefinitionError):
        raise found
    return cast(FaceTable, found)


def child() -> None:
    """What the other process does: reads a file and leaves what it found, or what is wrong with it."""
    path, part, out = sys.argv[1:]
    try:
        found: FaceTable | DefinitionError = read_mat(Path(path), part)
    except DefinitionError as error:
        found = error
    with Path(out).open("wb") as file:
        pickle.dump(found, file)


def read_mat(path: Path, part: str) -> FaceTable:
    """The struct of a `.mat` file. Scipy may raise anything of a damaged one, or end the process.

    Raises:
        DefinitionError: a field is missing, has another length, or holds what it should not.
    """
    from scipy.io import loadmat

    struct = loadmat(str(path), variable_names=[part]).get(part)
    if struct is None or struct.dtype.names is None or struct.shape != (1, 1):
        raise DefinitionError(f"no struct {part!r} in the file", file=str(path))
    fields = struct.dtype.names
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
    numbers = {
        name: _numbers(columns[name], name, path) for name in (*NUMBERS, "celeb_id") if name in columns
    }
    people, lost = _people(columns, paths, numbers.get("celeb_id"))
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


def _numbers(column: npt.NDArray[Any], name: str, path: Path) -> Floats:
    """A column of numbers, plain or each in a cell; an empty cell is not known."""
    if column.dtype.kind in "biuf":
        return np.asarray(column, np.float64)
    values: list[float] = []
    for number, value in enumerate(column, 1):
        text = _cell(value)
        try:
            values.append(float(text) if text else math.nan)
        except ValueError as error:
            raise DefinitionError(
                f"entry {number} of {name} is {text[:60]!r}, and must be a number or NaN",
                file=str(path),
                field=name,
            ) from error
    return np.array(values, np.float64)


def _people(
    columns: dict[str, npt.NDArray[Any]], paths: list[str], ids: Floats | None
) -> tuple[list[tuple[str, str]], int]:
    """Key and name of who is on each photo, and how many ids lead to no name.

    IMDb has a 1-based `celeb_id` into `celeb_names`, or into nothing where that field is missing: then `name`
    says who it is. Wikipedia's paths start with a number for each person.
    """
    names = [_cell(value) for value in columns["name"]]
    if ids is None:
        keys = [Path(path).name.partition("_")[0] for path in paths]
        return [(key if key.isdecimal() else name, name) for key, name in zip(keys, names, strict=True)], 0
    places = [int(value) if math.isfinite(value) else 0 for value in ids]
    known = [_cell(value) for value in columns.get("celeb_names", np.empty(0, object))]
    if "celeb_names" in columns:
        held = [known[place - 1] if 0 < place <= len(known) else None for place in places]
    else:
        held = [name if place > 0 else None for place, name in zip(places, names, strict=True)]
    people = [("", "") if name is None else (f"{n:06d}", name) for n, name in zip(places, held, strict=True)]
    return people, sum(not key for key, _ in people)


def _cell(value: Any) -> str:
    """The text in a cell, however deeply it is nested; empty where there is none."""
    while isinstance(value, np.ndarray):
        held = np.ravel(cast(npt.NDArray[Any], value))
        value = held[0] if held.size else ""
    return str(value).strip()
