"""A step checker that sees what `fakes.editors` wrote into its pictures, and stumbles on request."""

from __future__ import annotations

import io
import json
from pathlib import Path

from PIL import Image
from pydantic import BaseModel, ConfigDict

from adapters.base import JudgeContext
from domain import keys
from domain.edits import JudgeReply
from domain.errors import FatalError, TransientError
from domain.judge_cards import JudgeCard


class CheckerSettings(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    log: Path
    """Each call appends one line."""
    script: Path
    """JSON of prompt → how the checker stumbles; read at each call."""


class ScriptedChecker:
    def __init__(self, settings: CheckerSettings) -> None:
        self._settings = settings

    @classmethod
    def build(cls, card: JudgeCard, context: JudgeContext) -> ScriptedChecker:
        assert card.prompts.keys() == context.prompts.keys()
        return cls(CheckerSettings.model_validate(card.settings))

    def check_step(self, before: bytes, after: bytes, prompt: str) -> JudgeReply:
        line = f"{keys.sha256(before)[:16]} {keys.sha256(after)[:16]} {prompt}\n"
        with self._settings.log.open("ab", buffering=0) as log:
            log.write(line.encode())
        script = json.loads(self._settings.script.read_text()) if self._settings.script.exists() else {}
        todo = script.get(prompt, "")
        if todo == "unparsable":
            return JudgeReply("Yes, made.", "checker-1", "stop", 0.02)
        if todo == "fatal":
            raise FatalError("the key CHECKER_KEY is wrong", provider="checking")
        if todo.startswith("transient"):
            calls = self._settings.log.read_text().splitlines().count(line.strip())
            if calls <= int(todo.partition(":")[2]):
                raise TransientError("busy", provider="checking", retry_after_s=0.01)
        how = Image.open(io.BytesIO(after)).info.get("how", "")
        return JudgeReply(answer(made="not_made" not in how), "checker-1", "stop", 0.02)


class NoChecker:
    """A judge without `check_step`."""

    @classmethod
    def build(cls, card: JudgeCard, context: JudgeContext) -> NoChecker:
        return cls()


def answer(*, made: bool) -> str:
    """A checklist as a checker writes it."""
    return json.dumps(
        {
            "prompt_applies": True,
            "right_item_changed": made,
            "item_visibly_changed": made,
            "right_place": None,
            "old_place_empty": None,
            "wrong_details": 0,
            "details_right": None,
            "framing_kept": True,
            "major_unrequested_changes": [],
        }
    )


def register() -> None:
    from adapters import registry

    registry.JUDGES["checking"] = "fakes.checkers:ScriptedChecker"
    registry.JUDGES["not-checking"] = "fakes.checkers:NoChecker"


def write_card(
    folder: Path, *, provider: str = "checking", price_usd: float = 0.02, name: str = "checker"
) -> Path:
    """The card of a checker; returns its call log, beside which its script is."""
    log = folder / f"{name}.log"
    (folder / "judges").mkdir(parents=True, exist_ok=True)
    (folder / "providers").mkdir(exist_ok=True)
    (folder / "judges" / f"{name}.yaml").write_text(
        f"""
id: {name}
name: Scripted checker
lab: tests
provider: {provider}
endpoint: checker-1
settings: {{log: {log}, script: {folder / "checker.json"}}}
prompts: {{step_check: step-check.v1}}
price_usd: {price_usd}
typical_latency_s: 0.01
released: 2026-01-01
checked_on: 2026-01-01
source: tests
"""
    )
    (folder / "providers" / f"{provider}.yaml").write_text(
        f"""
id: {provider}
name: Checking
key_variable: CHECKER_KEY
account: none
in_flight: 8
checked_on: 2026-01-01
source: tests
"""
    )
    return log
