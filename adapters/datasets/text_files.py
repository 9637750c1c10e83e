"""What is said of a text file that cannot be read: on which line, and what to do."""

from __future__ import annotations

import csv
from pathlib import Path

from domain.errors import DefinitionError

_CSV = {
    "unexpected end of data": "a quote is opened and not closed; close it, or double a quote that is meant",
    "expected after": "text follows a closing quote; double each quote that is inside a value",
    "field larger": "a value is longer than 131,072 characters; is a quote open?",
}
"""Part of what `csv` says, to what a person can do."""


def unreadable(
    error: OSError | ValueError | csv.Error, path: Path, line: int | None = None
) -> DefinitionError:
    """The error to raise.

    Args:
        error: What reading raised.
        path: The file.
        line: On which the row that was being read starts, where that is known.
    """
    if isinstance(error, UnicodeDecodeError):
        text = "the file cannot be read: not UTF-8; save it as UTF-8"
        return DefinitionError(text, file=str(path), line=_undecodable_line(path))
    if isinstance(error, csv.Error):
        what = next((said for part, said in _CSV.items() if part in str(error)), f"{error}; mend the line")
        return DefinitionError(f"the file cannot be read: {what}", file=str(path), line=line)
    said = getattr(error, "strerror", None) or str(error)
    return DefinitionError(f"the file cannot be read: {said}", file=str(path))


def _undecodable_line(path: Path) -> int | None:
    """The first line that is no UTF-8."""
    with path.open("rb") as file:
        for number, data in enumerate(file, 1):
            try:
                data.decode("utf-8")
            except UnicodeDecodeError:
                return number
    return None
