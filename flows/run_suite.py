"""The main job: plan what is missing, edit it, measure it, score it, publish it."""

from __future__ import annotations

from prefect import flow

from domain.errors import FatalError, IncompleteError, StoreError
from domain.runs import RunRequest, RunSummary
from flows.edit_chains import edit_chains
from flows.embed_faces import embed_faces
from flows.judge_edits import judge_edits
from flows.prepare_dataset import prepare_dataset
from flows.score_suite import score_suite
from flows.track_states import track_states
from tasks.compaction import compact_steps
from tasks.planning import plan_run, resolve
from tasks.run_states import ended, error_of
from tasks.shards import keep_run_summary, sum_of_shards


@flow(name="run-suite", flow_run_name="run {request.suite}")
async def run_suite(request: RunRequest) -> RunSummary:
    """Run a suite as far as it goes; running it again repeats only what is missing.

    Args:
        request: What to run.

    Raises:
        DefinitionError: the request or a definition is wrong; nothing was started.
        IncompleteError: some steps failed; everything else was done, measured and published.
    """
    dataset = await prepare_dataset(resolve(request).suite)
    planned = await plan_run(request, dataset)
    run_id, problems = planned.run_id, list[str]()
    unusable = set[str]()
    for number, provider in enumerate(planned.shard_providers, 1):
        if provider in unusable:
            continue
        error = await error_of(await ended(edit_chains(run_id, number, return_state=True)))
        problems += [f"edits: {error}"] if error else []
        if isinstance(error, StoreError):
            raise IncompleteError(problems[-1], run_id=run_id)
        if isinstance(error, FatalError):
            unusable.add(provider)
    await compact_steps(run_id)
    counts: dict[str, int] = {}
    for name, measure in (("faces", embed_faces), ("states", track_states), ("judgements", judge_edits)):
        state = await ended(measure(run_id, return_state=True))
        error = await error_of(state)
        problems += [f"{name}: {error}"] if error else []
        counts[name] = error.done if isinstance(error, IncompleteError) else 0
        if error is None:
            counts[name] = await state.aresult()
    snapshot = await score_suite(run_id)
    summary = RunSummary(
        run_id=run_id,
        planned=planned.missing,
        edits=await sum_of_shards(run_id),
        faces_read=counts["faces"],
        states_tracked=counts["states"],
        edits_judged=counts["judgements"],
        snapshot=snapshot,
        problems=tuple(problems),
    )
    await keep_run_summary(summary)
    if problems:
        message = f"{problems[0]}; all else is done, and running again repeats only what failed"
        raise IncompleteError(message, run_id=run_id)
    return summary
