"""The page that people read: a snapshot's tables as a static site in the store."""

from __future__ import annotations

from prefect import flow

from domain.runs import Snapshot
from tasks.published import find_published
from tasks.publishing import publish_report


@flow(name="publish-leaderboard", flow_run_name="publish {suite}")
async def publish_leaderboard(suite: str, snapshot: str | None = None, run_id: str | None = None) -> Snapshot:
    """Publish a snapshot's page; what is there already is left as it is.

    Args:
        suite: Id of a suite.
        snapshot: The snapshot's name, or its beginning; the suite's board where None.
        run_id: The run that the snapshot was scored from, where it was never published.

    Returns:
        The snapshot.
    """
    if snapshot is not None and run_id is not None:
        found = Snapshot(suite=suite, digest=snapshot, run_id=run_id, is_new=False)
    else:
        found = await find_published(suite, snapshot)
    await publish_report(found)
    return found
