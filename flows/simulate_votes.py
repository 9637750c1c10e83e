"""A made-up crowd that votes on a run's matches, for rehearsals: its votes are marked, its truth stated."""

from __future__ import annotations

from prefect import flow

from domain.votes import VotesCollected
from flows.forms import SimulateForm
from tasks.preflight import ready_store
from tasks.run_accounts import show_note
from tasks.step_log import start_log
from tasks.vote_collecting import account
from tasks.vote_simulating import simulate_crowd


@flow(name="simulate-votes", flow_run_name="simulate votes {request.suite}")
async def simulate_votes(request: SimulateForm) -> VotesCollected:
    """Have a crowd of known strengths vote; the same crowd again adds nothing.

    Args:
        request: Which matches, and which crowd.

    Returns:
        What was added, with the crowd and its truth.

    Raises:
        DefinitionError: a strength is missing, or of a model that meets nobody.
        StoreError: there are no matches yet.
    """
    start_log()
    await ready_store()
    found = await simulate_crowd(request)
    await show_note("simulated-votes", found.suite, account(found))
    return found
