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
from domain.plan import Chain
from domain.requests import FailureKind, RetryRequest, RunRequest
from domain.runs import RunPlan, Shard, choose
from domain.summaries import ShardSummary
from tasks import ledger, policies, wiring
from tasks.definitions import load_suite
from tasks.planning import RETRY, newest_run
from tasks.pointers import is_whole
from tasks.surveys import follow
from tasks.threads import in_thread

KNOWN_ERRORS = frozenset(get_args(FailureKind))


@dataclass(frozen=True)
class Retry:
    """Chains to go on with, in a run like the suite's newest one."""

    request: RunRequest | None
    """None where there was no run in the time that is looked at."""
    dataset: str
    chains: tuple[Chain, ...]
    kinds: dict[str, int]
    """How many of the chains stopped for which reason."""
    gone: int
    """Chains that failed as well and are no part of the run that the retry is planned as."""

    def text(self, asked: RetryRequest) -> str:
        """What was found, in a sentence for people."""
        if self.request is None:
            return f"{asked.suite} has no run from {asked.since} on"
        kinds = ", ".join(f"{count} × {kind}" for kind, count in sorted(self.kinds.items())) or "none"
        left = f"; {self.gone} more are no part of the suite as it was last run" if self.gone else ""
        wide = "" if self.chains else "; widen since, models or errors if you expected some"
        return f"{len(self.chains)} chains to try again in {asked.suite}: {kinds}{left}{wide}"


@task(task_run_name="find failed steps of {request.suite}", **policies.ONCE)
async def find_failed(request: RetryRequest) -> Retry:
    """The steps of a suite that have no outcome yet, by how they ended.

    They are planned as the newest of the runs that are looked at was, or the newest that was of the whole
    suite: a small run since then does not hide the failures of a large one.

    Raises:
        StoreError: the suite was never run in this store.
        DefinitionError: there is no such suite, or it has no such model.
    """
    return await in_thread(_find_failed, request, wiring.store())


def _find_failed(request: RetryRequest, store: ObjectStore) -> Retry:
    suite = load_suite(request.suite)
    choose(request.models, suite.models, "models")
    runs = [wiring.run_plan(run_id) for run_id in _runs(request, suite.id, store)]
    if not runs:
        return Retry(None, "", (), {}, 0)
    newest = max(runs, key=lambda run: (is_whole(run), run.id))
    found: dict[Chain, str] = {}
    for run in runs:
        for chain, step, kind in _unfinished(run, store):
            if _is_wanted(request, chain, kind) and _is_next(run, chain, step, store):
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


def _runs(request: RetryRequest, suite: str, store: ObjectStore) -> list[str]:
    """Runs that are looked at: without a day, the newest and, where it was a retry, those before it."""
    newest, prefix = newest_run(suite, store), keys.runs_of_suite(suite)
    names = [key.removeprefix(prefix) for key in store.list(prefix)]
    if request.since is not None:
        last = request.until or date.max
        return [name for name in names if request.since <= date.fromisoformat(name[:8]) <= last]
    found: list[str] = []
    for name in sorted((name for name in names if name <= newest), reverse=True):
        found.append(name)
        if store.get(keys.run_of_suite(suite, name)) != RETRY:
            break
    return found or [newest]


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
                step = follow(run, first, store).next_step if first.chain not in failed else None
                if step:
                    yield step.chain, step.key, "not_run"


def _is_next(run: RunPlan, chain: Chain, key: str, store: ObjectStore) -> bool:
    """Whether an attempt that failed is still without an outcome, or without its check."""
    if ledger.outcome(store, key) is None:
        return True
    if run.checker is None:
        return False
    photo = wiring.dataset(run.dataset).by_id[chain.photo]
    step = follow(run, run.course(chain).first(photo), store).next_step
    return step is not None and step.key == key


def _is_wanted(request: RetryRequest, chain: Chain, kind: str) -> bool:
    return (not request.models or chain.model in request.models) and (
        not request.errors or kind in request.errors
    )
