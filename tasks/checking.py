"""The check of one attempt: asked once, within a bound, stored before it is believed."""

from __future__ import annotations

from prefect import task

from adapters.base import ObjectStore, StepChecker
from domain import keys
from domain.edits import JudgeReply
from domain.errors import UnreadableError
from domain.judge_cards import JudgeCard
from domain.judging import parse_checklist
from domain.plan import StepPlan
from domain.records import CheckRecord, JudgeIdentity
from domain.summaries import CheckResult
from tasks import gates, ledger, policies, wiring
from tasks.embedding import ImageKey
from tasks.judging import Counting, EditKey, ask, said
from tasks.threads import in_thread


def check_edit(
    edit: EditKey, checker: StepChecker, identity: JudgeIdentity, store: ObjectStore, max_asks: int
) -> CheckResult:
    """Say whether an edit was made: look, ask, store.

    Args:
        edit: What the checker is shown.
        checker: Who is asked.
        identity: Of the checker; the record stands under it.
        store: Where the check is looked up and kept.
        max_asks: How often an answer that does not parse is asked for.

    Raises:
        UnreadableError: no answer could be read; all are kept beside, and a later run asks again.
        StoreError: the store cannot be read or written.
        ProviderError: the checker failed.
    """
    fingerprint = keys.fingerprint(identity)
    known = ledger.check(store, fingerprint, edit.key)
    if known is not None:
        return CheckResult(check=known, found=True)
    before = ledger.read_image(store, edit.before.sha256, edit.before.extension)
    after = ledger.read_image(store, edit.after.sha256, edit.after.extension)
    checklist, replies, problem = ask(
        lambda: checker.check_step(before, after, edit.prompt), parse_checklist, max_asks
    )
    record = CheckRecord(
        key=edit.key,
        checker=identity,
        before_sha256=edit.before.sha256,
        after_sha256=edit.after.sha256,
        prompt=edit.prompt,
        status="checked" if checklist else "unparsable",
        made=checklist.made if checklist else None,
        checklist=checklist,
        asks=len(replies),
        problem=problem,
        **said(replies),
    )
    if checklist is None:
        place = keys.unread_check(fingerprint, edit.key, keys.fingerprint(record))
        ledger.write_new(store, place, record)
        raise UnreadableError(
            f"none of {len(replies)} answers of the step checker could be read ({problem}); they are kept in "
            f"{place}, and a later run asks again"
        )
    if not ledger.write_new(store, keys.check(fingerprint, edit.key), record):
        record = ledger.expect_check(store, fingerprint, edit.key)
    return CheckResult(check=record, found=False)


class _CountingChecker(Counting):
    def __init__(self, checker: StepChecker, run_id: str, card: JudgeCard) -> None:
        super().__init__(run_id, card)
        self._checker = checker

    def check_step(self, before: bytes, after: bytes, prompt: str) -> JudgeReply:
        """The filled checklist."""
        return self.counted(lambda: self._checker.check_step(before, after, prompt))


@task(
    task_run_name="check {step.chain.model} {step.chain.photo} {step.chain.session}/{step.number}",
    **policies.MEASURE,
)
async def check_step(run_id: str, step: StepPlan, after: ImageKey) -> CheckResult:
    """Whether one attempt made its edit.

    Args:
        run_id: A planned run with a checker.
        step: The attempt.
        after: The image that it returned.
    """
    async with gates.call(run_id, wiring.run_plan(run_id).role("checker").card.provider):
        return await in_thread(_check_step, run_id, step, after)


def _check_step(run_id: str, step: StepPlan, after: ImageKey) -> CheckResult:
    run, store = wiring.run_plan(run_id), wiring.store()
    card, identity = run.role("checker")
    before = ImageKey(sha256=step.identity.input_sha256, extension=step.input_extension)
    edit = EditKey(before=before, after=after, prompt=step.identity.prompt)
    checker = _CountingChecker(wiring.checker(run), run_id, card)
    return check_edit(edit, checker, identity, store, run.suite.steps.max_asks)
