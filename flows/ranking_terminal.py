"""What `facedrift rank` does and prints."""

from __future__ import annotations

import asyncio

from rich.table import Table

from domain.runs import Snapshot
from flows.consoles import out
from flows.local_server import prefect_server
from flows.rank_models import rank_models
from tasks.definitions import load_suite
from tasks.publishing import page_location
from tasks.ranking import HEADS, RankingView, ranking_view


def rank(suite: str, run_id: str | None) -> None:
    """Rank a suite's models and print the leaderboard."""
    suite_id = load_suite(suite).id
    with prefect_server() as server:
        if server:
            server.ready()
        snapshot = asyncio.run(_rank(suite_id, run_id))
    show(ranking_view(snapshot))
    out.print(f"page: {page_location(snapshot)}", markup=False, highlight=False, soft_wrap=True)


async def _rank(suite: str, run_id: str | None) -> Snapshot:
    return await rank_models(suite, run_id)


def show(view: RankingView) -> None:
    """Print a leaderboard, who is not on it, and what it stands on."""
    table = Table(title=view.title, title_justify="left", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for head in HEADS:
        left = head in ("model", "note")
        table.add_column(head, justify="left" if left else "right", no_wrap=True)
    for row in view.rows:
        table.add_row(*(text.replace("[", r"\[") for text in row))
    out.print(table)
    out.print(
        "rank: 1 + the models whose interval lies above; range: ranks in 95 % of the resampled photos",
        style="dim", highlight=False,
    )  # fmt: skip
    if view.not_ranked:
        out.print(
            f"not ranked, too few complete chains: {', '.join(view.not_ranked)}",
            markup=False,
            highlight=False,
        )
    for note in view.notes:
        out.print(note, markup=False, highlight=False)
