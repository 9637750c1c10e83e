"""Score the semantic consistency of every edit of a run that has not been judged."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any

from prefect import flow
from prefect.client.schemas.objects import State

from tasks.batches import edits_to_judge, in_batches
from tasks.judging import EditKey, judge_batch
from tasks.run_states import ended


@flow(name="judge-edits", flow_run_name="judge {run_id}")
async def judge_edits(run_id: str, batch: int = 16, concurrency: int = 2) -> int:
    """Judge what is missing; returns how many edits were judged now.

    Args:
        run_id: A planned run.
        batch: Edits in one task run.
        concurrency: Batches in flight.
    """
    edits = await edits_to_judge(run_id)

    def start(number: int, part: tuple[EditKey, ...]) -> Awaitable[State[Any]]:
        return ended(judge_batch(run_id, number, part, return_state=True))

    return await in_batches("judgements", edits, batch, concurrency, start)
