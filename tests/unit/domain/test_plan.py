from __future__ import annotations

from typing import Any

import pytest
from builders import SHA, a_photo, an_image_ref, an_outcome

from domain import plan
from domain.keys import step_seed
from domain.loading import load
from domain.model_cards import ModelCard
from domain.plan import Chain, Course
from domain.records import OutcomeRecord
from domain.running import StepRules
from domain.sessions import SessionSet

SESSION = load(SessionSet, "face-edit-sessions").by_id["accessories_001"]
CARD = load(ModelCard, "control-unchanged")
SEEDED = CARD.model_copy(update={"seed_support": True})
PHOTO = a_photo()
CHAIN = Chain(model=CARD.id, photo=PHOTO.id, session=SESSION.id)


class Ledger:
    """Outcomes by key, as the store has them."""

    def __init__(self) -> None:
        self.records: dict[str, OutcomeRecord] = {}
        self.asked: list[str] = []

    def find(self, key: str) -> OutcomeRecord | None:
        self.asked.append(key)
        return self.records.get(key)

    def walk(self, card: ModelCard = CARD, **options: Any) -> plan.Walk:
        options = {"settings_fingerprint": "f" * 64, "seed_base": 0, "rules": StepRules(), **options}
        course = Course(CHAIN, SESSION, card, **options)
        return course.follow(course.first(PHOTO), self.find, plan.no_check)

    def do_next(self, **fields: Any) -> None:
        step = self.walk().next_step
        assert step is not None
        self.records[step.key] = an_outcome(step.identity, **{"image": an_image_ref(step.number), **fields})


def test_nothing_stored():
    walk = Ledger().walk()
    assert walk.status == "unfinished"
    assert walk.outcomes == ()
    assert walk.next_step is not None
    assert walk.next_step.number == 1
    assert walk.next_step.input_extension == "png"
    identity = walk.next_step.identity
    assert (identity.input_sha256, identity.prompt) == (SHA, "Add square glasses")
    assert (identity.model, identity.settings_fingerprint) == (CARD.id, "f" * 64)
    assert (identity.seed, identity.attempt) == (None, 1)


def test_each_step_takes_the_image_that_the_one_before_returned():
    ledger = Ledger()
    ledger.do_next()
    ledger.do_next(image=an_image_ref(2).model_copy(update={"extension": "jpg"}))
    walk = ledger.walk()
    assert [record.identity.prompt for record in walk.outcomes] == ["Add square glasses", "Add a wool hat"]
    assert walk.outcomes[1].identity.input_sha256 == an_image_ref(1).sha256
    assert walk.next_step is not None
    assert walk.next_step.number == 3
    assert walk.next_step.identity.input_sha256 == an_image_ref(2).sha256
    assert walk.next_step.input_extension == "jpg"


def test_a_complete_chain():
    ledger = Ledger()
    for _ in range(4):
        ledger.do_next()
    walk = ledger.walk()
    assert (walk.status, len(walk.outcomes), walk.next_step) == ("complete", 4, None)


@pytest.mark.parametrize("kind", ["refused", "no_image"])
@pytest.mark.parametrize("done", [0, 3])
def test_an_outcome_without_an_image_stops_the_chain(kind: str, done: int):
    ledger = Ledger()
    for _ in range(done):
        ledger.do_next()
    ledger.do_next(kind=kind, image=None, reason="policy")
    ledger.asked.clear()
    walk = ledger.walk()
    assert (walk.status, len(walk.outcomes), walk.next_step) == ("stopped", done + 1, None)
    assert len(ledger.asked) == done + 1


def test_the_walk_stops_looking_at_the_first_missing_step():
    ledger = Ledger()
    ledger.do_next()
    ledger.asked.clear()
    ledger.walk()
    assert len(ledger.asked) == 2


def test_another_model_setting_or_input_does_not_find_the_outcomes():
    ledger = Ledger()
    ledger.do_next()
    assert ledger.walk(settings_fingerprint="e" * 64).outcomes == ()
    assert ledger.walk(CARD.model_copy(update={"id": "other"})).outcomes == ()
    assert ledger.walk(SEEDED).outcomes == ()
    assert len(ledger.walk(seed_base=5).outcomes) == 1  # no seed is sent, so it makes no difference


def test_seeds_are_sent_where_the_model_takes_one():
    step = Ledger().walk(SEEDED, seed_base=5).next_step
    assert step is not None
    assert step.identity.seed == step_seed(5, CARD.id, PHOTO.id, 1, 1)


def test_chains_go_model_by_model():
    photos = [a_photo(), a_photo(id="bea-1", subject="bea")]
    sessions = [SESSION, SESSION.model_copy(update={"id": "other"})]
    found = list(plan.chains(["m1", "m2"], iter(photos), sessions))
    assert [chain.label for chain in found] == [
        f"{model}/{photo}/{session}"
        for model in ("m1", "m2")
        for photo in ("anna-1", "bea-1")
        for session in ("accessories_001", "other")
    ]
