"""Edit the chains of one shard: one task run per attempt at a step, and one per check of it.

One coroutine takes chains one by one and awaits their steps one after another, so that a waiting step
holds no thread and memory does not grow with the shard. A failed step is a failed task run; its chain
stops there and the others go on. An attempt that came to nothing is no failure: it is an outcome, and the
step is tried again as often as the suite says.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass

from prefect import flow

from domain.errors import FatalError, IncompleteError, QuotaError, StoreError
from domain.plan import StepPlan
from domain.records import CheckRecord, OutcomeRecord
from domain.summaries import CheckResult, ShardSummary, StepFailure, StepResult, Stopped
from tasks.budget import Budget
from tasks.checking import check_step
from tasks.compaction import compact_shard
from tasks.editing import edit_step
from tasks.embedding import ImageKey
from tasks.gates import gate
from tasks.key_locks import KeyLocks
from tasks.limits import slots_of_all
from tasks.progress import Progress
from tasks.result_storage import keep_results_in_ledger
from tasks.run_states import ended, error_of
from tasks.shards import Work, keep_summary, read_shard, skip_finished
from tasks.step_log import log_check, log_failure, log_step, start_log


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
    async with slots_of_all(run_id, work.providers, work.run.request.concurrency) as count:
        await asyncio.gather(*(crew.work() for _ in range(min(count, len(work.steps)))))
    summary = await compact_shard(run_id, shard, crew.summary())
    await keep_summary(run_id, shard, summary)
    if crew.broken:
        raise crew.broken
    if summary.failed:
        raise IncompleteError(summary.failure_text)
    return summary


@dataclass(frozen=True)
class _Tried:
    """What one attempt came to."""

    next: StepPlan | None
    """The attempt after it; None when the chain is over, or failed."""
    cost_usd: float = 0.0
    failed: int = 0


class _Crew:
    """Workers that take chains from one queue until it is empty, or until no call can succeed any more."""

    def __init__(self, work: Work, budget: Budget) -> None:
        self.broken: Exception | None = None
        self._broken_checker = False
        self._run = work.run
        self._card = work.card
        self._price_usd = work.card.price_usd
        self._queue = iter(work.steps)
        self._budget = budget
        self._gate = gate(work.run.id, work.card.provider)
        self._lost_before = self._gate.lost
        checker = work.run.checker_card
        self._asked = gate(work.run.id, checker.provider) if checker else None
        self._asked_before_usd = self._asked.asked_usd if self._asked else 0.0
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
        self._count_spent()
        return ShardSummary(
            **self._counts,
            part=None,
            ambiguous=self._lost,
            cost_usd=self._budget.spent_usd,
            checking_usd=self._budget.asked_usd,
            maybe_paid_usd=self._lost * self._price_usd,
            calls_s=round(self._calls_s, 3),
            failures=tuple(self._failures),
            stopped=self._stopped(),
        )

    def _stopped(self) -> Stopped | None:
        if self.broken is None:
            return None
        checker = self._run.checker_card if self._broken_checker else None
        provider = checker.provider if checker else None
        return Stopped(error=type(self.broken).__name__, message=str(self.broken), provider=provider)

    @property
    def _lost(self) -> int:
        return self._gate.lost - self._lost_before

    def _count_spent(self) -> None:
        self._budget.maybe_paid_usd = self._lost * self._price_usd
        if self._asked:
            self._budget.asked_usd = self._asked.asked_usd - self._asked_before_usd

    async def _edit_chain(self, first: StepPlan) -> None:
        left = self._run.steps_from(first)
        ahead = await skip_finished(self._run, first)
        self._counts["found"] += len(ahead.attempts)
        step, is_edited, cost_usd = ahead.next_step, ahead.unchecked is not None, 0.0
        while step and not self.broken:
            price_usd = self._run.check_price_usd + (0.0 if is_edited else self._price_usd)
            if not self._budget.reserve(price_usd):
                self.broken = self.broken or self._budget.error("edit", price_usd)
                break
            tried = await self._try_step(step)
            self._budget.settle(price_usd, tried.cost_usd)
            self._count_spent()
            cost_usd += tried.cost_usd
            if tried.next is None or tried.next.number > step.number:
                left -= 1
                await self._progress.add(1, failed=tried.failed, cost_usd=cost_usd)
                cost_usd = 0.0
            step, is_edited = tried.next, False
        await self._progress.add(max(left, 0))  # found, or never to be run

    async def _try_step(self, step: StepPlan) -> _Tried:
        """One attempt, with its check where it needs one."""
        course, check = self._run.course(step.chain), None
        async with self._locks.hold(step.key):
            outcome, cost_usd = await self._edit(step)
            if outcome is None:
                return _Tried(None, failed=1)
            if course.to_check(step, outcome):
                check = await self._check(step, outcome)
        verdict = course.verdict(step, outcome, check)
        if verdict is None:
            return _Tried(None, cost_usd, failed=1)
        if verdict in ("not_made", "off_shape"):
            self._counts[verdict] += 1
        return _Tried(course.after(step, outcome, verdict), cost_usd)

    async def _edit(self, step: StepPlan) -> tuple[OutcomeRecord | None, float]:
        """How an attempt ended, and what that cost; None when it failed."""
        state = await ended(edit_step(self._run.id, step, return_state=True))
        if error := await error_of(state):
            self._fail(step, error, self._card.provider)
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
        return outcome, cost_usd

    async def _check(self, step: StepPlan, outcome: OutcomeRecord) -> CheckRecord | None:
        """What the checker says of an attempt; None when that failed."""
        card, image = self._run.role("checker").card, outcome.image
        if image is None:
            return None
        after = ImageKey(sha256=image.sha256, extension=image.extension)
        state = await ended(check_step(self._run.id, step, after, return_state=True))
        if error := await error_of(state):
            self._fail(step, error, card.provider)
            self._broken_checker = self.broken is error
            return None
        result: CheckResult = await state.aresult()
        self._counts["checked"] += not result.found
        log_check(step, card.provider, result)
        return result.check

    def _fail(self, step: StepPlan, error: BaseException, provider: str) -> None:
        self._counts["failed"] += 1
        name = type(error).__name__
        log_failure(step, provider, error)
        self._failures.append(
            StepFailure(
                chain=step.chain, step=step.number, key=step.key, error=name, message=f"{name}: {error}"[:500]
            )
        )
        if isinstance(error, FatalError | QuotaError | StoreError):
            self.broken = error
