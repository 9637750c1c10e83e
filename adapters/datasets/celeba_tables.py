"""The annotation files of CelebA, as its authors' text files or Kaggle's CSV copies, checked row by row.

Text files are split on any run of white space: a positive value has two spaces before it, and the header of
the attributes ends with one. A header that is not what it should be is an error; a row that is not leaves its
photo out, with file and line.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from adapters.datasets.text_files import unreadable
from domain.errors import DefinitionError
from domain.photos import LeftOut

Numbers = tuple[int, ...]

ATTRIBUTES = (
    "5_o_Clock_Shadow", "Arched_Eyebrows", "Attractive", "Bags_Under_Eyes", "Bald", "Bangs", "Big_Lips",
    "Big_Nose", "Black_Hair", "Blond_Hair", "Blurry", "Brown_Hair", "Bushy_Eyebrows", "Chubby",
    "Double_Chin", "Eyeglasses", "Goatee", "Gray_Hair", "Heavy_Makeup", "High_Cheekbones", "Male",
    "Mouth_Slightly_Open", "Mustache", "Narrow_Eyes", "No_Beard", "Oval_Face", "Pale_Skin",
    "Pointy_Nose", "Receding_Hairline", "Rosy_Cheeks", "Sideburns", "Smiling", "Straight_Hair",
    "Wavy_Hair", "Wearing_Earrings", "Wearing_Hat", "Wearing_Lipstick", "Wearing_Necklace",
    "Wearing_Necktie", "Young",
)  # fmt: skip
BOX = ("x_1", "y_1", "width", "height")
LANDMARKS = tuple(
    f"{point}_{axis}" for point in ("lefteye", "righteye", "nose", "leftmouth", "rightmouth") for axis in "xy"
)


NO_HEADER: tuple[int, list[str]] = (2, [])


@dataclass(frozen=True)
class Layout:
    """One kind of annotation file."""

    stem: str
    columns: tuple[str, ...]
    check: Callable[[Numbers], str | None]
    """What is wrong with a row's numbers, if anything."""
    has_header: bool = True


@dataclass
class Annotations:
    """What one file says: numbers by photo, and why some have none."""

    stem: str = ""
    numbers: dict[str, Numbers] = field(default_factory=dict[str, Numbers])
    faults: dict[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])
    """Photo to where its row is (file and line) and what is wrong with it."""
    strays: list[LeftOut] = field(default_factory=list[LeftOut])
    """Rows that are again about a photo."""

    def about_nothing(self, names: Iterable[str]) -> Iterator[LeftOut]:
        """Faults of rows that are about none of these photos."""
        for name in sorted(self.faults.keys() - set(names)):
            where, what = self.faults[name]
            yield LeftOut(source=where, reason="malformed_row", detail=f"{name[:60]!r}: {what}")


def _attributes(row: Numbers) -> str | None:
    return None if set(row) <= {-1, 1} else "a value is neither -1 nor 1"


def _identity(row: Numbers) -> str | None:
    return None if row[0] > 0 else f"the identity is {row[0]}"


def _partition(row: Numbers) -> str | None:
    return None if row[0] in (0, 1, 2) else f"the partition is {row[0]}; allowed: 0, 1, 2"


def _nothing(_: Numbers) -> str | None:
    return None


LAYOUTS = {
    "attributes": Layout("list_attr_celeba", ATTRIBUTES, _attributes),
    "identities": Layout("identity_CelebA", ("identity",), _identity, has_header=False),
    "partitions": Layout("list_eval_partition", ("partition",), _partition, has_header=False),
    "boxes": Layout("list_bbox_celeba", BOX, _nothing),
    "landmarks_aligned": Layout("list_landmarks_align_celeba", LANDMARKS, _nothing),
    "landmarks_wild": Layout("list_landmarks_celeba", LANDMARKS, _nothing),
}


def find_annotations(root: Path, kind: str) -> Path | None:
    """Where a kind of annotation is, if it is there: flat or in `Anno/` and `Eval/`; text before CSV."""
    stem = LAYOUTS[kind].stem
    places = [root / folder / f"{stem}{end}" for end in (".txt", ".csv") for folder in ("", "Anno", "Eval")]
    return next((place for place in places if place.is_file()), None)


