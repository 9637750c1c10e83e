"""What `facedrift compare-paper` prints."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl
from rich.table import Table

from flows.consoles import out
from tasks.comparing import (
    CELL_HEADS,
    CLOSURE_HEADS,
    PaperComparison,
    cell_rows,
    closure_counts,
    compare_with_paper,
    failed_rows,
)
from tasks.paper_comparison import VERDICTS, counts_of, sorted_tables
from tasks.publishing import stored_at

COLOURS = {"equal": "green", "overlaps": "cyan", "differs": "yellow", "not run": "dim"}


def compare_paper(suite: str | None) -> None:
    """Print our tables beside the printed ones, then what the printed ones say of each other."""
    made = compare_with_paper(suite)
    out.print(made.lead, markup=False, highlight=False, soft_wrap=True)
    _print_counts(made.cells)
    if made.has_ours:
        shown = made.cells.filter(pl.col("verdict") != "not run")
        _print("Cell by cell", CELL_HEADS, cell_rows(shown))
    _print_closure(made)
    for key in made.files:
        out.print(f"written: {stored_at(key)}", markup=False, highlight=False, soft_wrap=True)


def _print_counts(cells: pl.DataFrame) -> None:
    counted = counts_of(cells)
    table = Table(title="Printed cells", title_justify="left", box=None, pad_edge=False)
    table.add_column("table")
    for verdict in VERDICTS:
        table.add_column(verdict, justify="right", style=COLOURS[verdict])
    for name in sorted_tables(list(counted)):
        table.add_row(name, *(str(counted[name][verdict]) for verdict in VERDICTS))
    out.print(table)
    out.print(
        "equal: within half a unit of the last printed digit; overlaps: the intervals do; "
        "not run: nothing of ours",
        style="dim", highlight=False,
    )  # fmt: skip


def _print_closure(made: PaperComparison) -> None:
    heads = ("the printed tables by themselves", "holds", "fails", "known slip")
    _print("", heads, closure_counts(made.closures))
    _print("What does not hold", CLOSURE_HEADS, failed_rows(made.closures))
    held = {number for item in made.closures if not item.holds for number in item.slips}
    for slip in made.slips:
        if slip.id in held:
            out.print(f"slip {slip.id}: {slip.where}: {slip.numbers_say}", markup=False, highlight=False)
    out.print(f"{len(made.slips)} slips of the paper are known; Markdown and CSV list all", style="dim")


def _print(title: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    table = Table(*heads, title=title or None, title_justify="left", box=None, pad_edge=False)
    for row in rows:
        table.add_row(*(text.replace("[", r"\[") for text in row))
    out.print(table)
