"""Jobs for services that ask people: priced, given once, found again after a crash.

An intent is written before a job is given and its id as soon as it is known. An intent without an id says
that a job may have been given: the service is asked for it by its name, and only where it has none is the job
given anew.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from prefect import task

from adapters.base import ObjectStore
from adapters.votes.source import OrderedMatch, VoteOrder, VoteService
from domain import keys
from domain.errors import BudgetError, DefinitionError, StoreError
from domain.known_matches import KnownMatches
from domain.matches import Match
from domain.runs import RunPlan
from domain.vote_requests import CollectRequest
from domain.votes import VoteJob
from tasks import ledger, match_tables, policies, wiring
from tasks.match_making import rules_of
from tasks.runs_of_suites import find_run
from tasks.threads import in_thread, on_threads
from tasks.vote_wiring import vote_service


@dataclass(frozen=True)
class Job:
    """What a service is to be given for a request, or was."""

    run: RunPlan
    wanted: VoteJob
    """Without an id."""
    key: str
    intent: str
    question: str
    matches: tuple[tuple[str, Match], ...]
    """Those that can be compared, with their ids."""
    same: int
    """Matches of two very same pictures, which cannot."""


def job_of(request: CollectRequest, store: ObjectStore) -> Job:
    """The job of a request; it is another job for other matches, voters or numbers of responses.

    Raises:
        DefinitionError: the price is not given, or the suite is not voted on.
        StoreError: no matches were made.
    """
    run = wiring.run_plan(find_run(request.suite, request.run))
    rules = rules_of(run)
    made = match_tables.expect_match_set(run.suite.id, run.id, store)
    table = match_tables.read_matches(made, store)
    each = match_tables.named_matches(table)
    matches = [(name, match) for name, match in each if match.crop_a_sha256 != match.crop_b_sha256]
    responses = request.responses or rules.votes_per_match
    digest = keys.fingerprint(
        {
            "matches": made.digest,
            "responses": responses,
            "audience": request.audience,
            "question": rules.question,
        }
    )
    suite = run.suite.id
    wanted = VoteJob(
        name=f"facedrift {suite} {digest[:16]}",
        n_matches=len(matches),
        responses=responses,
        cost_usd=round((request.price_usd or 0.0) * responses * len(matches), 6),
        audience=request.audience,
        at=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    return Job(
        run=run,
        wanted=wanted,
        key=keys.vote_job(suite, request.source, digest),
        intent=keys.vote_intent(suite, request.source, digest),
        question=rules.question,
        matches=tuple(matches),
        same=table.height - len(matches),
    )


def given(job: Job, request: CollectRequest, store: ObjectStore) -> VoteJob | None:
    """The job that the service has already: by its record, or as the request names it."""
    there = ledger.read(store, job.key, VoteJob)
    if there is None and request.job:
        ledger.write_new(store, job.key, job.wanted.model_copy(update={"job_id": request.job, "cost_usd": 0}))
        there = ledger.read(store, job.key, VoteJob)
    if there and request.job and request.job != there.job_id:
        raise DefinitionError(
            f"the service has the job {there.job_id!r} for these matches, not {request.job!r}", field="job"
        )
    return there


def found_again(job: Job, service: VoteService, store: ObjectStore) -> VoteJob | None:
    """The job that an earlier call gave and whose id was lost; None when the service has none.

    Where there is no intent, nobody can have given it.
    """
    before = ledger.read(store, job.intent, VoteJob)
    if before is None:
        return None
    job_id = service.find(job.wanted.name)
    return _keep(job, before, job_id, store) if job_id else None


def check_price(job: Job, request: CollectRequest) -> None:
    """Raise before a job is given whose price is not known, or too high."""
    if request.price_usd is None:
        raise DefinitionError(
            f"{request.source} was not given these {job.wanted.n_matches} matches yet; a job is paid, so say "
            "what one response costs",
            field="price_usd",
        )
    if request.max_cost_usd is not None and job.wanted.cost_usd > request.max_cost_usd:
        raise BudgetError(
            f"the job costs about ${job.wanted.cost_usd:.2f}, above the ${request.max_cost_usd:.2f} that are "
            "allowed; nothing was given. Raise max_cost_usd or ask for fewer responses"
        )


def give(job: Job, service: VoteService, store: ObjectStore) -> VoteJob:
    """Give the job to the service and keep its id; raises ProviderError."""
    there = found_again(job, service, store)
    if there is not None:
        return there
    ledger.write_new(store, job.intent, job.wanted)
    with tempfile.TemporaryDirectory(prefix="facedrift-votes-") as folder:
        order = VoteOrder(
            name=job.wanted.name,
            question=job.question,
            audience=job.wanted.audience,
            responses=job.wanted.responses,
            matches=_ordered(job, Path(folder), store),
        )
        job_id = service.give(order)
    return _keep(job, job.wanted, job_id, store)


def _ordered(job: Job, folder: Path, store: ObjectStore) -> list[OrderedMatch]:
    shown = dict.fromkeys(
        sha
        for _, match in job.matches
        for sha in (match.original_sha256, match.crop_a_sha256, match.crop_b_sha256)
    )

    def copy(sha: str) -> Path:
        path = folder / f"{sha}.png"
        path.write_bytes(ledger.read_image(store, sha, "png"))
        return path

    files = dict(zip(shown, on_threads(copy, shown), strict=True))
    return [
        OrderedMatch(
            name, files[match.original_sha256], files[match.crop_a_sha256], files[match.crop_b_sha256]
        )
        for name, match in job.matches
    ]


def _keep(job: Job, wanted: VoteJob, job_id: str, store: ObjectStore) -> VoteJob:
    ledger.write_new(store, job.key, wanted.model_copy(update={"job_id": job_id}))
    found = ledger.read(store, job.key, VoteJob)
    if found is None:
        raise StoreError(f"the job {job.key!r} was there and is gone; collect again", key=job.key)
    return found


async def job_to_give(request: CollectRequest) -> VoteJob | None:
    """What is to be given to a service before its votes can be collected; None when it has it.

    Raises:
        DefinitionError: no price is given, or there is no account.
        BudgetError: it is too expensive.
    """
    return await in_thread(job_before_asking, request)


def job_before_asking(request: CollectRequest) -> VoteJob | None:
    """The same, of this process's store."""
    store = wiring.store()
    job = job_of(request, store)
    if given(job, request, store) or found_again(job, vote_service(request.source), store):
        return None
    check_price(job, request)
    return job.wanted


@task(task_run_name="give a job to {request.source}", **policies.ONCE)
async def give_job(request: CollectRequest) -> VoteJob:
    """Give a service its job; one that it has is not given again."""
    return await in_thread(_give_job, request)


def _give_job(request: CollectRequest) -> VoteJob:
    store = wiring.store()
    job = job_of(request, store)
    check_price(job, request)
    return given(job, request, store) or give(job, vote_service(request.source), store)


async def job_of_request(request: CollectRequest) -> tuple[VoteJob | None, str | None]:
    """The job that a service has for a request, and what it still waits for."""
    return await in_thread(_job_of_request, request)


def _job_of_request(request: CollectRequest) -> tuple[VoteJob | None, str | None]:
    store = wiring.store()
    there = given(job_of(request, store), request, store)
    if there is None or there.job_id is None:
        return None, None
    return there, vote_service(request.source).pending(there.job_id)


def known_matches(run: RunPlan, store: ObjectStore) -> KnownMatches:
    """The matches of a run, as a source of votes finds them."""
    made = match_tables.expect_match_set(run.suite.id, run.id, store)
    return KnownMatches(match_tables.named_matches(match_tables.read_matches(made, store)))
