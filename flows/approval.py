"""A run that may cost much waits for a person."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Literal, cast

from prefect import pause_flow_run
from prefect.input import RunInput

from domain.errors import BudgetError
from domain.runs import Missing, RunRequest

POLL_S = 5
WAITS_S = 24 * 3600
"""After a day without an answer the run fails, and nothing was paid."""


class Approval(RunInput):
    """The form in Prefect's UI."""

    decision: Literal["approve", "reject"] = "reject"


async def approve(request: RunRequest, missing: Missing) -> None:
    """Return when the run may go on; waits for an answer when it may cost more than the request allows.

    Raises:
        BudgetError: a person said no.
    """
    edits, answers = sum(missing.steps_missing.values()), sum(missing.answers_missing.values())
    what = (
        f"{request.suite}: {edits} edits and {answers} answers of judges, at most "
        f"${missing.cost_usd:.2f}, about {missing.seconds / 60:.0f} minutes of calls."
    )
    await approve_cost(what, missing.cost_usd, request.approve_above_usd)


async def approve_cost(what: str, cost_usd: float, limit_usd: float | None) -> None:
    """Return when calls of that cost may be made; `what` is shown to the person who is asked.

    Raises:
        BudgetError: a person said no.
    """
    if limit_usd is None or cost_usd <= limit_usd:
        return
    form = Approval.with_initial_data(description=what)
    # Prefect's annotations deny that this can be awaited.
    paused = pause_flow_run(wait_for_input=form, timeout=WAITS_S, poll_interval=POLL_S, key="approval")
    answer = await cast(Awaitable[Approval], paused)
    if answer.decision != "approve":
        raise BudgetError(f"the run was not approved (at most ${cost_usd:.2f}); nothing was called")
