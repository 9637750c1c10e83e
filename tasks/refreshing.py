"""Whether a run of a request would find anything to do at all."""

from __future__ import annotations

from prefect import task

from adapters.base import ObjectStore
from domain import keys
from domain.runs import RunPlan, RunRequest, RunSummary
from tasks import ledger, policies, wiring
from tasks.ballots import is_voted_on
from tasks.match_tables import match_set
from tasks.planning import resolve_run
from tasks.pointers import Pointer, current, is_whole
from tasks.run_tables import says_the_votes
from tasks.scoring import tables_of
from tasks.surveys import survey
from tasks.threads import in_thread, on_threads
from tasks.unmeasured import Unmeasured

OF_ONE_RUN = {"id": True, "created_at": True, "shards": True}
OF_ITS_PACE = {"concurrency", "shards_at_once", "max_cost_usd", "approve_above_usd", "dry_run"}
"""Fields of a request that decide how a run goes, and not what it does."""


def files_of(run: RunPlan) -> tuple[str, ...]:
    """Of a run's report, what must be there."""
    return ("rules.json", "provenance.json", "index.html", *(f"{name}.parquet" for name in tables_of(run)))


@task(task_run_name="look for changes of {request.suite}", **policies.ONCE)
async def find_unchanged(request: RunRequest, dataset_key: str) -> RunSummary | None:
    """The summary of the newest run, where another run of this request would do and say the same."""
    return await in_thread(unchanged, request, dataset_key)


def unchanged(request: RunRequest, dataset_key: str) -> RunSummary | None:
    """The newest run's summary when a new run would have the same plan and nothing to do; writes nothing.

    None also where that run left problems, or its report is gone.
    """
    store, photos = wiring.store(), wiring.dataset(dataset_key)
    run = resolve_run(request, dataset_key, photos)
    name = store.get(keys.newest_run(run.suite.id))
    newest = ledger.read(store, keys.run(name.decode()), RunPlan) if name else None
    if newest is None or _what_it_does(newest) != _what_it_does(run):
        return None
    summary = ledger.read(store, keys.run_summary(newest.id), RunSummary)
    if summary is None or summary.problems or not _is_there(summary, newest, store):
        return None
    seen = survey(run, photos, store)
    nothing_to_do = seen.history.open.is_empty() and not seen.has_news and not seen.damaged
    nothing_to_do = nothing_to_do and _says_the_votes(summary, newest, store)
    return summary if nothing_to_do and Unmeasured(seen.history, store).is_empty else None


async def goes_on_ranking(run_id: str) -> bool:
    """Whether a run is of a suite that somebody has voted on: then it is ranked as soon as it is scored."""
    return await in_thread(_goes_on_ranking, run_id)


def _goes_on_ranking(run_id: str) -> bool:
    return _is_voted_on(wiring.run_plan(run_id), wiring.store())


def _is_voted_on(run: RunPlan, store: ObjectStore) -> bool:
    return run.suite.votes is not None and run.request.images_dir is None and is_voted_on(run.suite.id, store)


def _what_it_does(run: RunPlan) -> dict[str, object]:
    return run.model_dump(exclude={**OF_ONE_RUN, "request": OF_ITS_PACE})


def _is_there(summary: RunSummary, run: RunPlan, store: ObjectStore) -> bool:
    suite, held = summary.snapshot.suite, current(summary.snapshot.suite, store)
    if held is None:
        return False
    shown = {summary.snapshot.digest, held.snapshot} if is_whole(run) else {summary.snapshot.digest}
    files = [keys.report(suite, digest, name) for digest in sorted(shown) for name in files_of(run)]
    return None not in on_threads(store.head, files) and _is_the_board(held, summary, run)


def _is_the_board(held: Pointer, summary: RunSummary, run: RunPlan) -> bool:
    """Whether readers see this run, as it ended or ranked since, or another because this is but a part."""
    return held.snapshot == summary.snapshot.digest or held.run == run.id or not is_whole(run)


def _says_the_votes(summary: RunSummary, run: RunPlan, store: ObjectStore) -> bool:
    """Whether readers of a run that people voted on see exactly the votes that there are."""
    suite, held = run.suite, current(run.suite.id, store)
    if held is None or not _is_voted_on(run, store):
        return True
    has_matches = match_set(suite.id, run.id, store) is not None
    shown = held.snapshot if is_whole(run) else summary.snapshot.digest
    return has_matches and says_the_votes(shown, run, store)
