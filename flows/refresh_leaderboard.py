"""The nightly job: bring suites up to date, one after another, and leave alone what has not changed."""

from __future__ import annotations

from prefect import flow

from domain.errors import FacedriftError, IncompleteError
from domain.requests import PrepareRequest, RefreshRequest, RunRequest
from flows.forms import RefreshForm
from flows.prepare_dataset import prepare_dataset
from flows.run_suite import run_suite
from tasks.pools import cancel_parts
from tasks.preflight import ready_store
from tasks.refreshing import find_unchanged
from tasks.rehearsing import asked_for
from tasks.run_accounts import show_note
from tasks.run_states import ended, error_of
from tasks.step_log import start_log


@flow(name="refresh-leaderboard", on_cancellation=[cancel_parts])
async def refresh_leaderboard(request: RefreshForm) -> dict[str, str]:
    """Run each suite as far as it goes; where nothing is new, nothing is called, written or published.

    Args:
        request: Which suites, and what each may cost.

    Returns:
        Of each suite `nothing new` or `refreshed`.

    Raises:
        IncompleteError: a suite failed, or is not whole; the others were refreshed all the same.
    """
    start_log()
    await ready_store()
    done: dict[str, str] = {}
    for suite in request.suites:
        try:
            done[suite] = await _refresh(suite, request)
        except FacedriftError as error:
            done[suite] = f"{type(error).__name__}: {error}"
        await show_note("refresh", suite, f"{suite}: {done[suite]}")
    problems = [f"{name}: {how}" for name, how in done.items() if how not in ("nothing new", "refreshed")]
    if problems:
        raise IncompleteError("; ".join(problems))
    return done


async def _refresh(suite: str, request: RefreshRequest) -> str:
    request_of_suite = RunRequest(
        suite=suite,
        concurrency=request.concurrency,
        shards_at_once=request.shards_at_once,
        max_cost_usd=request.max_cost_usd,
        approve_above_usd=None,  # nobody is there at night; the cap decides
    )
    wanted = asked_for(request_of_suite)
    dataset = await prepare_dataset(PrepareRequest(suite=suite))
    if await find_unchanged(wanted, dataset):
        return "nothing new"
    error = await error_of(await ended(run_suite(wanted, return_state=True)))
    return "refreshed" if error is None else f"{type(error).__name__}: {error}"
