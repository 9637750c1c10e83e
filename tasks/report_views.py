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
    rows = board_rows(read_table(store, snapshot, "leaderboard"), run)
    shown = [BOARD_COLUMNS[index][0] for index in TERMINAL_COLUMNS]
    cells = [replace(row, cells=[row.cells[index] for index in TERMINAL_COLUMNS]) for row in rows]
    return Board(run.suite.title, shown, cells)


def truth_lines(snapshot: Snapshot) -> list[str]:
    """Measured overediting beside the truth, for models that tell it; one sentence each."""
    summary = truth_summary(read_table(wiring.store(), snapshot, "truth"))
    return [
        f"{row['model']} by its own account: OER {row['oer_true']:.3f} (measured {row['oer_measured']:.3f}), "
        f"missed edits {row['missed_true']:.1%} (measured {row['missed_measured']:.1%}), "
        f"{row['sessions']} sessions"
        for row in summary.iter_rows(named=True)
    ]
