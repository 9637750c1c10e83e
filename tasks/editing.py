"""One attempt at one step of a chain: paid once, stored before it is believed."""

from __future__ import annotations

import time
from datetime import UTC, datetime

from prefect import task

from adapters.base import Editor, ObjectStore
from adapters.imaging.bounded import Bounded
from adapters.imaging.decode import ImageFacts, inspect_image
from domain import keys
from domain.edits import Edited, EditRequest, NoImage
from domain.errors import AmbiguousError, PhotoError
from domain.plan import StepPlan
from domain.records import ImageRef, OutcomeRecord
from domain.summaries import StepResult
from tasks import gates, ledger, policies, wiring
from tasks.journal import Journal
from tasks.paid_calls import Call, paid_call
from tasks.threads import in_thread

MAX_IMAGE_BYTES = 100_000_000
_FACTS: Bounded[str, ImageFacts] = Bounded(4096)
"""Of images that this process has decoded, so that the same bytes are verified once."""


def run_step(
    step: StepPlan, editor: Editor, store: ObjectStore, journal: Journal | None = None
) -> StepResult:
    """Edit once and keep the result: look, call, put the image, put the outcome last.

    Args:
        step: What to edit.
        editor: Who edits.
        store: Where the outcome is looked up and kept.
        journal: Of the paid call; None for an editor that calls nobody.

    Raises:
        StoreError: the store cannot be read or written; nothing is called when it cannot be read.
        ProviderError: the model failed; no outcome is stored, so a later run tries again.
    """
    known = ledger.outcome(store, step.key)
    if known is not None:
        return StepResult(outcome=known, found=True)
    identity = step.identity
    request = EditRequest(
        model=identity.model,
        image=ledger.read_image(store, identity.input_sha256, step.input_extension),
        image_sha256=identity.input_sha256,
        prompt=identity.prompt,
        seed=identity.seed,
        attempt=identity.attempt,
    )
    started = time.monotonic()
    with paid_call(journal, request, editor) as call:
        latency_s = time.monotonic() - started
        if call is None:
            return StepResult(outcome=ledger.expect_outcome(store, step.key), found=True)
        outcome = call.outcome
        image = _store_image(outcome, store, identity.model) if isinstance(outcome, Edited) else None
        record = _record(step, call, image, latency_s)
        if not ledger.write_new(store, keys.outcome(step.key), record):
            record = ledger.expect_outcome(store, step.key)
    return StepResult(outcome=record, found=False, collected=call.collected)


def _store_image(outcome: Edited, store: ObjectStore, model: str) -> ImageRef:
    """Verify what came back by decoding all of it, then keep it unchanged under its sha256."""
    sha256 = keys.sha256(outcome.image)
    try:
        facts = _FACTS.get(sha256, lambda: inspect_image(outcome.image))
    except PhotoError as error:
        raise AmbiguousError(
            f"{model} returned {len(outcome.image)} bytes that are no whole image: {error}; "
            "it was perhaps paid, and is asked for again only as often as the suite allows",
            model=model,
        ) from error
    if len(outcome.image) > MAX_IMAGE_BYTES:
        raise AmbiguousError(f"{model} returned an image of {len(outcome.image)} bytes", model=model)
    ref = ImageRef(
        sha256=sha256,
        extension=facts.extension,
        content_type=facts.content_type,
        width=facts.width,
        height=facts.height,
        size_bytes=len(outcome.image),
    )
    ledger.write_image(store, outcome.image, ref)
    return ref


def _record(step: StepPlan, call: Call, image: ImageRef | None, latency_s: float) -> OutcomeRecord:
    outcome = call.outcome
    kind = (
        "edited" if isinstance(outcome, Edited) else "no_image" if isinstance(outcome, NoImage) else "refused"
    )
    return OutcomeRecord(
        key=step.key,
        identity=step.identity,
        kind=kind,
        image=image,
        reason=None if isinstance(outcome, Edited) else outcome.reason,
        served_version=outcome.served_version,
        cost_usd=outcome.cost_usd,
        lost_calls=call.lost,
        latency_s=round(latency_s, 4),
        finished_at=datetime.now(UTC).isoformat(timespec="seconds"),
        details=dict(outcome.details),
    )


@task(
    task_run_name="edit {step.chain.model} {step.chain.photo} {step.chain.session}/{step.number}",
    **policies.EDIT,
)
async def edit_step(run_id: str, step: StepPlan) -> StepResult:
    """One (model, photo, session, step)."""
    async with gates.call(run_id, wiring.run_plan(run_id).card[step.identity.model].provider):
        return await in_thread(_edit_step, run_id, step)


def _edit_step(run_id: str, step: StepPlan) -> StepResult:
    run, store = wiring.run_plan(run_id), wiring.store()
    card = run.card[step.identity.model]
    journal = None
    if not wiring.is_in_process(card.provider):
        count = gates.gate(run_id, card.provider).count_lost
        journal = Journal(step.key, card.provider, store, run.suite.calls, on_lost=count)
    return run_step(step, wiring.editor(run, card.id), store, journal)
