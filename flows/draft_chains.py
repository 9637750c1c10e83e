"""Prompt chains for the photos of a dataset: a model drafts them, a person edits the file."""

from __future__ import annotations

import logging

from prefect import flow
from prefect.artifacts import acreate_table_artifact

from domain.chain_drafting import DraftedSet, DraftsMissing, DraftsWritten
from domain.errors import IncompleteError
from flows.approval import approve_cost
from flows.forms import DraftChainsForm
from tasks.chain_drafting import check_drafter, count_drafts
from tasks.chain_runs import draft_missing
from tasks.chain_sets import keep_chains, rows_of
from tasks.progress import artifact_key
from tasks.step_log import start_log

logger = logging.getLogger("facedrift.chains")


@flow(name="draft-chains", flow_run_name="draft chains {request.set_id}")
async def draft_chains(request: DraftChainsForm) -> DraftedSet | DraftsMissing:
    """Draft a set of prompt chains; running it again asks only for what is missing.

    Args:
        request: For which photos, and who writes.

    Returns:
        The set in the store, without the photos that got no chain; a dry run says what is missing.

    Raises:
        DefinitionError: the request, a definition, the dataset or a key is wrong; nobody was asked.
        IncompleteError: some photos could not be asked about, or none got a chain. No set was made; every
            answer is kept.
    """
    start_log()
    missing = await count_drafts(request)
    what = f"{request.set_id}: {missing.missing} of {missing.photos} photos are to be asked about, "
    what += f"about ${missing.cost_usd:.2f}; more if some are asked about again."
    logger.info(what)
    if request.dry_run:
        rows = [one.model_dump() for one in missing.kept_out]
        await acreate_table_artifact(rows, key=artifact_key("plan", request.set_id), description=what)
        return missing
    if missing.missing:
        await check_drafter(request)
        await approve_cost(what, missing.cost_usd, request.approve_above_usd)
    written = await draft_missing(request)
    await _show(request.set_id, written)
    lost = [*written.failed, *(written.kept_out if not written.chains else ())]
    if lost:
        first, more = lost[0], len(lost) - 1
        raise IncompleteError(
            f"{first.photo}: {first.problem}"
            + (f" (and {more} more)" if more else "")
            + "; no set was made. Run again to go on; where every answer was bad, raise max_asks or take "
            "another writer",
            done=written.asked,
            cost_usd=written.cost_usd,
        )
    return await keep_chains(request, written)


async def _show(set_id: str, written: DraftsWritten) -> None:
    text = f"{len(written.chains)} chains drafted, {len(written.kept_out)} photos kept out, "
    text += f"{len(written.failed)} not asked about; {written.asked} answers asked for now, "
    text += f"{written.bad} of them bad; ${written.cost_usd:.2f}"
    await acreate_table_artifact(
        rows_of(written), key=artifact_key("chains", set_id), description=". ".join((text, *written.notices))
    )
