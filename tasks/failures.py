"""Steps that failed in a run: kept beside it for people and for a retry; they are no outcomes."""

from __future__ import annotations

from adapters.base import ObjectStore
from domain import keys
from domain.runs import RunPlan, ShardSummary, StepFailure
from tasks import ledger


def keep(run_id: str, number: int, summary: ShardSummary, store: ObjectStore) -> None:
    """Store what one shard did; a retry of the shard replaces it."""
    store.put(keys.shard_summary(run_id, number), summary.model_dump_json().encode())


def of_run(run: RunPlan, store: ObjectStore) -> list[StepFailure]:
    """Every step that failed in a run's shards."""
    found: list[StepFailure] = []
    for number in range(1, run.shards + 1):
        summary = ledger.read(store, keys.shard_summary(run.id, number), ShardSummary)
        found.extend(summary.failures if summary else ())
    return found
