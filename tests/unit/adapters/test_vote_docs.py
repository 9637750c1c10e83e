"""The page about voting names every column that is read or given out, and every reason."""

from __future__ import annotations

import re
from pathlib import Path

from adapters.votes import crowd, exports, file

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "voting.md").read_text(encoding="utf-8")
OF_NAMES = {"bad_ms", "bad_count", "bad_country", "bad_user_score"}
"""Reasons that are made of a column's name."""


def named(text: str) -> set[str]:
    return set(re.findall(r"`([a-z_0-9]+)`", text))


def test_every_column_of_our_table_and_of_what_is_given_out() -> None:
    rows = [line.split("|")[1] for line in PAGE.splitlines() if line.startswith("| `")]
    assert set(file.COLUMNS) | set(exports.COLUMNS) <= named(" ".join(rows))


def test_every_column_of_the_crowds_tables() -> None:
    read = {name for name in crowd.COLUMNS if not name.startswith("weighted")} - {"image1", "image2"}
    assert read <= named(PAGE)


def test_every_reason_and_no_other() -> None:
    sources = [path.read_text(encoding="utf-8") for path in (ROOT / "adapters" / "votes").glob("*.py")]
    emitted = {code for text in sources for code in re.findall(r'Bad\(\s*"([a-z_0-9]+)"', text)}
    emitted |= {"short_row", "long_row", "duplicate_voter", "bad_time"} | OF_NAMES
    table = PAGE.split("Rejected, each row")[1].split("Voters whom")[0]
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    assert named(" ".join(rows)) == emitted
