"""A suite's models ranked by the votes that were collected, and the page that shows it."""

from __future__ import annotations

from prefect import flow

from domain.runs import Snapshot
from tasks.publishing import publish_report
from tasks.ranking import rank_run, run_to_rank


@flow(name="rank-models", flow_run_name="rank {suite}")
async def rank_models(suite: str, run_id: str | None = None) -> Snapshot:
    """Rank a suite's models and publish the report; returns which snapshot it is.

    Args:
        suite: Id of the suite.
        run_id: A run of it whose matches were voted on; its newest where None.
    """
    snapshot = await rank_run(await run_to_rank(suite, run_id))
    await publish_report(snapshot)
    return snapshot
