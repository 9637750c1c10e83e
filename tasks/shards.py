"""What `edit_chains` reads before it begins and writes when it ends."""

from __future__ import annotations

from dataclasses import dataclass

from domain import keys
from domain.errors import StoreError
from domain.model_cards import ModelCard
from domain.plan import StepPlan, Walk
from domain.runs import RunPlan, RunSummary, Shard
from domain.summaries import ShardSummary
from tasks import failures, ledger, wiring
from tasks.surveys import follow
from tasks.threads import in_thread


@dataclass(frozen=True)
class Work:
    """A shard with the run it belongs to."""

    run: RunPlan
    steps: tuple[StepPlan, ...]
    """Of each chain the first step that was missing when the run was planned."""

    @property
    def card(self) -> ModelCard:
        """The model of the shard."""
        return self.run.card[self.steps[0].chain.model]

    @property
    def providers(self) -> tuple[str, ...]:
        """Who is called: the model's provider, and the checker's."""
        checker = self.run.checker_card
        return (self.card.provider, *((checker.provider,) if checker else ()))

    @property
    def total(self) -> int:
        """Steps of all chains, if none stops early."""
        return sum(map(self.run.steps_from, self.steps))


async def read_shard(run_id: str, number: int) -> Work:
    """A shard of a planned run; raises StoreError when there is none."""
    return await in_thread(_read_shard, run_id, number)


def _read_shard(run_id: str, number: int) -> Work:
    run = wiring.run_plan(run_id)
    found = ledger.read(wiring.store(), keys.shard(run_id, number), Shard)
    if found is None:
        raise StoreError(f"run {run_id} has no shard {number}", key=keys.shard(run_id, number))
    return Work(run, found.steps)


async def skip_finished(run: RunPlan, step: StepPlan) -> Walk:
    """What is stored of a chain from an attempt on; no task run for that."""
    return await in_thread(follow, run, step, wiring.store())


async def keep_summary(run_id: str, number: int, summary: ShardSummary) -> None:
    """Store what a shard did."""
    await in_thread(failures.keep, run_id, number, summary, wiring.store())


async def shard_summary(run_id: str, number: int) -> ShardSummary | None:
    """What a shard did; None when it never came to its end."""
    return await in_thread(ledger.read, wiring.store(), keys.shard_summary(run_id, number), ShardSummary)


async def summary_of_shard(run_id: str, number: int) -> ShardSummary:
    """What a shard did; one that crashed before its summary says nothing."""
    return await shard_summary(run_id, number) or ShardSummary()


async def keep_run_summary(summary: RunSummary) -> None:
    """Store what a run did."""
    await in_thread(_keep_run_summary, summary)


def _keep_run_summary(summary: RunSummary) -> None:
    wiring.store().put(keys.run_summary(summary.run_id), summary.model_dump_json().encode())


def summary_of(run_id: str) -> RunSummary | None:
    """What a run did, if it came to its end."""
    return ledger.read(wiring.store(), keys.run_summary(run_id), RunSummary)
