"""Try again what failed, and only that: chosen by error, model, suite and date."""

from __future__ import annotations

from prefect import flow

from domain.runs import Missing, RunSummary
from flows.carry_out import carry_out
from flows.forms import RetryForm
from tasks.planning import plan_run, preview_run
from tasks.pools import cancel_parts
from tasks.preflight import ready_store
from tasks.retrying import find_failed
from tasks.run_accounts import show_note, show_plan
from tasks.step_log import start_log


@flow(name="retry-failed", flow_run_name="retry {request.suite}", on_cancellation=[cancel_parts])
async def retry_failed(request: RetryForm) -> RunSummary | Missing | None:
    """Go on with the chains that stopped without an outcome, then measure and publish as a run does.

    Args:
        request: Which steps.

    Returns:
        What the run did, or None when no such step was found; a dry run says what is missing.

    Raises:
        IncompleteError: some of them failed again.
    """
    start_log()
    await ready_store()
    found = await find_failed(request)
    await show_note("retry", request.suite, found.text(request))
    if found.request is None or not found.chains:
        return None
    if request.dry_run:
        missing = await preview_run(found.request, found.dataset, found.chains)
        await show_plan(request.suite, missing)
        return missing
    return await carry_out(await plan_run(found.request, found.dataset, found.chains), found.request)
