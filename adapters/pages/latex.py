"""Tables as LaTeX with booktabs; every text that comes from data is escaped."""

from __future__ import annotations

import re
from collections.abc import Sequence

from adapters.pages.paper_table import Head, PaperCell, PaperTable, counterpart

_ESCAPES = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%",
    "_": r"\_", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}",
    ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"\textquotedbl{}", "`": r"\textasciigrave{}",
    "[": "{[}", "]": "{]}",
    "→": r"$\rightarrow$", "×": r"$\times$", "±": r"$\pm$", "·": r"$\cdot$", "−": "$-$", "≥": r"$\geq$",
    "≤": r"$\leq$", "–": "--", "—": "---", "₀": "$_0$", "ₖ": "$_k$", "…": r"\ldots{}", "\u00a0": "~",
}  # fmt: skip
# A bracket right after a row's end would be read as its option, so brackets stand in braces.
_SPECIAL = re.compile("|".join(map(re.escape, _ESCAPES)))
_BREAKS = re.compile(r"[\x00-\x1f\x7f\u0085\u2028\u2029]+")

LEGEND = (
    r"Blue: best, red: worst of the row. Bold: best model, or a distance above 3. $^{*}$: not significant."
)


def escaped(text: str) -> str:
    """Text that LaTeX prints as it is, on one line."""
    return _SPECIAL.sub(lambda found: _ESCAPES[found.group()], _BREAKS.sub(" ", text))


def latex_table(table: PaperTable) -> str:
    """A floating table; it needs the packages booktabs, textcomp and xcolor."""
    columns = table.columns
    lines = [
        r"% \usepackage{booktabs,textcomp,xcolor} \usepackage[T1]{fontenc}",
        r"\begin{table*}",
        r"\centering\small",
        rf"\caption{{{_caption(table)}}}",
        rf"\label{{tab:{re.sub('[^a-z0-9]+', '-', table.name.lower())}}}",
        rf"\begin{{tabular}}{{l{'r' * (columns - 1)}}}",
        r"\toprule",
        *(line for row in table.heads for line in _heads(row)),
    ]
    for section in table.sections:
        lines.append(r"\midrule")
        if section.title:
            lines.append(rf"\multicolumn{{{columns}}}{{l}}{{\textit{{{escaped(section.title)}}}}} \\")
        lines += [_row([_cell(cell) for cell in row]) for row in section.rows]
    lines += [r"\bottomrule", r"\end{tabular}", r"\end{table*}"]
    return "\n".join(lines) + "\n"


def _caption(table: PaperTable) -> str:
    told = [f"{table.title}.", counterpart(table.number), table.legend]
    parts = [escaped(text) for text in told if text]
    return " ".join([*parts, LEGEND, f"$n = {table.n}$.", f"Rules: {escaped(table.rules)}."])


def _heads(row: Sequence[Head]) -> list[str]:
    """A row of headings, with a rule under those that span columns."""
    cells = [
        rf"\multicolumn{{{head.span}}}{{c}}{{{escaped(head.text)}}}" if head.span > 1 else escaped(head.text)
        for head in row
    ]
    rules: list[str] = []
    first = 1
    for head in row:
        if head.span > 1 and head.text:
            rules.append(rf"\cmidrule(lr){{{first}-{first + head.span - 1}}}")
        first += head.span
    return [_row(cells), *([" ".join(rules)] if rules else [])]


def _row(cells: Sequence[str]) -> str:
    first = "{}" if cells and cells[0].startswith(("*", "[")) else ""  # else it belongs to the line before
    return rf"{first}{' & '.join(cells)} \\"


def _cell(cell: PaperCell) -> str:
    text = escaped(cell.text)
    if text and cell.marks & {"leader", "prominent"}:
        text = rf"\textbf{{{text}}}"
    for mark, colour in (("best", "blue"), ("worst", "red")):
        if mark in cell.marks:
            text = rf"\textcolor{{{colour}}}{{{text}}}"
    text += "$^{*}$" if "not_significant" in cell.marks else ""
    text += rf"$_{{{escaped(cell.half_width)}}}$" if cell.half_width else ""
    return text + (rf" {{\scriptsize ({escaped(cell.n)})}}" if cell.n else "")
