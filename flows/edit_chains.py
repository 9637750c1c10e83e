"""Edit the chains of one shard: one task run per (model, photo, session, step).

One coroutine takes chains one by one and awaits their steps one after another, so that a waiting step
holds no thread and memory does not grow with the shard. A failed step is a failed task run; its chain
stops there and the others go on.
"""

from __future__ import annotations

import asyncio
from collections import Counter

from prefect import flow

from domain.errors import FatalError, IncompleteError, QuotaError, StoreError
from domain.plan import StepPlan
from domain.summaries import ShardSummary, StepFailure, StepResult, Stopped
from tasks.budget import Budget
from tasks.compaction import compact_shard
from tasks.editing import edit_step
from tasks.gates import gate
from tasks.key_locks import KeyLocks
from tasks.limits import slots
from tasks.progress import Progress
from tasks.result_storage import keep_results_in_ledger
from tasks.run_states import ended, error_of
from tasks.shards import Work, keep_summary, read_shard, skip_finished
from tasks.step_log import log_failure, log_step, start_log


@flow(name="edit-chains", flow_run_name="edit {run_id} shard {shard}")
async def edit_chains(run_id: str, shard: int, max_cost_usd: float | None = None) -> ShardSummary:
    """Edit every chain of a shard as far as it goes; the summary counts how the steps ended.

    Args:
        run_id: A planned run.
        shard: Number of one of its shards, from 1.
        max_cost_usd: No call is made that would bring the cost of this shard above it.

    Raises:
        IncompleteError: some steps failed; retrying this flow run repeats only those.
        BudgetError: the cap was reached; what was done is kept.
        ProviderError: a wrong key or a used-up quota: no call to this provider can succeed.
    """
    start_log()
    keep_results_in_ledger()
    work = await read_shard(run_id, shard)
    crew = _Crew(work, Budget(max_cost_usd))
    async with slots(run_id, work.card.provider, work.run.request.concurrency) as count:
        await asyncio.gather(*(crew.work() for _ in range(min(count, len(work.steps)))))
    summary = await compact_shard(run_id, shard, crew.summary())
    await keep_summary(run_id, shard, summary)
    if crew.broken:
        raise crew.broken
    if summary.failed:
        raise IncompleteError(summary.failure_text)
    return summary


class _Crew:
    """Workers that take chains from one queue until it is empty, or until no call can succeed any more."""

    def __init__(self, work: Work, budget: Budget) -> None:
        self.broken: Exception | None = None
        self._run = work.run
        self._card = work.card
        self._price_usd = work.card.price_usd
        self._queue = iter(work.steps)
        self._budget = budget
        self._gate = gate(work.run.id, work.card.provider)
        self._lost_before = self._gate.lost
        self._progress = Progress(f"edits by {work.card.id}", work.total)
        self._locks = KeyLocks()
        self._counts: Counter[str] = Counter()
        self._calls_s = 0.0
        self._failures: list[StepFailure] = []

    async def work(self) -> None:
        """Take chains until none is left."""
        for step in self._queue:
            if self.broken:
                return
            await self._edit_chain(step)

    def summary(self) -> ShardSummary:
        """What was done so far."""
        return ShardSummary(
            **self._counts,
            part=None,
            ambiguous=self._lost,
            cost_usd=self._budget.spent_usd,
            maybe_paid_usd=self._lost * self._price_usd,
            calls_s=round(self._calls_s, 3),
            failures=tuple(self._failures),
            stopped=Stopped(error=type(self.broken).__name__, message=str(self.broken))
            if self.broken
            else None,
        )

    @property
    def _lost(self) -> int:
        return self._gate.lost - self._lost_before

    async def _edit_chain(self, first: StepPlan) -> None:
        left = self._run.steps_from(first)
        step, passed = await skip_finished(self._run, first)
        self._counts["found"] += passed
        while step and not self.broken:
            if not self._budget.reserve(self._price_usd):
                self.broken = self.broken or self._budget.error("edit", self._price_usd)
                break
            step, cost_usd = await self._edit_step(step)
            self._budget.settle(self._price_usd, cost_usd)
            self._budget.maybe_paid_usd = self._lost * self._price_usd
            left -= 1
        await self._progress.add(max(left, 0))  # found, or never to be run

    async def _edit_step(self, step: StepPlan) -> tuple[StepPlan | None, float]:
        async with self._locks.hold(step.key):
            state = await ended(edit_step(self._run.id, step, return_state=True))
        if error := await error_of(state):
            self._fail(step, error)
            await self._progress.add(1, failed=1)
            return None, 0.0
        result: StepResult = await state.aresult()
        outcome = result.outcome
        self._counts["found" if result.found else outcome.kind] += 1
        self._counts["collected"] += result.collected
        cost_usd = 0.0
        if not result.found:
            self._calls_s += outcome.latency_s
            listed = self._price_usd if outcome.kind == "edited" else 0.0
            cost_usd = listed if outcome.cost_usd is None else outcome.cost_usd
        log_step(step, self._card.provider, result, cost_usd, self._budget.spent_usd + cost_usd)
        await self._progress.add(1, cost_usd=cost_usd)
        return self._run.step_after(step, outcome), cost_usd

    def _fail(self, step: StepPlan, error: BaseException) -> None:
        self._counts["failed"] += 1
        name = type(error).__name__
        log_failure(step, self._card.provider, error)
        self._failures.append(
            StepFailure(
                chain=step.chain, step=step.number, key=step.key, error=name, message=f"{name}: {error}"[:500]
            )
        )
        if isinstance(error, FatalError | QuotaError | StoreError):
            self.broken = error
