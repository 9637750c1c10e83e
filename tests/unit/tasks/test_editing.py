from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from builders import png

from adapters.stores.local import LocalStore
from domain import keys
from domain.edits import Edited, EditOutcome, EditRequest, NoImage, Refused, Ticket
from domain.errors import AmbiguousError, StoreError, TransientError
from domain.plan import Chain, StepPlan
from domain.records import OutcomeRecord, StepIdentity
from tasks import ledger
from tasks.editing import run_step


class Answers:
    """An editor that answers what it is told, and remembers what it was asked."""

    def __init__(self, answer: Callable[[EditRequest], EditOutcome]) -> None:
        self.asked: list[EditRequest] = []
        self._answer = answer

    def submit(self, request: EditRequest) -> Ticket:
        self.asked.append(request)
        return Ticket(outcome=self._answer(request))

    def collect(self, ticket: Ticket) -> EditOutcome:
        return ticket.held_outcome()


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path, fsync=False)


@pytest.fixture
def step(store: LocalStore) -> StepPlan:
    data = png("red")
    store.put_new(keys.image(keys.sha256(data), "png"), data)
    identity = StepIdentity(
        input_sha256=keys.sha256(data),
        prompt="Add a knit hat.",
        model="m",
        settings_fingerprint="f",
        seed=7,
        attempt=1,
    )
    chain = Chain(model="m", photo="p", session="s")
    return StepPlan(chain=chain, number=1, identity=identity, input_extension="png")


def test_an_edit_is_stored_unchanged_and_its_outcome_last(store: LocalStore, step: StepPlan) -> None:
    answer = png("blue", (20, 50))
    editor = Answers(lambda _: Edited(image=answer, served_version="m-2", cost_usd=0.04, details={"a": 1}))
    result = run_step(step, editor, store)
    outcome = result.outcome
    assert not result.found
    assert outcome.image is not None
    assert (outcome.image.width, outcome.image.height, outcome.image.extension) == (20, 50, "png")
    assert ledger.read_image(store, outcome.image.sha256, "png") == answer
    assert (outcome.kind, outcome.served_version, outcome.cost_usd) == ("edited", "m-2", 0.04)
    assert ledger.outcome(store, step.key) == outcome
    asked = editor.asked[0]
    assert (asked.prompt, asked.seed, asked.attempt) == ("Add a knit hat.", 7, 1)
    assert keys.sha256(asked.image) == step.identity.input_sha256


def test_a_stored_outcome_is_returned_and_nothing_is_called(store: LocalStore, step: StepPlan) -> None:
    editor = Answers(lambda _: Edited(image=png("blue")))
    first = run_step(step, editor, store)
    second = run_step(step, editor, store)
    assert len(editor.asked) == 1
    assert second.found
    assert second.outcome == first.outcome


@pytest.mark.parametrize(
    ("answer", "kind"),
    [(Refused(reason="policy: no"), "refused"), (NoImage(reason="text_only: hm"), "no_image")],
)
def test_refusals_are_outcomes(store: LocalStore, step: StepPlan, answer: EditOutcome, kind: str) -> None:
    outcome = run_step(step, Answers(lambda _: answer), store).outcome
    assert (outcome.kind, outcome.image) == (kind, None)
    assert outcome.reason
    stored = ledger.outcome(store, step.key)
    assert stored is not None
    assert stored.kind == kind


def test_what_a_provider_says_in_passing_cannot_lose_a_paid_edit(store: LocalStore, step: StepPlan) -> None:
    details = {"score": float("nan"), "note": "\ud800"}
    run_step(step, Answers(lambda _: Edited(image=png("blue"), cost_usd=0.1, details=details)), store)
    stored = ledger.outcome(store, step.key)
    assert stored is not None
    assert stored.details["score"] is None


@pytest.mark.parametrize("data", [b"", b"not an image", png("blue")[:60]])
def test_bytes_that_are_no_image_store_nothing(store: LocalStore, step: StepPlan, data: bytes) -> None:
    with pytest.raises(AmbiguousError, match="no whole image"):
        run_step(step, Answers(lambda _: Edited(image=data)), store)
    assert ledger.outcome(store, step.key) is None
    assert len(list(store.list("images"))) == 1  # the input


def test_a_failure_stores_nothing(store: LocalStore, step: StepPlan) -> None:
    def fail(_: EditRequest) -> EditOutcome:
        raise TransientError("busy")

    with pytest.raises(TransientError):
        run_step(step, Answers(fail), store)
    assert ledger.outcome(store, step.key) is None


def test_a_store_that_cannot_be_read_is_not_taken_for_work_to_do(step: StepPlan) -> None:
    class Broken(LocalStore):
        def get(self, key: str) -> bytes | None:
            raise StoreError("503", key=key)

    editor = Answers(lambda _: Edited(image=png("blue")))
    with pytest.raises(StoreError):
        run_step(step, editor, Broken(Path("/nowhere")))
    assert not editor.asked


@pytest.mark.parametrize("record", [b"", b"{", b'{"version": 2}', b"[]"])
def test_a_damaged_outcome_stops_the_step_instead_of_paying_again(
    store: LocalStore, step: StepPlan, record: bytes
) -> None:
    store.put(keys.outcome(step.key), record)
    editor = Answers(lambda _: Edited(image=png("blue")))
    with pytest.raises(StoreError, match="damaged"):
        run_step(step, editor, store)
    assert not editor.asked


def test_an_altered_input_is_noticed(store: LocalStore, step: StepPlan) -> None:
    store.put(keys.image(step.identity.input_sha256, "png"), png("green"))
    with pytest.raises(StoreError, match="does not match its name"):
        run_step(step, Answers(lambda _: Edited(image=png("blue"))), store)


def test_of_two_writers_the_first_outcome_counts(store: LocalStore, step: StepPlan) -> None:
    def meanwhile(_: EditRequest) -> EditOutcome:
        run_step(step, Answers(lambda _: Edited(image=png("green"))), store)
        return Edited(image=png("blue"))

    result = run_step(step, Answers(meanwhile), store)
    assert result.outcome.image is not None
    assert result.outcome.image.sha256 == keys.sha256(png("green"))
    stored = ledger.outcome(store, step.key)
    assert isinstance(stored, OutcomeRecord)
    assert stored == result.outcome
