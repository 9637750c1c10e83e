"""Paid calls and their journal: every moment at which a process can die, and what the next one does."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Set
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from builders import png

from adapters.base import ObjectStore
from adapters.stores.local import LocalStore
from domain import keys
from domain.edits import Edited, EditOutcome, EditRequest, Refused, Ticket
from domain.errors import (
    AmbiguousError,
    FatalError,
    ProviderError,
    QuotaError,
    StoreError,
    TransientError,
    UnresolvedError,
)
from domain.plan import Chain, StepPlan
from domain.records import CallEnd, CallIntent, CallTicket, Owner, StepIdentity
from domain.suites import CallRules
from tasks import journal as journals
from tasks import ledger, owners
from tasks.editing import run_step
from tasks.journal import Journal

EDIT = Edited(image=png("blue"), served_version="m-1")
RULES = CallRules(max_resends=1, history_wait_s=0.0)


class KilledError(BaseException):
    """Stands for the moment at which the process is gone."""


class OneShot:
    """Answers at once; counts what is paid."""

    def __init__(self, *acts: EditOutcome | BaseException) -> None:
        self._acts = list(acts)
        self.paid = 0

    def submit(self, request: EditRequest) -> Ticket:
        act = self._acts.pop(0) if self._acts else EDIT
        if isinstance(act, TransientError | FatalError | QuotaError):
            raise act
        self.paid += 1
        if isinstance(act, BaseException):
            raise act
        return Ticket(outcome=act)

    def collect(self, ticket: Ticket) -> EditOutcome:
        return ticket.held_outcome()


class Queue:
    """Makes jobs, and knows which it made."""

    def __init__(self) -> None:
        self.jobs: dict[str, EditRequest] = {}
        self.on_submit: list[BaseException] = []
        self.on_collect: list[BaseException] = []
        self.visible = True
        self.collected: list[str] = []
        self.since: list[datetime] = []

    @property
    def paid(self) -> int:
        return len(self.jobs)

    def submit(self, request: EditRequest) -> Ticket:
        if self.on_submit and isinstance(self.on_submit[0], TransientError):
            raise self.on_submit.pop(0)
        name = f"job-{len(self.jobs) + 1}"
        self.jobs[name] = request
        if self.on_submit:
            raise self.on_submit.pop(0)
        return Ticket(provider_id=name)

    def collect(self, ticket: Ticket) -> EditOutcome:
        self.collected.append(ticket.provider_id or "")
        if self.on_collect:
            raise self.on_collect.pop(0)
        assert ticket.provider_id in self.jobs
        return EDIT

    def find(self, request: EditRequest, since: datetime, over: Set[str] = frozenset()) -> Ticket | None:
        self.since.append(since)
        found = [n for n, made in self.jobs.items() if made.prompt == request.prompt and n not in over]
        return Ticket(provider_id=found[-1]) if found and self.visible else None


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path, fsync=False)


@pytest.fixture
def step(store: LocalStore) -> StepPlan:
    data = png("red")
    store.put_new(keys.image(keys.sha256(data), "png"), data)
    identity = StepIdentity(
        input_sha256=keys.sha256(data), prompt="Add a beret.", model="m", settings_fingerprint="f",
        seed=7, attempt=1,
    )  # fmt: skip
    return StepPlan(
        chain=Chain(model="m", photo="p", session="s"), number=1, identity=identity, input_extension="png"
    )


class Clerk:
    """Runs a step as one process after another would."""

    def __init__(self, store: ObjectStore, step: StepPlan, rules: CallRules = RULES) -> None:
        self.store, self.step, self.rules = store, step, rules
        self.lost = 0
        self.slept: list[float] = []

    def run(self, editor: OneShot | Queue, sleep: Callable[[float], None] | None = None):
        journal = Journal(
            self.step.key, "acme", self.store, self.rules,
            on_lost=self._count, sleep=sleep or self.slept.append,
        )  # fmt: skip
        return run_step(self.step, editor, self.store, journal)

    def killed(self, editor: OneShot | Queue) -> None:
        with pytest.raises(KilledError):
            self.run(editor)

    def entry(self, send: int, what: keys.JournalEntry) -> bytes | None:
        return self.store.get(keys.journal(self.step.key, send, what))

    def _count(self) -> None:
        self.lost += 1


@pytest.fixture
def clerk(store: LocalStore, step: StepPlan) -> Clerk:
    return Clerk(store, step)


def test_a_calm_call_leaves_an_intent_a_ticket_and_an_outcome(clerk: Clerk) -> None:
    queue = Queue()
    result = clerk.run(queue)
    assert (result.outcome.kind, result.collected, queue.paid, clerk.lost) == ("edited", False, 1, 0)
    intent = CallIntent.model_validate_json(clerk.entry(1, "intent") or b"")
    assert (intent.provider, intent.model, intent.owner) == ("acme", "m", owners.this_process())
    ticket = CallTicket.model_validate_json(clerk.entry(1, "ticket") or b"")
    assert (ticket.provider_id, ticket.recovered) == ("job-1", False)
    assert clerk.entry(1, "end") is None
    assert clerk.run(queue).found
    assert queue.paid == 1


def test_the_intent_is_there_before_anything_is_sent(clerk: Clerk) -> None:
    class Looks(OneShot):
        def submit(self, request: EditRequest) -> Ticket:
            assert clerk.entry(1, "intent") is not None
            return super().submit(request)

    assert clerk.run(Looks()).outcome.kind == "edited"


def test_killed_after_the_ticket_the_job_is_collected_and_not_sent_again(clerk: Clerk) -> None:
    queue = Queue()
    queue.on_collect.append(KilledError())
    clerk.killed(queue)
    result = clerk.run(queue)
    assert (result.collected, queue.paid, clerk.lost) == (True, 1, 0)
    assert queue.collected == ["job-1", "job-1"]


def test_killed_before_the_ticket_the_job_is_found_in_the_history(clerk: Clerk) -> None:
    queue = Queue()
    queue.on_submit.append(KilledError())
    clerk.killed(queue)
    assert clerk.entry(1, "ticket") is None
    result = clerk.run(queue)
    assert (result.collected, queue.paid, clerk.lost) == (True, 1, 0)
    assert CallTicket.model_validate_json(clerk.entry(1, "ticket") or b"").recovered


def test_a_job_that_the_history_shows_late_is_waited_for(store: LocalStore, step: StepPlan) -> None:
    clerk = Clerk(store, step, CallRules(history_wait_s=60.0))
    queue = Queue()
    queue.visible = False
    queue.on_submit.append(AmbiguousError("dropped"))
    with pytest.raises(AmbiguousError, match="dropped"):
        clerk.run(queue)
    looks: list[float] = []

    def appears(seconds: float) -> None:
        looks.append(seconds)
        queue.visible = len(looks) == 3

    assert clerk.run(queue, sleep=appears).collected
    assert (queue.paid, looks) == (1, [journals.LOOK_AGAIN_S] * 3)


def test_a_job_without_trace_is_counted_and_sent_again_as_often_as_allowed(clerk: Clerk) -> None:
    queue = Queue()
    queue.visible = False
    for lost in (0, 1):
        queue.on_submit.append(KilledError())
        clerk.killed(queue)
        assert clerk.lost == lost
    with pytest.raises(
        UnresolvedError, match=r"may have been paid 2 times.*last: its answer was lost.*max_resends"
    ):
        clerk.run(queue)
    assert (queue.paid, clerk.lost) == (2, 2)
    with pytest.raises(UnresolvedError):
        clerk.run(queue)
    assert (queue.paid, clerk.lost) == (2, 2), "each lost call is counted once, whoever looks again"
    more = Clerk(clerk.store, clerk.step, CallRules(max_resends=2, history_wait_s=0.0))
    assert more.run(queue).outcome.kind == "edited"


def test_a_one_shot_call_that_was_killed_is_ambiguous(clerk: Clerk) -> None:
    editor = OneShot(KilledError())
    clerk.killed(editor)
    outcome = clerk.run(editor).outcome
    assert (outcome.kind, outcome.lost_calls) == ("edited", 1)
    assert (editor.paid, clerk.lost) == (2, 1)


@pytest.mark.parametrize("error", [TransientError("429"), QuotaError("used up"), FatalError("bad key")])
def test_what_was_not_accepted_is_sent_again_freely(clerk: Clerk, error: ProviderError) -> None:
    editor = OneShot(*[error] * 5)
    for send in range(1, 6):
        with pytest.raises(type(error)):
            clerk.run(editor)
        assert not CallEnd.model_validate_json(clerk.entry(send, "end") or b"").maybe_paid
    assert clerk.run(editor).outcome.kind == "edited"
    assert (editor.paid, clerk.lost) == (1, 0)


def test_an_answer_that_is_no_image_was_paid_and_counts(clerk: Clerk) -> None:
    editor = OneShot(Edited(image=png("blue")[:50]), Edited(image=b""))
    for lost in (1, 2):
        with pytest.raises(AmbiguousError, match="no whole image"):
            clerk.run(editor)
        assert clerk.lost == lost
    with pytest.raises(UnresolvedError):
        clerk.run(editor)
    assert editor.paid == 2


def test_a_job_that_ended_without_an_image_gives_way_to_another(clerk: Clerk) -> None:
    queue = Queue()
    queue.on_collect += [TransientError("the job failed", job_over=True)]
    with pytest.raises(TransientError):
        clerk.run(queue)
    result = clerk.run(queue)
    assert (result.collected, queue.paid, clerk.lost) == (False, 2, 0)
    assert queue.collected == ["job-1", "job-2"]


def test_a_job_that_came_to_nothing_is_not_taken_for_the_one_that_was_lost(clerk: Clerk) -> None:
    queue = Queue()
    queue.on_collect += [TransientError("the job failed", job_over=True)]
    with pytest.raises(TransientError):
        clerk.run(queue)
    queue.on_submit.append(KilledError())
    clerk.killed(queue)
    result = clerk.run(queue)
    assert (result.collected, queue.collected[-1], queue.paid) == (True, "job-2", 2)
    [since] = queue.since
    intent = CallIntent.model_validate_json(clerk.entry(2, "intent") or b"")
    behind = datetime.fromisoformat(intent.at) - since
    assert behind == timedelta(seconds=journals.CLOCKS_DIFFER_S), "the provider's clock may be behind ours"


def test_a_job_that_is_gone_may_have_been_paid(clerk: Clerk) -> None:
    queue = Queue()
    queue.on_collect += [AmbiguousError("no such job", job_over=True)]
    with pytest.raises(AmbiguousError):
        clerk.run(queue)
    assert clerk.lost == 1
    assert not clerk.run(queue).collected


@pytest.mark.parametrize("error", [TransientError("poll 503"), FatalError("401"), QuotaError("402")])
def test_a_failed_poll_leaves_the_ticket_good(clerk: Clerk, error: ProviderError) -> None:
    queue = Queue()
    queue.on_collect += [error]
    with pytest.raises(type(error)):
        clerk.run(queue)
    assert clerk.run(queue).collected
    assert queue.paid == 1


def test_a_bug_in_an_adapter_leaves_a_call_that_may_have_been_paid(clerk: Clerk) -> None:
    editor = OneShot(KeyError("sk-secret"))
    with pytest.raises(KeyError):
        clerk.run(editor)
    assert clerk.lost == 1
    assert CallEnd.model_validate_json(clerk.entry(1, "end") or b"").reason == "KeyError", "no text of others"
    assert clerk.run(editor).outcome.kind == "edited"


def test_a_refusal_ends_the_story(clerk: Clerk) -> None:
    editor = OneShot(Refused(reason="policy"))
    assert clerk.run(editor).outcome.kind == "refused"
    assert clerk.run(editor).found
    assert editor.paid == 1


def test_nothing_is_sent_when_the_intent_cannot_be_written(step: StepPlan, tmp_path: Path) -> None:
    class ReadOnly(LocalStore):
        def put_new(self, key: str, data: bytes) -> bool:
            if key.startswith("journal/"):
                raise StoreError("read-only", key=key)
            return super().put_new(key, data)

    editor = OneShot()
    with pytest.raises(StoreError):
        Clerk(ReadOnly(tmp_path, fsync=False), step).run(editor)
    assert editor.paid == 0


def _intent(clerk: Clerk, owner: Owner, age_s: float) -> None:
    at = (datetime.now(UTC) - timedelta(seconds=age_s)).isoformat()
    intent = CallIntent(key=clerk.step.key, send=1, provider="acme", model="m", owner=owner, at=at)
    ledger.write_new(clerk.store, keys.journal(clerk.step.key, 1, "intent"), intent)


def test_a_call_of_another_machine_is_waited_for_and_its_outcome_taken(
    clerk: Clerk, store: LocalStore, step: StepPlan
) -> None:
    _intent(clerk, Owner(host="elsewhere", space="1", pid=1, started=0.0), age_s=5)
    editor = OneShot()

    def finishes(_: float) -> None:
        run_step(step, OneShot(), store)

    result = clerk.run(editor, sleep=finishes)
    assert (result.found, editor.paid) == (True, 0)


def test_a_call_of_another_machine_is_given_up_after_its_lease(clerk: Clerk) -> None:
    _intent(clerk, Owner(host="elsewhere", space="1", pid=1, started=0.0), age_s=1000)
    editor = OneShot()
    assert clerk.run(editor).outcome.kind == "edited"
    assert (editor.paid, clerk.lost, clerk.slept) == (1, 1, [])


def test_a_process_that_is_gone_is_known_to_be_gone() -> None:
    code = "from tasks import owners; print(owners.this_process().model_dump_json())"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[3],
    )
    gone, me = Owner.model_validate_json(done.stdout), owners.this_process()
    assert (gone.host, gone.space) == (me.host, me.space)
    assert not owners.may_live(gone)
    assert owners.may_live(me)
    assert not owners.may_live(me.model_copy(update={"started": me.started - 60})), (
        "the number was used again"
    )
    assert owners.may_live(me.model_copy(update={"space": "another container", "pid": 999_999_999}))


def _gone() -> Owner:
    me = owners.this_process()
    return me.model_copy(update={"started": me.started - 60})


def test_after_a_kill_between_intent_and_ticket_only_the_intent_is_there(clerk: Clerk) -> None:
    queue = Queue()
    queue.jobs["job-1"] = EditRequest("m", b"", "", clerk.step.identity.prompt)
    _intent(clerk, _gone(), age_s=1)
    assert clerk.run(queue).collected
    assert (queue.paid, clerk.lost) == (1, 0)


def test_after_a_kill_during_a_one_shot_call_only_the_intent_is_there(clerk: Clerk) -> None:
    _intent(clerk, _gone(), age_s=1)
    editor = OneShot()
    assert clerk.run(editor).outcome.kind == "edited"
    assert (editor.paid, clerk.lost) == (1, 1)
    assert CallEnd.model_validate_json(clerk.entry(1, "end") or b"").maybe_paid


def test_while_this_process_makes_a_call_a_second_one_waits_for_it(
    clerk: Clerk, store: LocalStore, step: StepPlan
) -> None:
    inner = OneShot()

    class Slow(OneShot):
        def submit(self, request: EditRequest) -> Ticket:
            def first_ends(_: float) -> None:
                run_step(step, OneShot(), store)

            assert Clerk(store, step).run(inner, sleep=first_ends).found
            return super().submit(request)

    outer = Slow()
    assert clerk.run(outer).outcome.kind == "edited"
    assert (outer.paid, inner.paid) == (1, 0)
    assert not journals._IN_FLIGHT
