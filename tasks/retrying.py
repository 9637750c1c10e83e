"""Which steps of earlier runs have no outcome, and so would be tried again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import get_args

from prefect import task

from adapters.base import ObjectStore
from domain import keys
from domain.plan import Chain, StepPlan
from domain.requests import FailureKind, RetryRequest, RunRequest
from domain.runs import RunPlan, Shard, ShardSummary
from tasks import ledger, policies, wiring
from tasks.definitions import load_suite
from tasks.planning import newest_run
from tasks.threads import in_thread

KNOWN_ERRORS = frozenset(get_args(FailureKind))


@dataclass(frozen=True)
class Retry:
    """Chains to go on with, in a run like the suite's newest one."""

    request: RunRequest
    dataset: str
    chains: tuple[Chain, ...]
    kinds: dict[str, int]
    """How many of the chains stopped for which reason."""
    gone: int
    """Chains that failed as well and are no part of the newest run any more."""


@task(task_run_name="find failed steps of {request.suite}", **policies.ONCE)
async def find_failed(request: RetryRequest) -> Retry:
    """The steps of a suite that have no outcome yet, by how they ended.

    Raises:
        StoreError: the suite was never run in this store.
        DefinitionError: there is no such suite.
    """
    return await in_thread(_find_failed, request, wiring.store())


def _find_failed(request: RetryRequest, store: ObjectStore) -> Retry:
    suite = load_suite(request.suite).id
    newest = wiring.run_plan(newest_run(suite, store))
    found: dict[Chain, str] = {}
    for run_id in _runs(request, suite, newest.id, store):
        run = wiring.run_plan(run_id)
        for chain, step, kind in _unfinished(run, store):
            if _is_wanted(request, chain, kind) and ledger.outcome(store, step) is None:
                found[chain] = kind
    models, photos, sessions = newest.card, set(newest.photos), newest.session
    here = {
        chain: kind
        for chain, kind in found.items()
        if chain.model in models and chain.photo in photos and chain.session in sessions
    }
    wanted = newest.request.model_copy(
        update={
            "max_cost_usd": request.max_cost_usd,
            "approve_above_usd": request.approve_above_usd,
            "dry_run": request.dry_run,
        }
    )
    return Retry(wanted, newest.dataset, tuple(here), dict(Counter(here.values())), len(found) - len(here))


def _runs(request: RetryRequest, suite: str, newest: str, store: ObjectStore) -> list[str]:
    if request.since is None:
        return [newest]
    prefix = keys.runs_of_suite(suite)
    names = [key.removeprefix(prefix) for key in store.list(prefix)]
    last = request.until or date.max
    return [name for name in names if request.since <= date.fromisoformat(name[:8]) <= last]


def _unfinished(run: RunPlan, store: ObjectStore) -> Iterator[tuple[Chain, str, str]]:
    """Chain, key of the step, and kind: of every failure, and of every chain whose turn never came."""
    for number in range(1, run.shards + 1):
        summary = ledger.read(store, keys.shard_summary(run.id, number), ShardSummary)
        failed = {failure.chain: failure for failure in (summary.failures if summary else ())}
        for chain, failure in failed.items():
            yield chain, failure.key, failure.error if failure.error in KNOWN_ERRORS else "other"
        if summary is None or summary.stopped:
            shard = ledger.read(store, keys.shard(run.id, number), Shard)
            for first in shard.steps if shard else ():
                step = _next(run, first, store) if first.chain not in failed else None
                if step:
                    yield step.chain, step.key, "not_run"


def _next(run: RunPlan, step: StepPlan | None, store: ObjectStore) -> StepPlan | None:
    """The first step from here on without an outcome."""
    while step and (outcome := ledger.outcome(store, step.key)):
        step = run.step_after(step, outcome)
    return step


def _is_wanted(request: RetryRequest, chain: Chain, kind: str) -> bool:
    return (not request.models or chain.model in request.models) and (
        not request.errors or kind in request.errors
    )
