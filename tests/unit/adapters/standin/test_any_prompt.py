"""Prompts that the local editor and checker cannot read are carried out all the same."""

from __future__ import annotations

import json

import pytest
from unit.adapters.standin.place import PNG, Inverter, Judging, inverted

from adapters.standin.any_prompt import AnyPromptChecker, AnyPromptEditor
from domain.edits import Edited, EditRequest
from domain.judging import parse_checklist

KNOWN, OTHER = "Add a blue mug at the bottom left", "Replace the apple on her plate with a yellow pear."


@pytest.mark.parametrize(("prompt", "who"), [(KNOWN, 0), (OTHER, 1)])
def test_each_prompt_goes_to_the_editor_that_can_read_it(prompt: str, who: int):
    editors = Inverter(), Inverter()
    editor = AnyPromptEditor(*editors)
    outcome = editor.collect(editor.submit(EditRequest("m", PNG, "0", prompt)))
    assert isinstance(outcome, Edited)
    assert outcome.image == inverted(PNG)
    assert [len(one.requests) for one in editors] == [1 - who, who]


@pytest.mark.parametrize("made", [True, False])
def test_what_can_be_read_is_checked(made: bool):
    judge = Judging(made=made)
    reply = AnyPromptChecker(judge).check_step(b"before", b"after", KNOWN)
    assert parse_checklist(reply.raw_text).made is made
    assert judge.scored == [(b"before", b"after", KNOWN)]


@pytest.mark.parametrize(("after", "made"), [(b"after", True), (b"before", False)])
def test_of_the_rest_any_change_passes_and_none_does_not(after: bytes, made: bool):
    judge = Judging(made=not made)
    reply = AnyPromptChecker(judge).check_step(b"before", after, OTHER)
    seen = parse_checklist(reply.raw_text)
    assert (seen.made, seen.right_item_changed, seen.prompt_applies) == (made, made, True)
    assert judge.scored == []
    assert next(iter(json.loads(reply.raw_text))) == "reasoning"
