"""A suite of prompt chains with a scripted model and a scripted checker."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from fakes import checkers, editors

FIRST = ("Make the coat red.", "Add a cup on the table.", "Open the door.")
SECOND = ("Make the scarf blue.", "Remove the bag.", "Move the chair to the left.")


@dataclass(frozen=True)
class Places:
    """Where the fakes write down their calls, and where a test tells them what to do."""

    edits: Path
    script: Path
    checks: Path
    checker_script: Path

    def tell(self, edits: dict[str, object] | None = None, checks: dict[str, str] | None = None) -> None:
        """What model and checker do from now on, by prompt."""
        self.script.write_text(json.dumps(edits or {}))
        self.checker_script.write_text(json.dumps(checks or {}))

    def counts(self) -> tuple[int, int]:
        """Calls of the model and of the checker so far."""
        return len(editors.calls(self.edits)), len(editors.calls(self.checks))


def write_suite(
    folder: Path,
    *,
    provider: str = "checking",
    price_usd: float = 0.0,
    attempts: int = 3,
    photos: tuple[str, str] = ("astronaut", "group-1"),
) -> Places:
    """A suite `tiny` with a chain for each of two photos, and one for a photo that is nowhere."""
    checkers.register()
    log, script = editors.write_definitions(folder, sessions=["hair_001"], price_usd=price_usd)
    checks = checkers.write_card(folder, provider=provider)
    (folder / "chains").mkdir(exist_ok=True)
    lines = ["id: tiny-chains", "version: 1", "source: tests", "chains:"]
    for photo, prompts in ((photos[0], FIRST), (photos[1], SECOND), ("nobody", FIRST)):
        lines += [
            f"  - photo: {photo}",
            "    edit_target: mixed",
            "    people: '1'",
            "    face_size: large",
            "    photo_shape: square",
            "    view: close",
            f"    prompts: {json.dumps(prompts)}",
        ]
    (folder / "chains" / "tiny-chains.yaml").write_text("\n".join(lines) + "\n")
    (folder / "suites" / "tiny.yaml").write_text(
        f"""
id: tiny
title: tiny
dataset: {{id: packaged-faces, adapter: packaged_faces}}
chain_set: tiny-chains
models: [scripted]
embedder: {{pack: mobile}}
judges: {{consistency: null, tracker: null}}
steps: {{attempts: {attempts}, checker: checker, max_aspect_change: 0.01}}
votes: {{min_completion: 0.5}}
"""
    )
    return Places(log, script, checks, folder / "checker.json")
