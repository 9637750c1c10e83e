"""Keeping the table of finished steps up to date.

A shard writes its own part and names it in its summary; whoever plans a run or ends one lists the parts.
So shards of one run may be edited by several processes, and none of them waits for another.
"""

from __future__ import annotations

from collections.abc import Sequence

from prefect import task

from adapters.base import ObjectStore
from domain import keys, plan
from domain.errors import StoreError
from domain.plan import StepPlan, Walk
from domain.runs import RunPlan, Shard
from domain.sessions import sessions_of_chains
from domain.summaries import ShardSummary
from tasks import check_tables, ledger, policies, step_tables, wiring
from tasks.check_tables import CheckTable
from tasks.histories import History
from tasks.resolving import sessions_of
from tasks.step_tables import Manifest
from tasks.surveys import OpenShard, Survey, follow, survey
from tasks.threads import in_thread, on_threads

MOST_OPEN_RUNS = 64
"""Runs whose unfinished shards are remembered; of older ones, what is stored is found at a step's turn."""


@task(task_run_name="compact steps", **policies.ONCE)
async def compact_steps(run_id: str) -> None:
    """Bring the table of finished steps up to date after a run."""
    await in_thread(_compact_steps, run_id)


def _compact_steps(run_id: str) -> None:
    run, store = wiring.run_plan(run_id), wiring.store()
    settle(survey(run, wiring.dataset(run.dataset), store), store)


async def compact_shard(run_id: str, number: int, summary: ShardSummary) -> ShardSummary:
    """Write the finished steps of a shard as a part; the summary, with the part and what is unfinished."""
    return await in_thread(_compact_shard, run_id, number, summary)


def _compact_shard(run_id: str, number: int, summary: ShardSummary) -> ShardSummary:
    run, store = wiring.run_plan(run_id), wiring.store()
    shard = ledger.read(store, keys.shard(run_id, number), Shard)
    found = on_threads(lambda step: _stored(run, step, store), shard.steps if shard else ())
    walks = [walk for walk in found if walk]
    rows = step_tables.rows(outcome for walk in walks for outcome in walk.stored)
    parts = step_tables.write(run.suite.id, wiring.dataset(run.dataset).id, rows, store).values()
    CheckTable(run, store).add(check_tables.rows(a.check for w in walks for a in w.attempts if a.check))
    left = len(found) - sum(walk.next_step is None for walk in walks)
    return summary.model_copy(update={"part": next(iter(parts), None), "unfinished": left})


def _stored(run: RunPlan, step: StepPlan, store: ObjectStore) -> Walk | None:
    """A chain from an attempt on; None where the store cannot say."""
    try:
        return follow(run, step, store)
    except StoreError:
        return None  # not over then, and whoever looks at it next meets this error again


def settle(
    seen: Survey, store: ObjectStore, planned: Sequence[Shard] = (), *, run_id: str | None = None
) -> None:
    """Keep what a survey found, and list every part; with a run that is planned, its shards are open."""
    run, dataset_id = seen.history.run, seen.history.photos.id
    fresh = step_tables.write(run.suite.id, dataset_id, seen.looked_up, store)
    added: dict[str, set[str]] = {model: {part} for model, part in fresh.items()}
    for part, model in seen.unlisted.items():
        added.setdefault(model, set()).add(part)
    planned_again = {seen.history.number(step.chain) for part in planned for step in part.steps}
    left = seen.history.open_numbers - planned_again
    over = {(shard.run_id, shard.number) for shard in seen.open_shards if _is_done(shard, seen.history, left)}
    now_open = {run_id: tuple(part.number for part in planned)} if run_id and planned else {}

    def change(found: Manifest | None) -> Manifest:
        found = found or Manifest()
        return Manifest(
            known=tuple(sorted({*found.known, *_known(seen)})),
            parts=_with(found.parts, added, seen.damaged - set(fresh.values())),
            open=_without(found.open | now_open, over),
        )

    step_tables.update(run.suite.id, dataset_id, store, change)
    step_tables.merge(run.suite.id, dataset_id, store)
    CheckTable(run, store).add(seen.looked_up_checks)


def _is_done(shard: OpenShard, history: History, left: frozenset[int]) -> bool:
    """Whether nothing can come of a shard that neither a part has nor a shard of this run will find."""
    if shard.summary and not shard.summary.unfinished:
        return True
    numbers = [(history.number(chain), chain.model) for chain in shard.chains]
    elsewhere = {model for number, model in numbers if number is None} & {*history.run.suite.models}
    return not elsewhere and left.isdisjoint(number for number, _ in numbers if number is not None)


def _known(seen: Survey) -> set[str]:
    """Models that the table now knows all finished steps of: those it knew, and those looked up in full."""
    run, (photos, sessions) = seen.history.run, _counts(seen.history)
    is_whole = (len(run.photos), len(run.sessions)) == (photos, sessions)
    return {*seen.known, *((card.id for card in run.cards) if is_whole else ())}


def _counts(history: History) -> tuple[int, int]:
    """How many photos and sessions a run over all of its suite has."""
    run, photos = history.run, history.photos.base
    if run.chain_set is None:
        return len(photos), len(run.suite.sessions or sessions_of(run.suite))
    wanted = {*run.suite.sessions}
    every = [s for s in sessions_of_chains(run.chain_set) if not wanted or s.id in wanted]
    chosen, sessions = plan.matched(photos, every)
    return len(chosen), len(sessions)


def _with(
    held: dict[str, tuple[str, ...]], added: dict[str, set[str]], damaged: frozenset[str]
) -> dict[str, tuple[str, ...]]:
    models = sorted({*held, *added})
    both = {model: ({*held.get(model, ())} - damaged) | added.get(model, set()) for model in models}
    return {model: tuple(sorted(parts)) for model, parts in both.items() if parts}


def _without(held: dict[str, tuple[int, ...]], over: set[tuple[str, int]]) -> dict[str, tuple[int, ...]]:
    left = {run: tuple(n for n in numbers if (run, n) not in over) for run, numbers in held.items()}
    return {run: left[run] for run in sorted(left)[-MOST_OPEN_RUNS:] if left[run]}
