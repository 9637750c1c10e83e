"""Score the semantic consistency of every edit of a run that has not been judged."""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import replace
from typing import Any

from prefect import flow
from prefect.client.schemas.objects import State

from domain.runs import Measured
from tasks.batches import ask_in_batches, edits_to_judge
from tasks.judging import EditKey, judge_batch
from tasks.limits import slots
from tasks.run_states import ended


@flow(name="judge-edits", flow_run_name="judge {run_id}")
async def judge_edits(run_id: str, max_cost_usd: float | None = None) -> Measured:
    """Judge what is missing; returns how many edits were judged now, and what that cost.

    Args:
        run_id: A planned run.
        max_cost_usd: No answer is asked for that would bring the cost above it.
    """
    work = await edits_to_judge(run_id)

    def start(number: int, part: tuple[EditKey, ...]) -> Awaitable[State[Any]]:
        return ended(judge_batch(run_id, number, part, return_state=True))

    async with slots(run_id, work.provider, work.concurrency) as concurrency:
        work = replace(work, concurrency=concurrency)
        return await ask_in_batches("judgements", run_id, work, max_cost_usd, start)
