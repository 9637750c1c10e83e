"""An editor that does what its card says: counts its calls, and fails, refuses or stalls on request."""

from __future__ import annotations

import io
import json
import os
import time
from pathlib import Path

from PIL import Image, PngImagePlugin
from pydantic import BaseModel, ConfigDict

from adapters.base import EditorContext
from domain import keys
from domain.edits import Edited, EditOutcome, EditRequest, NoImage, Refused, Ticket
from domain.errors import FatalError, QuotaError, TransientError
from domain.model_cards import ModelCard


class ScriptedSettings(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    log: Path
    """Each call appends one line."""
    script: Path
    """JSON of prompt → what to do, or a list of that by attempt; read at each call, so that a test can
    change it between runs."""
    delay_s: float = 0.0


class ScriptedEditor:
    def __init__(self, settings: ScriptedSettings) -> None:
        self._settings = settings

    @classmethod
    def build(cls, card: ModelCard, context: EditorContext) -> ScriptedEditor:
        return cls(ScriptedSettings.model_validate(card.settings))

    def submit(self, request: EditRequest) -> Ticket:
        call = {"input": request.image_sha256, "prompt": request.prompt, "seed": request.seed}
        call |= {"attempt": request.attempt} if request.attempt > 1 else {}
        line = keys.canonical_json(call).decode() + "\n"
        with self._settings.log.open("ab", buffering=0) as log:
            log.write(line.encode())
        time.sleep(self._settings.delay_s)
        return Ticket(outcome=self._act(request, line))

    def collect(self, ticket: Ticket) -> EditOutcome:
        return ticket.held_outcome()

    def _todo(self, request: EditRequest) -> str:
        script = json.loads(self._settings.script.read_text()) if self._settings.script.exists() else {}
        todo = script.get(request.prompt, "edit")
        return todo[request.attempt - 1] if isinstance(todo, list) else todo

    def _act(self, request: EditRequest, line: str) -> EditOutcome:
        todo = self._todo(request)
        if todo == "refuse":
            return Refused(reason="policy: scripted")
        if todo == "no_image":
            return NoImage(reason="text_only: scripted")
        if todo == "fatal":
            raise FatalError("the key SCRIPTED_KEY is wrong", provider="scripted")
        if todo == "quota":
            raise QuotaError("the balance of scripted is used up; top it up", provider="scripted")
        if todo == "crash":
            raise KeyError("a bug in the adapter")
        if todo == "truncated":
            return Edited(image=edited(request)[:-40])
        if todo == "empty":
            return Edited(image=b"")
        if todo.startswith("transient"):
            calls = self._settings.log.read_text().splitlines().count(line.strip())
            if calls <= int(todo.partition(":")[2]):
                raise TransientError("busy", provider="scripted", retry_after_s=0.01)
        return Edited(image=edited(request, todo if todo in PECULIAR else ""), cost_usd=0.01)


PECULIAR = ("not_made", "off_shape")


def edited(request: EditRequest, how: str = "") -> bytes:
    """The same picture in other bytes, that depend on the prompt and the attempt; or a wider one."""
    info = PngImagePlugin.PngInfo()
    info.add_text("prompt", request.prompt)
    if how or request.attempt > 1:
        info.add_text("how", f"{how} {request.attempt}")  # for `fakes.checkers`
    picture = Image.open(io.BytesIO(request.image)).convert("RGB")
    if how == "off_shape":
        picture = picture.resize((picture.width * 2, picture.height))
    out = io.BytesIO()
    picture.save(out, "PNG", pnginfo=info, compress_level=1)
    return out.getvalue()


def calls(log: Path) -> list[str]:
    return log.read_text().splitlines() if log.exists() else []


def register() -> None:
    from adapters import registry

    registry.EDITORS["scripted"] = "fakes.editors:ScriptedEditor"


def write_definitions(
    folder: Path,
    *,
    sessions: list[str],
    delay_s: float = 0.0,
    shard_chains: int = 400,
    name: str = "scripted",
    session_set: str = "face-edit-sessions",
    price_usd: float = 0.0,
    suite: str = "tiny",
    others: tuple[str, ...] = (),
) -> tuple[Path, Path]:
    """A suite with one scripted model, and others; returns the call log and the script."""
    log, script = folder / "calls.log", folder / "script.json"
    (folder / "models").mkdir(parents=True, exist_ok=True)
    (folder / "suites").mkdir(exist_ok=True)
    (folder / "models" / f"{name}.yaml").write_text(
        f"""
id: {name}
name: Scripted
lab: tests
provider: scripted
endpoint: scripted/1
settings: {{log: {log}, script: {script}, delay_s: {delay_s}}}
price_usd: {price_usd}
typical_latency_s: 0.01
seed_support: true
shape_policy: same
released: 2026-01-01
checked_on: 2026-01-01
source: tests
"""
    )
    (folder / "providers").mkdir(exist_ok=True)
    (folder / "providers" / "scripted.yaml").write_text(
        """
id: scripted
name: Scripted
key_variable: SCRIPTED_KEY
account: none
in_flight: 64
checked_on: 2026-01-01
source: tests
"""
    )
    (folder / "suites" / f"{suite}.yaml").write_text(
        f"""
id: {suite}
title: {suite}
dataset: {{id: packaged-faces, adapter: packaged_faces}}
taxonomy: face-edit-attributes
session_set: {session_set}
sessions: [{", ".join(sessions)}]
models: [{", ".join((name, *others))}]
embedder: {{pack: mobile}}
shard_chains: {shard_chains}
"""
    )
    return log, script


if __name__ == "__main__":
    register()
    os.environ.setdefault("FACEDRIFT_RETRY_WAITS_S", "[0.01]")
    from flows.cli import main

    main()
