"""What is still to be measured of a run, and the batches in which it is done."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from itertools import count, islice
from typing import Any, Generic, TypeVar

from prefect.client.schemas.objects import State

from domain.errors import BudgetError, FacedriftError, FatalError, IncompleteError, QuotaError
from domain.judge_cards import JudgeCard
from domain.runs import Measured
from tasks import wiring
from tasks.budget import Budget
from tasks.embedding import ImageKey
from tasks.gates import gate
from tasks.judging import EditKey
from tasks.progress import Progress
from tasks.run_states import error_of
from tasks.surveys import survey
from tasks.threads import in_thread
from tasks.unmeasured import Unmeasured

Unit = TypeVar("Unit")
Start = Callable[[int, tuple[Unit, ...]], Awaitable[State[Any]]]

LOCAL_BATCH, LOCAL_CONCURRENCY = 16, 2


@dataclass(frozen=True)
class Asking(Generic[Unit]):
    """What a judge is still to be asked about a run."""

    units: list[Unit]
    provider: str
    price_usd: float
    """Of one unit, if every ask that is allowed is needed."""
    batch: int
    """One where each unit is a paid call, so that each is retried alone."""
    concurrency: int


async def faces_to_read(run_id: str) -> tuple[str, list[ImageKey]]:
    """The face pack of a run, and its images without a face record."""
    left = await in_thread(_unmeasured, run_id)
    return left.run.suite.embedder.pack, await in_thread(lambda: left.faces)


async def states_to_track(run_id: str) -> Asking[ImageKey]:
    """The images of a run without a state record, base photos included."""
    left = await in_thread(_unmeasured, run_id)
    return _asking(left, left.run.role("tracker").card, await in_thread(lambda: left.states))


async def edits_to_judge(run_id: str) -> Asking[EditKey]:
    """The edits of a run without a judgement."""
    left = await in_thread(_unmeasured, run_id)
    return _asking(left, left.run.role("judge").card, await in_thread(lambda: left.edits))


def _unmeasured(run_id: str) -> Unmeasured:
    run, store = wiring.run_plan(run_id), wiring.store()
    return Unmeasured(survey(run, wiring.dataset(run.dataset), store).history, store)


def _asking(left: Unmeasured, card: JudgeCard, units: list[Unit]) -> Asking[Unit]:
    local = wiring.is_in_process(card.provider)
    return Asking(
        units=units,
        provider=card.provider,
        price_usd=card.price_usd * left.run.suite.judges.max_asks,
        batch=LOCAL_BATCH if local else 1,
        concurrency=LOCAL_CONCURRENCY if local else left.run.request.concurrency,
    )


async def ask_in_batches(
    what: str, run_id: str, work: Asking[Unit], max_cost_usd: float | None, start: Start[Unit]
) -> Measured:
    """Ask a judge about every unit; the cost is what its answers cost.

    Raises:
        IncompleteError: some failed, or the cap was reached; `done` and `cost_usd` count what was done.
    """
    at = gate(run_id, work.provider)
    before_usd, budget = at.asked_usd, Budget(max_cost_usd)

    def next_is_affordable(units: int) -> bool:
        budget.spent_usd = at.asked_usd - before_usd
        return budget.reserve(work.price_usd * units)

    def settle(units: int) -> None:
        budget.settle(work.price_usd * units, 0.0)

    limit = _Limit(next_is_affordable, settle, lambda: budget.error("answer", work.price_usd))
    try:
        done = await in_batches(what, work.units, work.batch, work.concurrency, start, limit)
    except IncompleteError as error:
        error.cost_usd = at.asked_usd - before_usd
        raise
    return Measured(done=done, cost_usd=at.asked_usd - before_usd)


@dataclass(frozen=True)
class _Limit:
    """What may be spent on units."""

    reserve: Callable[[int], bool] = lambda _: True
    settle: Callable[[int], None] = lambda _: None
    error: Callable[[], BudgetError] = BudgetError


async def in_batches(
    what: str,
    units: Sequence[Unit],
    size: int,
    concurrency: int,
    start: Start[Unit],
    limit: _Limit = _Limit(),
) -> int:
    """Work through units in numbered batches, some at a time; the sum of what they return.

    Every batch is tried; the first error is raised once all are done, so that one bad batch costs no other.
    Only an error that the next call would meet as well ends the work.

    Raises:
        IncompleteError: some batches failed; `done` counts what was done all the same.
    """
    queue, numbers, done = iter(units), count(1), 0
    progress = Progress(what, len(units))
    errors: list[BaseException] = []
    stopped: FacedriftError | None = None

    async def work() -> None:
        nonlocal done, stopped
        while not stopped and (part := tuple(islice(queue, size))):
            if not limit.reserve(len(part)):
                stopped = limit.error()
                return
            state = await start(next(numbers), part)
            limit.settle(len(part))
            error = await error_of(state)
            if error is None:
                done += await state.aresult()
            else:
                done += error.done if isinstance(error, IncompleteError) else 0
                errors.append(error)
            if isinstance(error, FatalError | QuotaError):
                stopped = error
            await progress.add(len(part), failed=len(part) if error else 0)

    await asyncio.gather(*(work() for _ in range(concurrency)))
    if stopped or errors:
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        raise IncompleteError(f"{stopped or errors[0]}{more}", done=done)
    return done
