"""Steps that failed in a run: kept beside it for people and for a retry; they are no outcomes."""

from __future__ import annotations

from adapters.base import ObjectStore
from domain import keys
from domain.runs import RunPlan
from domain.summaries import ShardSummary, StepFailure
from tasks import ledger
from tasks.threads import on_threads


def keep(run_id: str, number: int, summary: ShardSummary, store: ObjectStore) -> None:
    """Store what one shard did; a retry of the shard replaces it."""
    store.put(keys.shard_summary(run_id, number), summary.model_dump_json().encode())


def of_run(run: RunPlan, store: ObjectStore) -> list[StepFailure]:
    """Every step that failed in a run's shards."""
    shards = [keys.shard_summary(run.id, number) for number in range(1, run.shards + 1)]
    summaries = on_threads(lambda key: ledger.read(store, key, ShardSummary), shards)
    return [failure for summary in summaries if summary for failure in summary.failures]
