"""The pooled rule on the paper's own cells.

`paper_means.csv` holds Tables 1, 2 and 4 of arXiv 2608.28802 and, from Tables 18 and 20, the sessions behind
each cell (Kontext-Pro ran four of the five pose sessions). No row of theirs is among the paper's known slips.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from metrics.frames import SESSIONS
from metrics.leaderboard import POOLED, leaderboard
from metrics.session_scores import ScoringRules

PRINTED = pl.read_csv(Path(__file__).parents[2] / "golden/paper_means.csv")
ROUNDING = {"drop_fss": 0.01, "sc": 0.1, "oer": 0.01}
"""Half a unit of the last printed digit of the average, and as much of its cells."""


@pytest.fixture(scope="module")
def board():
    cells = PRINTED.filter(pl.col("test_set") != "avg")
    sessions = cells.select(pl.all().repeat_by("n_sessions").list.explode())
    constants = {
        "suite": "paper",
        "photo": "p",
        "n_steps": 4,
        "complete": True,
        "n_examined": 4,
        "n_no_face": 0,
    }
    sessions = sessions.with_row_index("session").with_columns(
        pl.col("session").cast(pl.String), *(pl.lit(value).alias(name) for name, value in constants.items())
    )
    absent = [pl.lit(None).alias(name) for name in SESSIONS if name not in sessions.columns]
    table = sessions.with_columns(*absent).select(SESSIONS.names()).cast(dict(SESSIONS))
    return leaderboard(table, ScoringRules(interval="normal"))


def test_the_sessions_are_the_papers(board):
    pooled = board.filter(test_set=POOLED)
    assert pooled.height == 11
    totals = dict(pooled.group_by("dataset").agg(pl.col("n_planned").sum()).rows())
    assert totals == {"celeba": 94_597, "celebset": 107_900}


@pytest.mark.parametrize("metric", sorted(ROUNDING))
def test_the_average_pools_sessions(board, metric):
    averages = PRINTED.filter(test_set="avg").select("dataset", "model", printed=metric)
    both = board.filter(test_set=POOLED).join(averages, on=["dataset", "model"])
    assert both.height == 11
    assert ((both[metric] - both["printed"]).abs() <= ROUNDING[metric] + 1e-9).all()


def test_the_mean_of_the_means_is_not_the_average(board):
    averages = PRINTED.filter(test_set="avg").select("dataset", "model", printed="drop_fss")
    means = (
        board.filter(pl.col("test_set") != POOLED).group_by("dataset", "model").agg(pl.col("drop_fss").mean())
    )
    both = means.join(averages, on=["dataset", "model"])
    assert (both["drop_fss"] - both["printed"]).abs().max() > 1
