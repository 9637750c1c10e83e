"""Collecting the votes of a source: what is new is kept, what is no vote is said, all of it is counted."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta

from prefect import task

from adapters.base import ObjectStore
from adapters.votes.source import VoteSource
from domain import keys
from domain.known_matches import KnownMatches
from domain.vote_requests import CollectRequest
from domain.votes import ANONYMOUS, MOST_REJECTED, FoundVote, RejectedVote, VotesCollected, VoteSourceName
from tasks import ledger, policies, vote_store, wiring
from tasks.definitions import load_suite
from tasks.runs_of_suites import find_run
from tasks.threads import in_thread
from tasks.vote_jobs import known_matches
from tasks.vote_wiring import vote_source

CLOCKS_DIFFER_BY = timedelta(days=1)
"""How far a vote may lie ahead of the collection's clock."""
VOTER = vote_store.SCHEMA.names().index("annotator")


def collect(
    source: VoteSource, known: KnownMatches, found: VotesCollected, store: ObjectStore
) -> VotesCollected:
    """Store what of a source is new, then the record of it.

    Args:
        source: The votes.
        known: The matches that they may be on.
        found: Of which suite and source, and when (its `at` is the clock), still without counts.
        store: Where votes are kept.
    """
    there = vote_store.Known(vote_store.stored(found.suite, store))
    read = n_known = 0
    reasons, rejected = Counter[str](), list[RejectedVote]()
    for item in source.read(known):
        read += 1
        bad = item if isinstance(item, RejectedVote) else _ahead(item, source.where, found.at)
        if not isinstance(item, RejectedVote) and not bad:
            ending = there.take(item)
            n_known += ending == "known"
            bad = _twice(item, source.where) if ending == "duplicate_voter" else None
        if bad:
            reasons[bad.reason] += 1
            rejected += [bad] if len(rejected) < MOST_REJECTED else []
    done = found.model_copy(
        update={
            "read": read,
            "new": len(there.fresh),
            "known": n_known,
            "n_rejected": reasons.total(),
            "reasons": dict(sorted(reasons.items())),
            "rejected": tuple(rejected),
            "anonymous": sum(str(row[VOTER]).startswith(ANONYMOUS) for row in there.fresh),
            "part": vote_store.add_rows(found.suite, there.fresh, store),
        }
    )
    ledger.write_new(store, keys.votes_collected(found.suite, keys.fingerprint(done)), done)
    return done


def _ahead(found: FoundVote, where: str, clock: str) -> RejectedVote | None:
    """What is wrong with a vote from the future; no clock of a voter is that far ahead."""
    at = found.vote.at
    if at is None or datetime.fromisoformat(at) - datetime.fromisoformat(clock) <= CLOCKS_DIFFER_BY:
        return None
    detail = f"{at} lies in the future: the votes were collected at {clock}"
    return RejectedVote(where=where, line=found.line, reason="bad_time", detail=detail)


def _twice(found: FoundVote, where: str) -> RejectedVote:
    vote = found.vote
    detail = f"{vote.annotator!r} has voted on the match {vote.match[:12]}… before"
    return RejectedVote(where=where, line=found.line, reason="duplicate_voter", detail=detail)


def starting(source: VoteSourceName, run_id: str, where: str) -> VotesCollected:
    """The account of a collection before it has begun."""
    return VotesCollected(
        suite=wiring.run_plan(run_id).suite.id,
        source=source,
        where=where,
        run_id=run_id,
        at=datetime.now(UTC).isoformat(timespec="seconds"),
        read=0,
        new=0,
        known=0,
    )


@task(task_run_name="collect votes from {request.source}", **policies.MEASURE)
async def collect_from(request: CollectRequest, job_id: str | None = None) -> VotesCollected:
    """Collect what is new of a source: a file, or the job of a service."""
    return await in_thread(_collect_from, request, job_id)


def _collect_from(request: CollectRequest, job_id: str | None) -> VotesCollected:
    store, run_id = wiring.store(), find_run(request.suite, request.run)
    source = vote_source(request.source, job_id or request.path or load_suite(request.suite).id)
    known = known_matches(wiring.run_plan(run_id), store)
    return collect(source, known, starting(request.source, run_id, source.where), store).shown()


async def still_pending(request: CollectRequest, why: str, job_id: str) -> VotesCollected:
    """The account of a collection that came too early; nothing is stored."""
    return await in_thread(_still_pending, request, why, job_id)


def _still_pending(request: CollectRequest, why: str, job_id: str) -> VotesCollected:
    found = starting(request.source, find_run(request.suite, request.run), job_id)
    return found.model_copy(update={"pending": why})


def collections(suite: str, store: ObjectStore) -> list[VotesCollected]:
    """What every collection of a suite's votes did, the oldest first."""
    found = [ledger.read(store, key, VotesCollected) for key in store.list(keys.all_votes_collected(suite))]
    return sorted((one for one in found if one), key=lambda one: one.at)


def collected(suite: str) -> tuple[str, list[VotesCollected], int]:
    """Of a suite by its id or file: its id, every collection, and how many votes there are."""
    name, store = load_suite(suite).id, wiring.store()
    return name, collections(name, store), vote_store.stored(name, store).height


def rows_of(done: VotesCollected) -> list[dict[str, str | int | None]]:
    """The rejected rows, for people."""
    return [
        {"where": one.where, "line": one.line, "reason": one.reason, "detail": one.detail}
        for one in done.rejected
    ]


def account(done: VotesCollected) -> str:
    """A collection in one or two sentences."""
    if done.pending:
        return f"{done.suite}: {done.source} {done.where}: nothing collected yet: {done.pending}"
    text = f"{done.suite}: {done.read} read from {done.where}: {done.new} new votes, {done.known} known "
    text += f"before, {done.n_rejected} rejected"
    if done.reasons:
        text += f" ({', '.join(f'{count} × {reason}' for reason, count in done.reasons.items())})"
    if done.crowd:
        text += f". SIMULATED: nobody voted; the crowd's strengths are {done.crowd.truth}"
    if done.anonymous:
        text += f". {done.anonymous} are of voters whom the source does not name, each told from no other"
    return text
