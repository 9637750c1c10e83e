"""The main job: plan what is missing, edit it, measure it, score it, publish it."""

from __future__ import annotations

from prefect import flow

from domain.errors import BudgetError, FatalError, IncompleteError, QuotaError, StoreError
from domain.runs import RunRequest, RunSummary, ShardSummary
from flows.approval import approve
from flows.edit_chains import edit_chains
from flows.embed_faces import embed_images
from flows.judge_edits import judge_edits
from flows.prepare_dataset import prepare_dataset
from flows.score_suite import score_suite
from flows.track_states import track_states
from tasks.batches import faces_to_read
from tasks.calls import count_calls
from tasks.compaction import compact_steps
from tasks.planning import PlannedRun, plan_run, resolve
from tasks.provider_checks import check_providers
from tasks.run_states import ended, error_of
from tasks.scoring import notices
from tasks.shards import keep_run_summary, summary_of_shard


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
    await approve(request, planned.missing)
    unusable = await check_providers(planned.run_id, planned.missing)
    job = _Job(planned, request.max_cost_usd, unusable)
    await job.edit()
    await compact_steps(planned.run_id)
    await job.measure()
    snapshot = await score_suite(planned.run_id)
    told, unreadable = await notices(snapshot)
    job.problems += unreadable
    summary = RunSummary(
        run_id=planned.run_id,
        planned=planned.missing,
        edits=job.edits,
        faces_read=job.done["faces"],
        states_tracked=job.done["states"],
        edits_judged=job.done["judgements"],
        judging_usd=job.judging_usd,
        snapshot=snapshot,
        calls=await count_calls(planned.run_id),
        notices=told,
        problems=tuple(job.problems),
    )
    await keep_run_summary(summary)
    if job.problems:
        more = f" (and {len(job.problems) - 1} more)" if len(job.problems) > 1 else ""
        message = f"{job.problems[0]}{more}; all else is done, and running again repeats only what failed"
        raise IncompleteError(message, run_id=planned.run_id)
    return summary


class _Job:
    """The paid part of a run: what is done, what it cost, and who cannot be called any more."""

    def __init__(self, planned: PlannedRun, cap_usd: float | None, unusable: dict[str, str]) -> None:
        self.edits = ShardSummary()
        self.done = {"faces": 0, "states": 0, "judgements": 0}
        self.judging_usd = 0.0
        self.problems = [f"{name}: {problem}" for name, problem in unusable.items()]
        self._planned = planned
        self._cap_usd = cap_usd
        self._unusable = set(unusable)
        """Ids of cards, and providers, that no call is made to."""

    async def edit(self) -> None:
        """Edit shard by shard."""
        for number, shard in enumerate(self._planned.shards, 1):
            if self._unusable & {shard.model, shard.provider}:
                continue
            state = await ended(
                edit_chains(self._planned.run_id, number, max_cost_usd=self._left_usd(), return_state=True)
            )
            self.edits += await summary_of_shard(self._planned.run_id, number)
            error = await error_of(state)
            self.problems += [f"edits: {error}"] if error else []
            if isinstance(error, StoreError):
                raise IncompleteError(self.problems[-1], run_id=self._planned.run_id)
            if isinstance(error, FatalError | QuotaError):
                self._unusable.add(shard.provider)
            if isinstance(error, BudgetError):
                self._unusable |= {paid.model for paid in self._planned.shards if paid.price_usd > 0}

    async def measure(self) -> None:
        """Read faces, track states, judge edits."""
        run_id = self._planned.run_id
        await self._read_faces()
        for name, card, flow_of in (
            ("states", self._planned.tracker, track_states),
            ("judgements", self._planned.judge, judge_edits),
        ):
            if card not in self._unusable:
                await self._measure(name, flow_of(run_id, max_cost_usd=self._left_usd(), return_state=True))

    async def _read_faces(self) -> None:
        try:
            pack, images = await faces_to_read(self._planned.run_id)
            self.done["faces"] = (await embed_images(pack, images)).done
        except IncompleteError as error:
            self.done["faces"] = error.done
            self.problems.append(f"faces: {error}")

    async def _measure(self, name: str, run: object) -> None:
        state = await ended(run)
        error = await error_of(state)
        found = await state.aresult() if error is None else error
        self.problems += [f"{name}: {error}"] if error else []
        self.done[name] = getattr(found, "done", 0)
        self.judging_usd += getattr(found, "cost_usd", 0.0)

    def _left_usd(self) -> float | None:
        if self._cap_usd is None:
            return None
        return max(0.0, self._cap_usd - self.edits.cost_usd - self.edits.maybe_paid_usd - self.judging_usd)
