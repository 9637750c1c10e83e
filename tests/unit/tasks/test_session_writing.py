"""Answers are kept as they come: what was asked is never asked again, whatever happened in between."""

from __future__ import annotations

from pathlib import Path

import pytest
from fakes.writers import SaysWriter, said

from adapters.stores.local import LocalStore
from domain.errors import DefinitionError
from domain.judge_cards import JudgeCard
from domain.loading import load
from domain.requests import WriteSessionsRequest
from domain.session_writing import InstructionAnswer
from domain.taxonomy import Taxonomy
from tasks import ledger
from tasks.session_writing import (
    Followed,
    Writing,
    answer_key,
    as_session,
    ask_once,
    follow,
    resolve,
    writer_identity,
)
from tasks.writers import writers

TAXONOMY = load(Taxonomy, "face-edit-attributes")


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path, fsync=False)


def a_writing(**fields: object) -> Writing:
    base = {"set_id": "city", "writer": "local", "test_sets": {"hair": 1}, "max_asks": 3}
    return resolve(WriteSessionsRequest.model_validate({**base, **fields}))


def write(writing: Writing, writer: SaysWriter, store: LocalStore) -> Followed:
    """Ask until the first session is over."""
    followed = follow(writing, writing.drawn[0], store)
    while followed.next is not None:
        ask_once(followed.next, writer, TAXONOMY, store)
        followed = follow(writing, writing.drawn[0], store)
    return followed


def attribute_at(writing: Writing, step: int) -> str:
    return writing.drawn[0].steps[step - 1].attribute


def test_a_session_is_written_step_by_step_and_then_only_read(store: LocalStore) -> None:
    writing, writer = a_writing(), SaysWriter()
    followed = write(writing, writer, store)
    session = as_session(writing.drawn[0], followed)
    assert [step.attribute for step in session.steps] == [step.attribute for step in writing.drawn[0].steps]
    assert [len(asked.earlier) for asked in writer.asked] == [0, 1, 2, 3]
    assert writer.asked[3].earlier == session.steps[:3]
    again = SaysWriter()
    assert write(writing, again, store) == followed
    assert again.asked == []


@pytest.mark.parametrize("killed_after", range(5))
def test_a_kill_between_answers_repeats_none(store: LocalStore, killed_after: int) -> None:
    writing, writer = a_writing(), SaysWriter()
    bad = attribute_at(writing, 2).replace(" ", "_")
    writer.instead[bad] = ["no"]
    writer.ends_after = killed_after
    with pytest.raises(KeyboardInterrupt):
        write(writing, writer, store)
    writer.ends_after = None
    assert len(write(writing, writer, store).steps) == 4
    assert len(writer.asked) == 5  # four steps, one of them twice
    assert len({asked.model_dump_json() for asked in writer.asked}) == 5


@pytest.mark.parametrize(
    "bad", ["nonsense", "", said("I will not do that."), said("Add a cowboy hat."), said("Hm. {}."), said("")]
)
def test_a_bad_answer_is_kept_and_asked_for_again_with_its_reason(store: LocalStore, bad: str) -> None:
    writing, writer = a_writing(), SaysWriter()
    name = attribute_at(writing, 1)
    writer.instead[name.replace(" ", "_")] = [bad.replace("{}", name)]
    first = follow(writing, writing.drawn[0], store).next
    assert first is not None
    assert write(writing, writer, store).unwritten is None
    assert [asked.last_problem is None for asked in writer.asked] == [True, False, True, True, True]
    kept = ledger.read(store, answer_key(first), InstructionAnswer)
    assert kept is not None
    assert (kept.raw_text, kept.instruction) == (bad.replace("{}", name), None)
    assert kept.problem == writer.asked[1].last_problem


def test_after_the_bound_the_session_fails_with_all_that_was_said(store: LocalStore) -> None:
    writing, writer = a_writing(), SaysWriter()
    name = attribute_at(writing, 3).replace(" ", "_")
    writer.instead[name] = ["a", "b", "c"]
    followed = write(writing, writer, store)
    assert len(followed.steps) == 2
    assert followed.unwritten is not None
    assert (followed.unwritten.session, followed.unwritten.step) == ("hair_001", 3)
    assert len(writer.asked) == 5
    assert write(writing, writer, store) == followed
    assert len(writer.asked) == 5  # asked as often as allowed: nothing more is paid for
    more = write(a_writing(max_asks=4), writer, store)
    assert len(more.steps) == 4
    assert len(writer.asked) == 7


def test_another_seed_or_a_larger_set_asks_only_for_what_is_new(store: LocalStore) -> None:
    writer = SaysWriter()
    write(a_writing(), writer, store)
    write(a_writing(test_sets={"hair": 3, "pose": 1}), writer, store)
    assert len(writer.asked) == 4
    write(a_writing(seed=1), writer, store)
    assert len(writer.asked) == 8


def test_the_identity_of_a_writer_holds_all_that_changes_its_words() -> None:
    card = load(JudgeCard, "gemini-3.8-flash")
    found = writer_identity(card, TAXONOMY)
    assert found.adapter == "google"
    assert found.prompt_version.startswith("sessions.v1 ")
    assert found.taxonomy == "face-edit-attributes@1"
    assert writer_identity(card, TAXONOMY, rehearse=True) != found
    warmer = card.model_copy(update={"settings": card.settings | {"thinking_level": "low"}})
    assert writer_identity(warmer, TAXONOMY) != found
    with pytest.raises(DefinitionError, match="no prompt for sessions"):
        writer_identity(load(JudgeCard, "gemini-2.5-flash"), TAXONOMY)
    assert set(writers("sessions")) == {"local", "gemini-3.5-flash-lite", "gemini-3.8-flash", "gpt-6.1-sol"}


@pytest.mark.parametrize(
    ("fields", "said_"),
    [
        ({"test_sets": {"multi_axis": 1}, "steps": 1}, "needs two steps"),
        ({"set_id": "city-v2"}, "later version"),
        ({"set_id": "City"}, "pattern"),
        ({"test_sets": {}}, "at least 1"),
        ({"test_sets": {"hair": 0}}, "greater than or equal to 1"),
        ({"colour": 1}, "Extra inputs"),
    ],
)
def test_a_request_that_cannot_be_carried_out_is_refused(fields: dict[str, object], said_: str) -> None:
    with pytest.raises(ValueError, match=said_):
        a_writing(**fields)
