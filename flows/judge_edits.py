"""Score the semantic consistency of every edit of a run that has not been judged."""

from __future__ import annotations

from prefect import flow

from tasks.batches import edits_to_judge, in_batches
from tasks.judging import judge_batch


@flow(name="judge-edits", flow_run_name="judge {run_id}")
async def judge_edits(run_id: str, batch: int = 16, concurrency: int = 2) -> int:
    """Judge what is missing; returns how many edits were judged now.

    Args:
        run_id: A planned run.
        batch: Edits in one task run.
        concurrency: Batches in flight.
    """
    edits = await edits_to_judge(run_id)
    return await in_batches(
        "judgements",
        edits,
        batch,
        concurrency,
        lambda n, part: judge_batch(run_id, n, part, return_state=True),
    )
