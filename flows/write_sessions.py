"""New sessions from a taxonomy: attributes are drawn, a language model phrases them, the set is kept."""

from __future__ import annotations

import logging

from prefect import flow
from prefect.artifacts import acreate_table_artifact

from domain.errors import IncompleteError
from domain.session_writing import SessionsMissing, SessionsWritten, WrittenSet
from flows.approval import approve_cost
from flows.forms import WriteSessionsForm
from tasks.progress import artifact_key
from tasks.session_runs import write_missing
from tasks.session_sets import keep_set, rows_of
from tasks.session_writing import check_writer, count_missing
from tasks.step_log import start_log

logger = logging.getLogger("facedrift.sessions")


@flow(name="write-sessions", flow_run_name="write sessions {request.set_id}")
async def write_sessions(request: WriteSessionsForm) -> WrittenSet | SessionsMissing:
    """Write a set of sessions; running it again asks only for what is missing.

    Args:
        request: Which sessions, and who words them.

    Returns:
        The set in the store; a dry run says what is missing.

    Raises:
        DefinitionError: the request, a definition or a key is wrong; nobody was asked.
        IncompleteError: some sessions could not be written. No set was made of the others; every answer is
            kept.
    """
    start_log()
    missing = await count_missing(request)
    what = f"{request.set_id}: {missing.missing} of {missing.instructions} instructions are to be written, "
    what += f"about ${missing.cost_usd:.2f}; more if some are asked for again."
    logger.info(what)
    if request.dry_run:
        rows = [failed.model_dump() for failed in missing.unwritten]
        await acreate_table_artifact(rows, key=artifact_key("plan", request.set_id), description=what)
        return missing
    if missing.missing:
        await check_writer(request)
        await approve_cost(what, missing.cost_usd, request.approve_above_usd)
    written = await write_missing(request)
    await _show(request.set_id, written)
    if written.unwritten:
        first, more = written.unwritten[0], len(written.unwritten) - 1
        raise IncompleteError(
            f"{first.session}, step {first.step}: {first.problem}"
            + (f" (and {more} more)" if more else "")
            + "; no set was made. Run again to go on; where every answer was bad, raise max_asks or change "
            "the seed",
            done=written.asked,
            cost_usd=written.cost_usd,
        )
    kept = await keep_set(request, written.sessions)
    return kept.model_copy(
        update={"asked": written.asked, "cost_usd": written.cost_usd, "notices": written.notices}
    )


async def _show(set_id: str, written: SessionsWritten) -> None:
    text = f"{len(written.sessions)} sessions written, {len(written.unwritten)} not; {written.asked} answers "
    text += f"asked for now, {written.bad} of them bad; ${written.cost_usd:.2f}"
    await acreate_table_artifact(
        rows_of(written),
        key=artifact_key("sessions", set_id),
        description=". ".join((text, *written.notices)),
    )
