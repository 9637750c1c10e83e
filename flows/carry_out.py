"""A planned run from its first edit to its published report: what `run_suite` and `retry_failed` share."""

from __future__ import annotations

from domain.errors import IncompleteError
from domain.requests import RunRequest
from domain.runs import RunSummary
from domain.vote_requests import MatchesRequest
from flows.approval import approve
from flows.edit_shards import EditJob
from flows.embed_faces import embed_images
from flows.judge_edits import judge_edits
from flows.make_matches import make_matches
from flows.score_suite import score_suite
from flows.track_states import track_states
from tasks.batches import faces_to_read
from tasks.calls import count_calls
from tasks.compaction import compact_steps
from tasks.planning import PlannedRun
from tasks.provider_checks import check_providers
from tasks.refreshing import goes_on_ranking
from tasks.run_accounts import show_run
from tasks.run_states import ended, error_of
from tasks.scoring import notices
from tasks.shards import keep_run_summary


async def carry_out(planned: PlannedRun, request: RunRequest) -> RunSummary:
    """Edit, measure, score and publish a planned run.

    Args:
        planned: The run.
        request: Its approval, cap and width.

    Raises:
        BudgetError: a person did not approve of it.
        IncompleteError: some of it failed; everything else was done, measured and published.
    """
    unusable = await check_providers(planned.run_id, planned.missing)
    await approve(request, planned.missing)
    job = EditJob(planned, request.max_cost_usd, request.shards_at_once, unusable)
    job.problems += [f"{name}: {problem}" for name, problem in unusable.items()]
    await job.run()
    await compact_steps(planned.run_id)
    measuring = _Measuring(planned, job)
    await measuring.run()
    unmatched = await _match(planned.run_id, request.suite)
    snapshot = await score_suite(planned.run_id)
    told, unreadable = await notices(snapshot)
    problems = [*job.problems, *measuring.problems, *unmatched, *unreadable]
    summary = RunSummary(
        run_id=planned.run_id,
        planned=planned.missing,
        edits=job.summary,
        faces_read=measuring.done["faces"],
        states_tracked=measuring.done["states"],
        edits_judged=measuring.done["judgements"],
        judging_usd=job.summary.checking_usd + measuring.cost_usd,
        snapshot=snapshot,
        calls=await count_calls(planned.run_id),
        providers=tuple(job.providers.values()),
        notices=told,
        problems=tuple(problems),
    )
    await keep_run_summary(summary)
    await show_run(summary)
    if problems:
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        message = f"{problems[0]}{more}; all else is done, and running again repeats only what failed"
        raise IncompleteError(message, run_id=planned.run_id)
    return summary


async def _match(run_id: str, suite: str) -> list[str]:
    """Make the matches of a run of a suite that people have voted on, so that its ranking goes on."""
    if not await goes_on_ranking(run_id):
        return []
    request = MatchesRequest(suite=suite, run=run_id)
    error = await error_of(await ended(make_matches(request, return_state=True)))
    return [f"matches: {error}"] if error else []


class _Measuring:
    """Faces, states and judgements of a run: how many, at what cost, and what went wrong."""

    def __init__(self, planned: PlannedRun, job: EditJob) -> None:
        self.done = {"faces": 0, "states": 0, "judgements": 0}
        self.cost_usd = 0.0
        self.problems: list[str] = []
        self._planned = planned
        self._job = job

    async def run(self) -> None:
        """Measure what is missing, each kind as far as it goes."""
        await self._read_faces()
        for name, card, flow_of in (
            ("states", self._planned.tracker, track_states),
            ("judgements", self._planned.judge, judge_edits),
        ):
            if card is not None and card not in self._job.unusable:
                left = self._job.left_usd
                cap = None if left is None else max(0.0, left - self.cost_usd)
                await self._ask(name, flow_of(self._planned.run_id, max_cost_usd=cap, return_state=True))

    async def _read_faces(self) -> None:
        try:
            pack, images = await faces_to_read(self._planned.run_id)
            self.done["faces"] = (await embed_images(pack, images)).done
        except IncompleteError as error:
            self.done["faces"] = error.done
            self.problems.append(f"faces: {error}")

    async def _ask(self, name: str, run: object) -> None:
        state = await ended(run)
        error = await error_of(state)
        found = await state.aresult() if error is None else error
        self.problems += [f"{name}: {error}"] if error else []
        self.done[name] = getattr(found, "done", 0)
        self.cost_usd += getattr(found, "cost_usd", 0.0)