def read_annotations(path: Path, kind: str, keep: tuple[str, ...] | None = None) -> Annotations:
    """One annotation file, checked.

    Args:
        path: The file, text or CSV.
        kind: Key of `LAYOUTS`.
        keep: The columns whose numbers are kept; all by default.

    Raises:
        DefinitionError: it cannot be read, its header names other columns, it has another number of rows
            than it says, or no row that can be used.
    """
    layout, found, line = LAYOUTS[kind], Annotations(LAYOUTS[kind].stem), 0
    places = [layout.columns.index(name) for name in (keep if keep is not None else layout.columns)]
    shared: dict[Numbers, Numbers] = {}
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            for line, (name, *values) in _rows(file, layout, path):
                row = _numbers(values, layout)
                if name in found.numbers or name in found.faults:
                    found.strays.append(
                        LeftOut(source=f"{path.name}:{line}", reason="duplicate_row", detail=f"again {name}")
                    )
                elif isinstance(row, str):
                    found.faults[name] = f"{path.name}:{line}", row
                else:
                    kept = tuple(row[place] for place in places)
                    found.numbers[name] = shared.setdefault(kept, kept)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise unreadable(error, path, line + 1) from error
    if not found.numbers:
        _, what = next(iter(found.faults.values()), ("", "it has none"))
        raise DefinitionError(
            f"no row of the file can be used: {what}; get it again",
            file=str(path),
            line=int(next(iter(found.faults.values()))[0].rpartition(":")[2]) if found.faults else None,
        )
    return found


def _numbers(values: list[str], layout: Layout) -> Numbers | str:
    """The numbers of a row, or what is wrong with it."""
    if len(values) != len(layout.columns):
        return f"{len(values)} values, {len(layout.columns)} are needed"
    try:
        row = tuple(map(int, values))
    except ValueError:
        return f"{' '.join(values)[:60]!r} holds what is no whole number"
    return layout.check(row) or row


def _rows(file: Iterator[str], layout: Layout, path: Path) -> Iterator[tuple[int, list[str]]]:
    """Rows that are not blank, each with its line, after the header was checked."""
    is_csv = path.suffix == ".csv"
    split = _csv_lines(file, path) if is_csv else (text.split() for text in file)
    lines = ((number, [text.strip() for text in row]) for number, row in enumerate(split, 1))
    rows = ((number, row) for number, row in lines if any(row))
    said = None
    if layout.has_header and not is_csv:
        number, count = next(rows, (1, [""]))
        if len(count) != 1 or not count[0].isdecimal():
            raise DefinitionError("the first line must be the number of rows", file=str(path), line=number)
        said = int(count[0])
    if layout.has_header or is_csv:
        _check_header(*next(rows, NO_HEADER), layout, path)
    seen = 0
    for number, row in rows:
        seen += 1
        yield number, row
    if said is not None and seen != said:
        raise DefinitionError(
            f"{said} rows are said to be there, {seen} are; the file is not whole, get it again",
            file=str(path),
            line=1,
        )


def _csv_lines(file: Iterator[str], path: Path) -> Iterator[list[str]]:
    """A row a line: a quote that is open at the end of one would swallow the rows below it."""
    reader, before = csv.reader(file, strict=True), 0
    try:
        for row in reader:
            if reader.line_num != before + 1:
                raise csv.Error("unexpected end of data")
            before = reader.line_num
            yield row
    except csv.Error as error:
        raise unreadable(error, path, before + 1) from error


def _check_header(line: int, header: list[str], layout: Layout, path: Path) -> None:
    names = tuple(header[1:] if header[:1] == ["image_id"] else header)
    if names != layout.columns:
        wrong = [name for name in names if name not in layout.columns]
        pairs = enumerate(zip(names, layout.columns, strict=False), 1)
        first = next(
            (f"; name {n} is {name!r}, not {needed!r}" for n, (name, needed) in pairs if name != needed), ""
        )
        raise DefinitionError(
            f"the header has {len(names)} names, {len(layout.columns)} are needed in their order{first}"
            + (f"; not among them: {', '.join(wrong[:5])}" if wrong else ""),
            file=str(path),
            line=line,
            allowed=layout.columns,
        )
