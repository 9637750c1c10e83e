"""Keeping the table of finished steps up to date."""

from __future__ import annotations

from prefect import task

from tasks import policies, step_tables, wiring
from tasks.planning import finder, walks
from tasks.threads import in_thread


@task(task_run_name="compact steps", **policies.ONCE)
async def compact_steps(run_id: str) -> None:
    """Bring the table of finished steps up to date after a run."""
    await in_thread(_compact_steps, run_id)


def _compact_steps(run_id: str) -> None:
    run, store = wiring.run_plan(run_id), wiring.store()
    photos = wiring.dataset(run.dataset)
    step_tables.compact(run.suite.id, photos.id, walks(run, photos, finder(run, photos, store)), store)
