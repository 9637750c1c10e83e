"""Writers of sessions and chains that say what a test has set down, and then what the local ones say."""

from __future__ import annotations

import json

from adapters.judges.local_chains import chain_for
from adapters.judges.local_writer import phrase
from domain import keys
from domain.chain_drafting import DraftWanted
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


def drafted(prompts: object, edit_target: str = "mixed") -> str:
    """A draft of the right shape."""
    return json.dumps({"reasoning": "so", "edit_target": edit_target, "prompts": prompts})


class SaysDrafter:
    """Keeps every question; answers by the photo's sha256 from `instead`, one after another."""

    def __init__(self, **instead: list[str]) -> None:
        self.asked: list[tuple[str, DraftWanted]] = []
        self.instead = instead

    def draft_chain(self, image: bytes, wanted: DraftWanted) -> JudgeReply:
        sha = keys.sha256(image)
        self.asked.append((sha, wanted))
        target, prompts = chain_for(sha, wanted.steps)
        coming = self.instead.get(sha)
        return JudgeReply(coming.pop(0) if coming else drafted(prompts, target), "says-1", "stop", 0.25)
