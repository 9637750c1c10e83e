"""Everyday prompts in a person's own words, so that a rehearsal of them gets past its first step.

The local editor and checker know the sentences of `adapters.imaging.scene_prompts` only. Any other prompt is
taken for carried out once the picture came back in other bytes: a rehearsal is there to show that the calls,
attempts, checks and tables work, and its numbers mean nothing.
"""

from __future__ import annotations

import json

from adapters.base import Editor, StepChecker
from adapters.imaging.scene_prompts import read_wish
from domain.edits import EditOutcome, EditRequest, JudgeReply, Ticket
from domain.judging import CHECKLIST_FIELDS, MAY_NOT_APPLY

VERSION = "any-prompt-1"


class AnyPromptEditor:
    """One editor for the prompts that can be read, another one for the rest; both answer at once."""

    def __init__(self, knowing: Editor, other: Editor) -> None:
        self._knowing = knowing
        self._other = other

    def submit(self, request: EditRequest) -> Ticket:
        """Have it edited by whoever knows what to do."""
        return (self._other if read_wish(request.prompt) is None else self._knowing).submit(request)

    def collect(self, ticket: Ticket) -> EditOutcome:
        """The outcome that `submit` found."""
        return ticket.held_outcome()


class AnyPromptChecker:
    """Has the prompts that can be read checked, and lets the rest pass where anything changed."""

    def __init__(self, knowing: StepChecker) -> None:
        self._knowing = knowing

    def check_step(self, before: bytes, after: bytes, prompt: str) -> JudgeReply:
        """The filled checklist as JSON text, valid for `domain.judging.parse_checklist`.

        Raises:
            PhotoError: an image does not decode.
        """
        if read_wish(prompt) is not None:
            return self._knowing.check_step(before, after, prompt)
        answer = dict[str, object].fromkeys(CHECKLIST_FIELDS, True) | dict.fromkeys(MAY_NOT_APPLY)
        answer |= {"wrong_details": 0, "major_unrequested_changes": []}
        if before == after:
            answer |= {"right_item_changed": False, "item_visibly_changed": False}
        why = "Not looked at: this prompt is in none of the sentences that are known here."
        return JudgeReply(json.dumps({"reasoning": why, **answer}), VERSION, "stop", 0.0)
