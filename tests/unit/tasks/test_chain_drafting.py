"""Answers are kept as they come, and whether they can be used is decided by the rules."""

from __future__ import annotations

from pathlib import Path

import pytest
from chain_photos import a_dataset_of
from fakes.writers import SaysDrafter, drafted

from domain.errors import DefinitionError
from domain.requests import DraftChainsRequest
from tasks import ledger, wiring
from tasks.chain_drafting import (
    DraftAnswer,
    Drafting,
    Followed,
    answer_key,
    ask_once,
    follow,
    missing_of,
    resolve,
)
from tasks.writers import writers

FIVE = [
    "Change the man's jacket to green.",
    "Add a blue mug on the table.",
    "Move the basket to the right edge of the counter.",
    "Replace the apple with a yellow pear.",
    "Remove the scarf.",
]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FACEDRIFT_STORE", str(tmp_path / "store"))
    monkeypatch.delenv("FACEDRIFT_DEFINITIONS", raising=False)
    return tmp_path


def a_drafting(**fields: object) -> Drafting:
    a_dataset_of(wiring.store())
    base = {"set_id": "city", "writer": "local", "dataset": "everyday"}
    return resolve(DraftChainsRequest.model_validate({**base, **fields}))


def draft(drafting: Drafting, writer: SaysDrafter, number: int = 0) -> Followed:
    """Ask until a photo is over."""
    photo, store = drafting.photos[number], wiring.store()
    while (followed := follow(drafting, photo, store)).next is not None:
        ask_once(followed.next, ledger.read_image(store, photo.image_sha256, "png"), writer, store)
    return followed


def sha_of(drafting: Drafting, number: int = 0) -> str:
    return drafting.photos[number].image_sha256


def test_a_chain_is_drafted_once_and_then_only_read():
    drafting, writer = a_drafting(), SaysDrafter()
    writer.instead[sha_of(drafting)] = [drafted(FIVE)]
    followed = draft(drafting, writer)
    assert followed.draft is not None
    assert (followed.draft.edit_target, list(followed.draft.prompts)) == ("mixed", FIVE)
    assert followed.served == {"says-1"}
    again = SaysDrafter()
    assert draft(drafting, again) == followed
    assert again.asked == []


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ("nonsense", "not one JSON value"),
        ("", "no text came back (stop)"),
        (drafted(FIVE[:4]), "4 prompts"),
        (drafted(FIVE, "hats"), "edit_target is 'hats'"),
        (drafted(FIVE, "clothing"), "the edit target is 'clothing'"),
        (drafted("Change it"), "not a list"),
        (drafted([*FIVE[:4], 7]), "not a text"),
        (drafted([*FIVE[:4], " Remove the scarf."]), "space"),
        (drafted(["Make the man smile.", *FIVE[1:]]), "prompt 1: no prompt concerns the face"),
        (drafted([*FIVE[:4], "Open the door."]), "prompt 5: the prompt cannot be read"),
        (drafted([*FIVE[:4], "Remove the mug."]), "step 2 edits a mug too"),
        (drafted([*FIVE[:4], "Add a red vase beside the mug."]), "step 2 put there"),
        ('{"edit_target": "mixed"}', "keys are"),
        ('{"edit_target": "mixed", "prompts": [], "reasoning": "after"}', "keys are"),
    ],
)
def test_a_bad_answer_is_kept_and_asked_again_with_its_reason(bad: str, reason: str):
    drafting, writer = a_drafting(), SaysDrafter()
    writer.instead[sha_of(drafting)] = [bad, drafted(FIVE)]
    first = follow(drafting, drafting.photos[0], wiring.store()).next
    assert first is not None
    assert draft(drafting, writer).draft is not None
    (_, asked), (_, again) = writer.asked
    assert asked.last_problem is None
    assert reason in (again.last_problem or "")
    kept = ledger.read(wiring.store(), answer_key(first), DraftAnswer)
    assert kept is not None
    assert kept.raw_text == bad


def test_after_the_bound_the_photo_is_kept_out_and_more_asks_go_on():
    drafting, writer = a_drafting(max_asks=2), SaysDrafter()
    writer.instead[sha_of(drafting)] = ["a", "b"]
    followed = draft(drafting, writer)
    assert followed.draft is None
    assert followed.kept_out is not None
    assert followed.kept_out.photo == "market-1"
    assert "none of 2 answers" in followed.kept_out.problem
    assert draft(drafting, writer) == followed
    assert len(writer.asked) == 2
    assert draft(a_drafting(max_asks=3), writer).draft is not None
    assert len(writer.asked) == 3


def test_what_is_missing_is_counted_by_what_is_stored():
    drafting, writer = a_drafting(writer="gpt-6.1-sol", max_asks=1), SaysDrafter()
    assert missing_of(drafting.request).missing == 3
    draft(drafting, writer)
    writer.instead[sha_of(drafting, 1)] = ["no"]
    draft(drafting, writer, 1)
    missing = missing_of(drafting.request)
    assert (missing.photos, missing.missing) == (3, 1)
    assert missing.cost_usd == pytest.approx(0.02)
    assert [one.photo for one in missing.kept_out] == ["bench-2"]


def test_another_writer_length_or_photo_is_another_question():
    writer = SaysDrafter()
    draft(a_drafting(), writer)
    draft(a_drafting(steps=4), writer)
    draft(a_drafting(writer="gpt-6.1-sol"), writer)
    draft(a_drafting(writer="gpt-6.1-sol", rehearse=True), writer)
    draft(a_drafting(), writer, 1)
    assert len(writer.asked) == 5
    draft(a_drafting(set_id="other", max_asks=9), writer)
    assert len(writer.asked) == 5


def test_who_can_draft():
    assert set(writers("chains")) == {"local", "gemini-3.5-flash-lite", "gemini-3.8-flash", "gpt-6.1-sol"}
    with pytest.raises(DefinitionError, match="no prompt for chains"):
        a_drafting(writer="gemini-2.5-flash")
    with pytest.raises(DefinitionError, match="no base photo 'nobody'"):
        a_drafting(photos=("nobody",))
    with pytest.raises(ValueError, match="-v2"):
        a_drafting(set_id="city-v2")
