"""Tables as GitHub-flavoured Markdown."""

from __future__ import annotations

import re
from collections.abc import Sequence

from adapters.pages.paper_table import Head, PaperCell, PaperTable, counterpart

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|&~$#])")
_BREAKS = re.compile(r"[\x00-\x1f\x7f\u0085\u2028\u2029]+")

LEGEND = "▲ best and ▼ worst of the row; bold: best model, or a distance above 3; \\*: not significant."


def escaped(text: str) -> str:
    """Text that Markdown shows as it is, on one line."""
    return _SPECIAL.sub(r"\\\1", _BREAKS.sub(" ", text))


def markdown_table(table: PaperTable, level: int = 2) -> str:
    """A table with its caption, as Markdown that ends in a line break.

    Args:
        table: The table.
        level: Of its heading, 1 to 6.

    """
    parts = [f"{'#' * level} {escaped(table.title)}"]
    remarks = [escaped(text) for text in (counterpart(table.number), table.legend) if text]
    remarks += [LEGEND, f"n = {table.n}.", f"Rules: {escaped(table.rules)}."]
    parts.append(" ".join(remarks))
    for section in table.sections:
        if section.title:
            parts.append(f"**{escaped(section.title)}**")
        lines = [_row(_flat(table.heads)), _row(["---"] + ["---:"] * (table.columns - 1))]
        lines += [_row([_cell(cell) for cell in row]) for row in section.rows]
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"


def _flat(heads: Sequence[Sequence[Head]]) -> list[str]:
    """One row of headings out of several, since Markdown has but one."""
    spread = [[head.text for head in row for _ in range(head.span)] for row in heads]
    return [escaped(" · ".join(text for text in column if text)) for column in zip(*spread, strict=True)]


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(cell: PaperCell) -> str:
    text = escaped(cell.text)
    if text and cell.marks & {"leader", "prominent"}:
        text = f"**{text}**"
    text += r"\*" if "not_significant" in cell.marks else ""
    text += f" ± {escaped(cell.half_width)}" if cell.half_width else ""
    text += " ▲" if "best" in cell.marks else " ▼" if "worst" in cell.marks else ""
    return text + (f" ({escaped(cell.n)})" if cell.n else "")
