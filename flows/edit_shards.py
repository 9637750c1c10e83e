"""The paid part of a run: its shards, one after another here or some at a time on a work pool.

A shard that fails costs the others nothing: what it did is in the store, its summary says why it stopped,
and what cannot succeed any more (a wrong key, a used-up quota, a cap) is not begun.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterable

from domain.errors import BudgetError, FatalError, IncompleteError, QuotaError, StoreError
from domain.summaries import ProviderCalls, ShardSummary, Stopped
from flows.edit_chains import edit_chains
from tasks.budget import Budget
from tasks.planning import PlannedRun, PlannedShard
from tasks.pools import error_on_pool, on_pool, run_on_pool
from tasks.progress import Progress
from tasks.run_states import ended, error_of
from tasks.shards import shard_summary, summary_of_shard

DEPLOYMENT = "edit-chains/shard"
_Ended = tuple[ShardSummary, Stopped | Exception | None]
"""What a shard did, and why it is not whole."""


class EditJob:
    """Edits the shards of a run and remembers what that came to."""

    def __init__(
        self, planned: PlannedRun, cap_usd: float | None, at_once: int, unusable: Iterable[str]
    ) -> None:
        self.summary = ShardSummary()
        self.providers: dict[str, ProviderCalls] = {}
        self.problems: list[str] = []
        self.unusable = set(unusable)
        """Ids of cards, and providers, that no call is made to."""
        self._planned = planned
        self._budget = Budget(cap_usd)
        self._at_once = at_once
        self._queue = deque(enumerate(planned.shards, 1))
        self._in_work = 0
        self._one_ended = asyncio.Condition()
        self._store_error: str | None = None
        self._checking = {planned.checker, planned.checker_provider} - {None}

    async def run(self) -> None:
        """Edit every shard as far as it goes.

        Raises:
            IncompleteError: the store failed, so that nothing can be kept.
            DefinitionError: the work has to go to a pool that does not exist.
        """
        elsewhere = bool(self._queue) and await on_pool(DEPLOYMENT)
        progress = Progress("shards", len(self._queue))
        workers = self._at_once if elsewhere else 1
        await asyncio.gather(*(self._work(elsewhere, progress) for _ in range(workers)))
        if self._store_error:
            raise IncompleteError(self._store_error, run_id=self._planned.run_id)

    @property
    def left_usd(self) -> float | None:
        """What may still be spent."""
        return self._budget.left_usd

    async def _work(self, elsewhere: bool, progress: Progress) -> None:
        while self._queue and not self._store_error:
            number, shard = self._queue.popleft()
            if self.unusable & {shard.model, shard.provider, *self._checking}:
                await progress.add(1)
                continue
            allotted = await self._allot(shard, alone=not elsewhere)
            self._in_work += 1
            found, error = await (self._there if elsewhere else self._here)(number, allotted)
            self._settle(shard, allotted, found)
            if isinstance(error, Stopped):
                self._note(number, shard, error)
            elif error:
                self.problems.append(f"edits: {error}")
            async with self._one_ended:
                self._in_work -= 1
                self._one_ended.notify_all()
            await progress.add(1, failed=1 if error else 0, cost_usd=found.cost_usd)

    async def _allot(self, shard: PlannedShard, *, alone: bool) -> float | None:
        """Set a part of the cap aside for a shard, all that is left when it is alone; None without a cap."""
        if self._budget.left_usd is None:
            return None
        async with self._one_ended:
            if shard.price_usd > 0:  # others may give back what they did not need
                await self._one_ended.wait_for(
                    lambda: self._in_work == 0 or (self._budget.left_usd or 0.0) >= shard.price_usd
                )
            left = self._budget.left_usd or 0.0
            part = left if alone else min(left, shard.price_usd * shard.steps)
            self._budget.reserve(part)
        return part

    async def _here(
        self, number: int, cap_usd: float | None
    ) -> tuple[ShardSummary, Stopped | Exception | None]:
        state = await ended(
            edit_chains(self._planned.run_id, number, max_cost_usd=cap_usd, return_state=True)
        )
        error = await error_of(state)
        found = await summary_of_shard(self._planned.run_id, number)
        if isinstance(error, StoreError):
            return found, Stopped(error="StoreError", message=str(error))
        return found, found.stopped or (error if isinstance(error, Exception) else None)

    async def _there(
        self, number: int, cap_usd: float | None
    ) -> tuple[ShardSummary, Stopped | Exception | None]:
        run_id, name = self._planned.run_id, f"edit {self._planned.run_id} shard {number}"
        parameters = {"run_id": run_id, "shard": number, "max_cost_usd": cap_usd}
        state = await run_on_pool(DEPLOYMENT, parameters, name)
        found = await shard_summary(run_id, number)
        if found is None:
            return ShardSummary(), error_on_pool(f"shard {number}", state)
        if state.is_completed():
            return found, None
        failed = (
            IncompleteError(found.failure_text) if found.failed else error_on_pool(f"shard {number}", state)
        )
        return found, found.stopped or failed

    def _settle(self, shard: PlannedShard, allotted: float | None, found: ShardSummary) -> None:
        self.summary += found
        spent = found.cost_usd + found.maybe_paid_usd + found.checking_usd
        self._budget.settle(allotted or 0.0, spent)
        before = self.providers.get(shard.provider) or ProviderCalls(provider=shard.provider)
        self.providers[shard.provider] = before.after(found)

    def _note(self, number: int, shard: PlannedShard, stopped: Stopped) -> None:
        """What the error of one shard means for the others."""
        if stopped.is_a(BudgetError) and (self.left_usd or 0.0) >= shard.price_usd > 0:
            self._queue.append((number, shard))  # others have left it enough to go on
            return
        self.problems.append(f"edits: {stopped.message}")
        if stopped.is_a(StoreError):
            self._store_error = self.problems[-1]
        if stopped.is_a(FatalError, QuotaError):
            self.unusable.add(stopped.provider or shard.provider)
        if stopped.is_a(BudgetError):
            self.unusable |= {paid.model for paid in self._planned.shards if paid.price_usd > 0}
