"""Every number of a run, from stored records alone, and the page that shows them."""

from __future__ import annotations

from prefect import flow

from domain.runs import Snapshot
from flows.publish_leaderboard import publish_leaderboard
from tasks.report_artifacts import show_artifacts
from tasks.run_tables import score_run


@flow(name="score-suite", flow_run_name="score {run_id}")
async def score_suite(run_id: str) -> Snapshot:
    """Score a run and publish its page; returns which snapshot it is.

    Args:
        run_id: A planned run, finished or not.
    """
    snapshot = await score_run(run_id)
    await publish_leaderboard(snapshot.suite, snapshot.digest, snapshot.run_id)
    await show_artifacts(snapshot)
    return snapshot
