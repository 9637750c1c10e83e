"""Which models meet on which photo, and the faces that voters are shown: made once for a run."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any

from prefect import flow
from prefect.artifacts import acreate_table_artifact
from prefect.client.schemas.objects import State

from domain.matches import MatchSet
from flows.forms import MatchesForm
from tasks.batches import in_batches
from tasks.cropping import BATCH, CONCURRENCY, CropWork, crop_batch
from tasks.match_making import crops_to_cut, left_out_rows, matches_made, store_matches
from tasks.preflight import ready_store
from tasks.progress import artifact_key
from tasks.run_accounts import show_note
from tasks.run_states import ended
from tasks.runs_of_suites import run_of
from tasks.step_log import start_log


@flow(name="make-matches", flow_run_name="make matches {request.suite}")
async def make_matches(request: MatchesForm) -> MatchSet:
    """Cut out the faces that a run's chains ended with, and make its matches.

    Args:
        request: Of which suite, and of which of its runs.

    Returns:
        The matches in the store; those that were there already are the same.

    Raises:
        DefinitionError: the suite is not voted on.
        IncompleteError: some faces could not be cut out; the others are kept.
    """
    start_log()
    await ready_store()
    run_id = await run_of(request.suite, request.run)
    made = await matches_made(run_id)
    if made is None:

        def start(number: int, part: tuple[CropWork, ...]) -> Awaitable[State[Any]]:
            return ended(crop_batch(run_id, number, part, return_state=True))

        await in_batches("faces cut out", await crops_to_cut(run_id), BATCH, CONCURRENCY, start)
        made = await store_matches(run_id)
    await _show(made)
    return made


async def _show(made: MatchSet) -> None:
    text = (
        f"{made.suite}: {made.n_matches} matches between {len(made.models)} models, and {made.n_gold} with a "
        f"known answer; {len(made.left_out)} models miss photos, {made.alone} photos have no match"
    )
    await show_note("matches", made.suite, text)
    rows = left_out_rows(made)
    if rows:
        await acreate_table_artifact(rows, key=artifact_key("meets-nobody", made.suite), description=text)
