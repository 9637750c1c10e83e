"""What the page and the terminal show of a snapshot of prompt chains."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from adapters.base import ObjectStore
from adapters.pages.report_page import BoardRow, Cell, Page
from domain.runs import RunPlan, Snapshot
from tasks.drift_scoring import DRIFT_TABLES
from tasks.report_views import facts_of, ranking_shown, series_of, share, simple_table
from tasks.scoring import read_table
from tasks.served import notices_of
from tasks.vote_notices import vote_notices

DRIFT_COLUMNS = (
    ("complete", "share of its chains that the model completed"),
    ("chains", "chains that the model was asked for"),
    ("unfinished", "chains that errors left open; they are no failures"),
    ("ranked", "whether people's votes on its last faces count, or why not"),
    ("FSS at the end", "cosine of the last face to the original one, over complete chains; high is good"),
)
SHOWN = {
    "attempts": "Of each step, at which attempt it was made, and what the others came to.",
    "coverage": "Whatever is in no mean, counted.",
    "left_out": "Photos and prompt chains without a counterpart, and files that became no photo.",
    "shapes": "Edits of another size than their input, and of another aspect (over 1 %).",
    "served": "Each served version beside the one that was asked.",
}


def drift_rows(tables: Mapping[str, pl.DataFrame], run: RunPlan) -> list[BoardRow]:
    """One row a model, the most complete first; controls last."""
    ends = tables["progression"].sort("step").group_by("model").last()
    last = {row["model"]: row for row in ends.iter_rows(named=True)}
    board = tables["completion"].sort("completion", "model", descending=[True, False])
    rows = [
        BoardRow(
            model=row["model"],
            is_control=run.card[row["model"]].is_control,
            note=run.card[row["model"]].note,
            cells=[
                Cell(share(row["completion"]), n=row["n_complete"]),
                Cell(str(row["n_chains"])),
                Cell(str(row["n_unfinished"])),
                Cell("yes" if row["ranked"] else row["reason"].replace("_", " ")),
                _fss(last.get(row["model"])),
            ],
        )
        for row in board.iter_rows(named=True)
    ]
    return sorted(rows, key=lambda row: row.is_control)


def _fss(row: dict[str, float] | None) -> Cell:
    if row is None:
        return Cell("–", n=0)
    interval = "" if row["fss_low"] is None else f"{row['fss_low']:.3f} to {row['fss_high']:.3f}"
    return Cell(f"{row['fss']:.3f}", interval, int(row["n"]))


def drift_tables_of(snapshot: Snapshot, store: ObjectStore) -> dict[str, pl.DataFrame]:
    """Every table of a snapshot of prompt chains."""
    return {name: read_table(store, snapshot, name) for name in DRIFT_TABLES}


def drift_page(run: RunPlan, snapshot: Snapshot, store: ObjectStore) -> Page:
    """Everything the page shows, out of the store."""
    tables = drift_tables_of(snapshot, store)
    return Page(
        title=run.suite.title,
        lead=(
            f"{len(run.cards)} models, {len(run.photos)} photos, each with its own chain of edits. "
            "Each model edits its own last output; every number is computed from the stored images."
        ),
        notices=(*vote_notices(snapshot, store), *notices_of(tables["served"], tables["steps"])),
        board_columns=DRIFT_COLUMNS,
        board=drift_rows(tables, run),
        series=series_of(tables["progression"]),
        comparisons=[],
        comparisons_note="No pictures on this page.",
        tables=[
            *ranking_shown(snapshot, store),
            *(simple_table(name.replace("_", " "), text, tables[name]) for name, text in SHOWN.items()),
        ],
        files=[],
        facts=facts_of(run, snapshot),
    )
