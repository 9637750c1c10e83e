"""Image editing with Grok Imagine: one gRPC call, the image inside the answer. It takes no seed.

API: https://docs.x.ai/docs/guides/image-generations (xai-sdk 1.21.0, read 2026-11)
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, JsonValue

from adapters.base import EditorContext
from adapters.providers.calls import Call, Declined
from adapters.providers.inline import whole_base64
from adapters.providers.mime import data_uri
from adapters.providers.xai import XaiApi, api
from domain.edits import Edited, EditOutcome, EditRequest, NoImage, Refused, Ticket
from domain.model_cards import ModelCard


class XaiEditSettings(BaseModel):
    """What is sent besides prompt and image; what is None is not sent."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    resolution: Literal["1k", "2k"] = "1k"
    quality: Literal["low", "medium"] | None = None
    """For grok-imagine-image-2.0."""


class XaiEditor:
    """Asks a Grok Imagine model for one image."""

    def __init__(self, card: ModelCard, settings: XaiEditSettings, service: XaiApi) -> None:
        self._card = card
        self._settings = settings
        self._service = service

    @classmethod
    def build(cls, card: ModelCard, context: EditorContext) -> XaiEditor:
        """An editor for a card; raises pydantic's ValidationError for settings it does not know."""
        return cls(card, XaiEditSettings.model_validate(card.settings), api(context.standin_url))

    def submit(self, request: EditRequest) -> Ticket:
        """Ask once and hold the outcome."""
        try:
            with self._service.calling(self._card.endpoint, paid=True) as call:
                answer: Any = self._service.client.image.sample(
                    request.prompt,
                    self._card.endpoint,
                    image_url=data_uri(request.image),
                    image_format="base64",
                    resolution=self._settings.resolution,
                    quality=self._settings.quality,
                )
        except Declined as declined:
            return Ticket(outcome=Refused(declined.reason, details=declined.details))
        return Ticket(outcome=_outcome(answer, call))

    def collect(self, ticket: Ticket) -> EditOutcome:
        """The outcome that `submit` found."""
        return ticket.held_outcome()

    def check(self) -> None:
        """Look the model up."""
        self._service.look_up(self._card.endpoint)


def _outcome(answer: Any, call: Call) -> EditOutcome:
    proto = answer.proto
    version, cost_usd = proto.model or None, answer.cost_usd
    usage = proto.usage
    details: dict[str, JsonValue] = {
        "usage": {"prompt_tokens": usage.prompt_tokens, "total_tokens": usage.total_tokens}
    }
    if not answer.respect_moderation:
        return Refused("respect_moderation: the result was withheld", version, cost_usd, details)
    encoded: str = proto.images[0].base64
    if not encoded:
        return NoImage("empty_answer: the answer holds no image", version, cost_usd, details)
    declared = encoded.partition(";")[0].removeprefix("data:") if encoded.startswith("data:") else None
    details["declared_mime"] = declared
    return Edited(whole_base64(encoded, call), version, cost_usd, details)
