"""A writer of sessions that says what a test has set down, and then what the local one says."""

from __future__ import annotations

import json

from adapters.judges.local_writer import phrase
from domain.edits import JudgeReply
from domain.session_writing import Wanted


def said(instruction: object) -> str:
    """An answer of the right shape."""
    return json.dumps({"reasoning": "so", "instruction": instruction})


class SaysWriter:
    """Keeps every question; answers by attribute from `instead`, one after another."""

    def __init__(self, **instead: list[str]) -> None:
        self.asked: list[Wanted] = []
        self.instead = instead
        self.ends_after: int | None = None
        """After so many answers the process is as good as killed."""

    def write_instruction(self, wanted: Wanted) -> JudgeReply:
        if self.ends_after is not None and len(self.asked) >= self.ends_after:
            raise KeyboardInterrupt
        self.asked.append(wanted)
        coming = self.instead.get(wanted.attribute.name.replace(" ", "_"))
        return JudgeReply(coming.pop(0) if coming else said(phrase(wanted)), "says-1", "stop", 0.25)
