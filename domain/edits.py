"""One edit as values: what an editor is asked, and the ways it can end.

These carry pixels, so they live inside one task and are never parameters or results of one;
what is stored is in `domain.records`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import JsonValue

from domain.errors import FatalError


@dataclass(frozen=True)
class EditRequest:
    """One instruction for one image."""

    model: str
    """Id of the model card."""
    image: bytes
    """The input, exactly as stored."""
    image_sha256: str
    prompt: str
    """The only text sent to the model."""
    seed: int | None = None
    """Sent where the model accepts one; None where it does not."""
    attempt: int = 1


@dataclass(frozen=True)
class Edited:
    """The model returned an image."""

    image: bytes
    """Exactly the bytes that came back."""
    served_version: str | None = None
    cost_usd: float | None = None
    details: Mapping[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    """What the provider said besides the image; for `procedural` its ground truth."""


@dataclass(frozen=True)
class Refused:
    """The model declined, by policy."""

    reason: str
    served_version: str | None = None
    cost_usd: float | None = None
    details: Mapping[str, JsonValue] = field(default_factory=dict[str, JsonValue])


@dataclass(frozen=True)
class NoImage:
    """The model answered, but with no image."""

    reason: str
    served_version: str | None = None
    cost_usd: float | None = None
    details: Mapping[str, JsonValue] = field(default_factory=dict[str, JsonValue])


EditOutcome = Edited | Refused | NoImage


@dataclass(frozen=True)
class Ticket:
    """What `submit` gives back: a provider's job id to collect later, or the outcome itself."""

    provider_id: str | None = None
    outcome: EditOutcome | None = None

    def held_outcome(self) -> EditOutcome:
        """The outcome of a provider that answers at once."""
        if self.outcome is None:
            raise FatalError(f"the ticket {self.provider_id!r} holds no outcome and must be collected")
        return self.outcome


@dataclass(frozen=True)
class JudgeReply:
    """One answer of a judge or state tracker, unparsed."""

    raw_text: str
    served_version: str | None = None
    finish_reason: str | None = None
    cost_usd: float | None = None
    usage: Mapping[str, int] = field(default_factory=dict[str, int])
    """Tokens that the provider counted, by what it calls them."""
