"""Votes out of files and from services into the store, each once; a service is given its job first."""

from __future__ import annotations

from prefect import flow
from prefect.artifacts import acreate_table_artifact

from domain.votes import VotesCollected
from flows.approval import approve_cost
from flows.forms import CollectForm
from tasks.preflight import ready_store
from tasks.progress import artifact_key
from tasks.run_accounts import show_note
from tasks.step_log import start_log
from tasks.vote_collecting import account, collect_from, rows_of, still_pending
from tasks.vote_jobs import give_job, job_of_request, job_to_give
from tasks.vote_wiring import is_service


@flow(name="collect-votes", flow_run_name="collect votes {request.suite}")
async def collect_votes(request: CollectForm) -> VotesCollected:
    """Collect what is new; collecting the same again adds nothing and pays nothing.

    Args:
        request: From where, and on the matches of which run.

    Returns:
        What was read, new, known and rejected; of a service whose job is not done, what it waits for.

    Raises:
        DefinitionError: the source cannot be read, a price or an account is missing.
        BudgetError: a job is too expensive, or a person said no.
        ProviderError: a service does not answer or does not take the job.
    """
    start_log()
    await ready_store()
    if not is_service(request.source):
        return await _show(await collect_from(request))
    cost_usd = 0.0
    wanted = await job_to_give(request)
    if wanted:
        what = (
            f"{request.suite}: {request.source} is to ask {wanted.audience!r} {wanted.responses} × "
            f"{wanted.n_matches} matches, about ${wanted.cost_usd:.2f}."
        )
        await approve_cost(what, wanted.cost_usd, request.approve_above_usd)
        cost_usd = (await give_job(request)).cost_usd
    job, pending = await job_of_request(request)
    if job is None or job.job_id is None or pending:
        found = await still_pending(request, pending or "it has no job", job.job_id or "" if job else "")
    else:
        found = await collect_from(request, job.job_id)
    return await _show(found.model_copy(update={"cost_usd": cost_usd}))


async def _show(found: VotesCollected) -> VotesCollected:
    text = account(found)
    await show_note("votes", found.suite, text)
    if found.rejected:
        await acreate_table_artifact(
            rows_of(found),
            key=artifact_key("rejected-votes", found.suite),
            description=f"The first {len(found.rejected)} of {found.n_rejected} rows that are no votes.",
        )
    return found
