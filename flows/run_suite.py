"""The main job: plan what is missing, edit it, measure it, score it, publish it."""

from __future__ import annotations

from prefect import flow

from domain.requests import PrepareRequest
from domain.runs import Missing, RunSummary
from flows.carry_out import carry_out
from flows.forms import RunForm
from flows.prepare_dataset import prepare_dataset
from tasks.planning import plan_run, preview_run
from tasks.pools import cancel_parts
from tasks.preflight import ready_store
from tasks.rehearsing import asked_for, check_rehearsal
from tasks.run_accounts import show_plan
from tasks.step_log import start_log


@flow(name="run-suite", flow_run_name="run {request.suite}", on_cancellation=[cancel_parts])
async def run_suite(request: RunForm) -> RunSummary | Missing:
    """Run a suite as far as it goes; running it again repeats only what is missing.

    Args:
        request: What to run.

    Raises:
        DefinitionError: the request or a definition is wrong; nothing was started.
        IncompleteError: some steps failed; everything else was done, measured and published.
    """
    start_log()
    await ready_store()
    request = asked_for(request)
    check_rehearsal(request)
    dataset = await prepare_dataset(PrepareRequest(suite=request.suite, images_dir=request.images_dir))
    if request.dry_run:
        missing = await preview_run(request, dataset)
        await show_plan(request.suite, missing)
        return missing
    return await carry_out(await plan_run(request, dataset), request)
