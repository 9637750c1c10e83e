from __future__ import annotations

import re

import pytest
from paper_examples import EVIL, a_table

from adapters.pages.markdown import escaped, markdown_table


def cells(line: str) -> list[str]:
    """The cells of a row: an escaped bar separates nothing."""
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def rows_of(text: str) -> list[list[str]]:
    return [cells(line) for line in text.splitlines() if line.startswith("|")]


def test_every_row_has_the_columns_of_the_heading():
    rows = rows_of(markdown_table(a_table()))
    assert rows[0] == ["Model", "Hair · Mean", "Hair · WD"]
    assert {len(row) for row in rows} == {3}
    assert rows[1] == ["---", "---:", "---:"]


def test_marks_interval_and_n_are_printed():
    _, _, first, second = rows_of(markdown_table(a_table()))
    assert first[1:] == ["24.60 ± 0.16 ▲ (n = 5490)", r"**3.4**\* (p = 0.2)"]
    assert second[1:] == ["30.00 ▼", "– (n = 0)"]


def test_caption_tells_the_counterpart_the_rules_and_n():
    text = markdown_table(a_table(), level=1)
    assert text.startswith("# Mean Drop\\_FSS (%)\n")
    assert "Counterpart of Table 1 of arXiv 2608.28802." in text
    assert "Rules: no face = zero." in text
    assert "n = 5490." in text
    assert "**celeba**" in text


def test_markup_in_a_name_is_text():
    name = rows_of(markdown_table(a_table()))[2][0]
    assert "\n" not in name
    assert "\x00" not in name
    assert re.sub(r"\\(.)", r"\1", name) == re.sub(r"[\n\x00]", " ", EVIL).strip()


@pytest.mark.parametrize("character", "\\`*_{}[]<>|&~$#")
def test_each_special_character_is_escaped(character: str):
    assert escaped(f"a{character}b") == f"a\\{character}b"
