"""What the terminal and Prefect's UI show of a snapshot, read from the store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from domain.runs import RunPlan, Snapshot
from metrics.scoring import POOLED
from metrics.session_scores import FLOOR_METRIC
from tasks import wiring
from tasks.scoring import read_table


@dataclass(frozen=True)
class Cell:
    """One number of a table as it is read: value, interval, how many."""

    text: str
    interval: str = ""
    n: int | None = None


@dataclass(frozen=True)
class BoardRow:
    """One model of the leaderboard."""

    model: str
    is_control: bool
    note: str
    cells: Sequence[Cell]


BOARD_COLUMNS = (
    ("Drop_FSS %", "mean loss of similarity to the person over the steps, % of the photo's own; low is good"),
    ("SC", "semantic consistency, 0 to 1: the worse of editing success and (no) overediting; high is good"),
    ("OER", "overedits per step: changes nobody asked for; low is good"),
    ("OER without facial hair", "the same without mustache and beard, which can only move for some people"),
    ("complete", "share of planned sessions with all four images"),
    ("refused", "share of planned sessions that a refusal stopped"),
    ("no image", "share of planned sessions that an answer without an image stopped"),
    ("no face", "share of edited images without a face (counted as FSS 0 by default)"),
    ("Drop to floor %", "Drop_FSS on a scale where a photo of somebody else is 100"),
)  # fmt: skip


def board_rows(board: pl.DataFrame, run: RunPlan) -> list[BoardRow]:
    """The pooled leaderboard as it is read: models first, then controls, best first."""
    rows = board.filter(pl.col("test_set") == POOLED).iter_rows(named=True)
    cards = run.card
    made = [
        BoardRow(
            model=row["model"],
            is_control=cards[row["model"]].is_control,
            note=cards[row["model"]].note,
            cells=[
                estimate(row, "drop_fss", 2),
                estimate(row, "sc", 3),
                estimate(row, "oer", 3),
                estimate(row, "oer_no_facial_hair", 3),
                Cell(share(row["completion"]), n=row["n_planned"]),
                Cell(share(row["refusal"])),
                Cell(share(row["no_image"])),
                Cell(share(row["no_face"])),
                estimate(row, FLOOR_METRIC, 2) if FLOOR_METRIC in row else Cell("–"),
            ],
        )
        for row in rows
    ]
    return sorted(made, key=lambda row: row.is_control)


def estimate(row: dict[str, Any], name: str, digits: int) -> Cell:
    """A mean with its interval; a mean that is not determined is a dash, with how many went into it: 0."""
    if row[name] is None:
        return Cell("–", n=row[f"{name}_n"])
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    interval = "" if low is None else f"{low:.{digits}f} to {high:.{digits}f}"
    return Cell(f"{row[name]:.{digits}f}", interval, row[f"{name}_n"])


def share(value: float | None) -> str:
    """A share as a percentage."""
    return "–" if value is None else f"{value:.1%}"


TRUTH_TEXT = (
    "The procedural editor reports what it really drew. Overedits per step and missed edits as it "
    "reports them, beside what the tracker and the rules measured on the same sessions."
)
TRACKER_TEXT = (
    "The tracker is a heuristic stand-in for a multimodal language model. Of every change that was "
    "really drawn: how often it saw exactly that category afterwards."
)


def truth_summary(truth: pl.DataFrame) -> pl.DataFrame:
    """Measured overediting and missed edits beside the true ones, one row a model."""
    return (
        truth.group_by("model")
        .agg(
            pl.len().alias("sessions"),
            pl.col("oer_true").mean(),
            pl.col("oer_measured").mean(),
            (pl.col("missed_true").sum() / pl.col("asked").sum()).alias("missed_true"),
            (pl.col("missed_measured").sum() / pl.col("asked").sum()).alias("missed_measured"),
        )
        .sort("model")
    )


DRIFT_COLUMNS = (
    ("complete", "share of its chains that the model completed"),
    ("chains", "chains that the model was asked for"),
    ("unfinished", "chains that errors left open; they are no failures"),
    ("ranked", "whether people's votes on its last faces count, or why not"),
    ("FSS at the end", "cosine of the last face to the original one, over complete chains; high is good"),
)


def drift_rows(completion: pl.DataFrame, progression: pl.DataFrame, run: RunPlan) -> list[BoardRow]:
    """One row a model of a suite of prompt chains, the most complete first; controls last."""
    ends = progression.sort("step").group_by("model").last()
    last = {row["model"]: row for row in ends.iter_rows(named=True)}
    board = completion.sort("completion", "model", descending=[True, False])
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
                _last_fss(last.get(row["model"])),
            ],
        )
        for row in board.iter_rows(named=True)
    ]
    return sorted(rows, key=lambda row: row.is_control)


def _last_fss(row: dict[str, Any] | None) -> Cell:
    if row is None:
        return Cell("–", n=0)
    interval = "" if row["fss_low"] is None else f"{row['fss_low']:.3f} to {row['fss_high']:.3f}"
    return Cell(f"{row['fss']:.3f}", interval, int(row["n"]))


TERMINAL_COLUMNS = (0, 1, 2, 4, 6)
"""Of `BOARD_COLUMNS`, those that fit a terminal."""


@dataclass(frozen=True)
class Board:
    """The leaderboard as a terminal shows it."""

    title: str
    columns: Sequence[str]
    rows: Sequence[BoardRow]


def board(snapshot: Snapshot) -> Board:
    """The pooled leaderboard of a snapshot."""
    run, store = wiring.run_plan(snapshot.run_id), wiring.store()
    if run.chain_set is not None:
        completion, ends = (read_table(store, snapshot, name) for name in ("completion", "progression"))
        shown = [name for name, _ in DRIFT_COLUMNS]
        return Board(run.suite.title, shown, drift_rows(completion, ends, run))
    rows = board_rows(read_table(store, snapshot, "leaderboard"), run)
    shown = [BOARD_COLUMNS[index][0] for index in TERMINAL_COLUMNS]
    cells = [replace(row, cells=[row.cells[index] for index in TERMINAL_COLUMNS]) for row in rows]
    return Board(run.suite.title, shown, cells)


def truth_lines(snapshot: Snapshot) -> list[str]:
    """Measured overediting beside the truth, for models that tell it; one sentence each."""
    if wiring.run_plan(snapshot.run_id).chain_set is not None:
        return []
    summary = truth_summary(read_table(wiring.store(), snapshot, "truth"))
    return [
        f"{row['model']} by its own account: OER {row['oer_true']:.3f} (measured {row['oer_measured']:.3f}), "
        f"missed edits {row['missed_true']:.1%} (measured {row['missed_measured']:.1%}), "
        f"{row['sessions']} sessions"
        for row in summary.iter_rows(named=True)
    ]
