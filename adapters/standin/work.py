"""The work itself: what a job makes, by the local adapters that the stand-in was given."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from adapters.base import ChainWriter, Editor, Judge, SessionWriter, StateTracker, StepChecker
from adapters.standin import images
from adapters.standin.faults import FaultName, Kind, Provider
from adapters.standin.wire import Object
from domain import keys
from domain.edits import Edited, EditRequest, Refused
from domain.errors import PhotoError

Ending = Literal["image", "refused", "no_image", "unreadable", "crashed"]
"""How an edit ends."""


@dataclass(frozen=True)
class StandinWork:
    """Who edits and judges behind every provider."""

    editor: Editor
    judge: Judge
    tracker: StateTracker
    writer: SessionWriter | None = None
    drafter: ChainWriter | None = None
    checker: StepChecker | None = None


@dataclass(frozen=True)
class Call:
    """One edit or judgement as it was asked for, whatever the protocol."""

    provider: Provider
    kind: Kind
    model: str
    """Model or endpoint id."""
    pictures: tuple[bytes, ...]
    prompt: str
    seed: int | None
    settings: Object
    """Everything else that was sent with it."""

    @cached_property
    def identity(self) -> str:
        """The same for the same request."""
        return keys.fingerprint(
            {
                "provider": self.provider,
                "kind": self.kind,
                "model": self.model,
                "pictures": [keys.sha256(picture) for picture in self.pictures],
                "prompt": self.prompt,
                "seed": self.seed,
                "settings": self.settings,
            }
        )


@dataclass(frozen=True)
class Made:
    """What came of an edit."""

    kind: Ending
    data: bytes = b""
    """The picture as it is sent; black for a refusal."""
    content_type: str = ""
    """As declared."""
    reason: str = ""
    width: int = 0
    height: int = 0


@dataclass(frozen=True)
class Order:
    """One edit to be made."""

    model: str
    picture: bytes
    prompt: str
    seed: int | None
    fault: FaultName | None
    asked_format: str = ""
    """The output format that was asked for; empty leaves it to the editor."""


def make(work: StandinWork, order: Order) -> Made:
    """Carry out one edit, with its fault; a picture that cannot be read is an outcome like others."""
    try:
        if order.fault == "refused":
            return _refused(order, "policy")
        if order.fault == "no_image":
            return Made("no_image", reason="no image was generated")
        request = EditRequest(
            order.model, order.picture, keys.sha256(order.picture), order.prompt, order.seed
        )
        ticket = work.editor.submit(request)
        outcome = ticket.outcome or work.editor.collect(ticket)
        if isinstance(outcome, Refused):
            return _refused(order, outcome.reason)
        if not isinstance(outcome, Edited):
            return Made("no_image", reason=outcome.reason)
        data, declared = images.as_sent(outcome.image, order.fault, order.asked_format)
        return Made("image", data, declared, "", *images.size_of(data))
    except PhotoError as error:
        return Made("unreadable", reason=f"{error.reason}: {error}")


def _refused(order: Order, reason: str) -> Made:
    data = images.black(order.picture)
    return Made("refused", data, "image/png", reason, *images.size_of(data))
