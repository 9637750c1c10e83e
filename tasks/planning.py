"""Resolving a run before its first edit, and finding what is missing of it."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime

from prefect import task
from pydantic import BaseModel, ConfigDict

from adapters.base import ObjectStore
from domain import keys
from domain.errors import StoreError
from domain.judge_cards import JudgeCard, JudgeRole
from domain.model_cards import ModelCard
from domain.photos import Dataset
from domain.plan import Chain
from domain.records import JudgeIdentity
from domain.runs import Missing, RunPlan, RunRequest, Shard
from tasks import ledger, policies, wiring
from tasks.compaction import settle
from tasks.missing_work import missing, shards
from tasks.preparing import prepare_suite
from tasks.resolving import Resolved, matched_photos, resolve
from tasks.surveys import survey
from tasks.threads import in_thread, on_threads
from tasks.versions import code_version, package_versions

RETRY = b"retry"
"""Under a run's name among those of its suite: its shards are of some chains only."""


def resolve_run(request: RunRequest, dataset_key: str, photos: Dataset) -> RunPlan:
    """The plan of a run: everything that decides what it does and what its numbers mean.

    Raises:
        DefinitionError: a definition is wrong, or no chain of the suite is for a photo that is there.
    """
    resolved = resolve(request)
    check_editors(resolved, photos)
    suite = resolved.suite
    chosen, sessions = matched_photos(resolved, photos, request.images)
    return RunPlan(
        id=f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{uuid.uuid4().hex[:6]}",
        created_at=datetime.now(UTC).isoformat(timespec="seconds"),
        request=request,
        suite=suite,
        sessions=sessions,
        cards=resolved.cards,
        settings_fingerprints={
            card.id: wiring.settings_fingerprint(card, dataset_key, rehearse=request.rehearse)
            for card in resolved.cards
        },
        dataset=dataset_key,
        photos=tuple(photo.id for photo in chosen),
        chain_set=resolved.chain_set,
        embedder=wiring.embedder_identity(suite.embedder.pack),
        judge=_identity(resolved, resolved.judge, "consistency"),
        judge_card=resolved.judge,
        tracker=_identity(resolved, resolved.tracker, "state"),
        tracker_card=resolved.tracker,
        checker=_identity(resolved, resolved.checker, "step_check"),
        checker_card=resolved.checker,
        definitions_digest=resolved.digest,
        code_version=code_version(),
        packages=package_versions(),
    )


def _identity(resolved: Resolved, card: JudgeCard | None, role: JudgeRole) -> JudgeIdentity | None:
    if card is None:
        return None
    return wiring.judge_identity(card, role, resolved.suite, resolved.taxonomy)


class PlannedShard(BaseModel):
    """What a flow must know of a shard before it starts it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str
    provider: str
    price_usd: float
    """Of one attempt, with every answer that its check may need."""
    steps: int
    """Attempts, at most."""


class PlannedRun(BaseModel):
    """What planning gives to the flow: small, and all else is in the store."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    run_id: str
    missing: Missing
    shards: tuple[PlannedShard, ...]
    judge: str | None = None
    """Id of the card that scores the edits; None where nobody does, and likewise below."""
    tracker: str | None = None
    checker: str | None = None
    checker_provider: str | None = None


def _planned_shard(run: RunPlan, shard: Shard) -> PlannedShard:
    card = run.card[shard.steps[0].chain.model]
    return PlannedShard(
        model=card.id,
        provider=card.provider,
        price_usd=card.price_usd + run.check_price_usd,
        steps=sum(map(run.attempts_from, shard.steps)),
    )


def prepared(request: RunRequest) -> Dataset:
    """The photos of a run, with what was left out.

    Raises:
        DefinitionError: no photo can be used, or a card has settings that its editor does not know.
    """
    resolved = resolve(request)
    photos = wiring.dataset(prepare_suite(resolved.suite))
    check_editors(resolved, photos)
    matched_photos(resolved, photos, request.images)
    return photos


def check_editors(resolved: Resolved, photos: Dataset) -> None:
    """Build every editor and judge once, so that a wrong card is found before its first step."""
    for card in (*resolved.cards, *resolved.judges):
        if not wiring.is_in_process(card.provider):  # its key is looked for once it is called
            wiring.check_settings(card, resolved.suite)
        elif isinstance(card, ModelCard):
            wiring.build_editor(card, photos, resolved.suite)


def calls_somebody(request: RunRequest) -> bool:
    """Whether a model or judge of a request is reached over a provider."""
    resolved = resolve(request)
    cards = (*resolved.cards, *resolved.judges)
    return not all(wiring.is_in_process(card.provider) for card in cards)


def preview(request: RunRequest) -> tuple[RunPlan, Missing]:
    """What a run would do; photos are prepared, nothing else is written."""
    return _preview(request, prepare_suite(resolve(request).suite))


def _preview(request: RunRequest, dataset_key: str, only: tuple[Chain, ...] = ()) -> tuple[RunPlan, Missing]:
    store, photos = wiring.store(), wiring.dataset(dataset_key)
    run = resolve_run(request, dataset_key, photos)
    return run, missing(survey(run, photos, store).history, store, only)


async def preview_run(request: RunRequest, dataset_key: str, only: tuple[Chain, ...] = ()) -> Missing:
    """What a run on prepared photos would do, of some chains where they are named; nothing is written."""
    _, found = await in_thread(_preview, request, dataset_key, only)
    return found


def newest_run(suite: str, store: ObjectStore) -> str:
    """Id of a suite's newest run; raises StoreError when it was never run."""
    name = store.get(keys.newest_run(suite))
    if name is None:
        raise StoreError(
            f"the suite {suite!r} has no run in this store; start one with: facedrift run {suite}"
        )
    return name.decode()


def newest_run_of(suite: str) -> str:
    """Id of a suite's newest run in this process's store; raises StoreError when it was never run."""
    return newest_run(suite, wiring.store())


@task(task_run_name="plan {request.suite}", **policies.ONCE)
async def plan_run(request: RunRequest, dataset_key: str, only: tuple[Chain, ...] = ()) -> PlannedRun:
    """Resolve a run, find what is missing and write both to the store.

    Args:
        request: What to run.
        dataset_key: Of its photos.
        only: Chains to edit, where it is not all that are unfinished; the run is the whole suite's.
    """
    return await in_thread(_plan_run, request, dataset_key, only)


def _plan_run(request: RunRequest, dataset_key: str, only: tuple[Chain, ...]) -> PlannedRun:
    store, photos = wiring.store(), wiring.dataset(dataset_key)
    run = resolve_run(request, dataset_key, photos)
    seen = survey(run, photos, store)
    parts = shards(seen.history, only)
    run = run.model_copy(update={"shards": len(parts)})
    on_threads(lambda part: ledger.write_new(store, keys.shard(run.id, part.number), part), parts)
    ledger.write_new(store, keys.run(run.id), run)
    settle(seen, store, parts, run_id=run.id)
    store.put(keys.newest_run(run.suite.id), run.id.encode())
    store.put_new(keys.run_of_suite(run.suite.id, run.id), RETRY if only else b"")
    return PlannedRun(
        run_id=run.id,
        missing=missing(seen.history, store, only),
        shards=tuple(_planned_shard(run, part) for part in parts),
        judge=run.judge_card and run.judge_card.id,
        tracker=run.tracker_card and run.tracker_card.id,
        checker=run.checker_card and run.checker_card.id,
        checker_provider=run.checker_card and run.checker_card.provider,
    )
