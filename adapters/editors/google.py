"""Image editing with Gemini: one `generateContent`, the image inside the answer.

API: https://ai.google.dev/gemini-api/docs/image-generation (google-genai 3.6.1, read 2026-11)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from adapters.base import EditorContext
from adapters.providers.calls import Call, Declined
from adapters.providers.google import GoogleApi, api, finish_reason, safety_settings, usage
from adapters.providers.inline import whole
from adapters.providers.mime import sniff
from domain.edits import Edited, EditOutcome, EditRequest, NoImage, Refused, Ticket
from domain.model_cards import ModelCard

if TYPE_CHECKING:
    from google.genai import types


class GoogleEditSettings(BaseModel):
    """What is sent besides prompt, image and seed; what is None is not sent."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    aspect_ratio: str | None = Field(default=None, pattern=r"^\d{1,2}:\d{1,2}$")
    """None follows the input."""
    image_size: Literal["512", "1K", "2K", "4K"] | None = None
    """Gemini 3 and later."""
    thinking_level: Literal["minimal", "low", "medium", "high"] | None = None
    """Gemini 3.1 and later."""
    safety: Literal[
        "OFF", "BLOCK_NONE", "BLOCK_ONLY_HIGH", "BLOCK_MEDIUM_AND_ABOVE", "BLOCK_LOW_AND_ABOVE"
    ] = "OFF"
    """Threshold of the configurable filters; those for images cannot be turned off."""


class GoogleEditor:
    """Asks a Gemini image model for one image."""

    def __init__(self, card: ModelCard, settings: GoogleEditSettings, service: GoogleApi) -> None:
        self._card = card
        self._settings = settings
        self._service = service

    @classmethod
    def build(cls, card: ModelCard, context: EditorContext) -> GoogleEditor:
        """An editor for a card; raises pydantic's ValidationError for settings it does not know."""
        return cls(card, GoogleEditSettings.model_validate(card.settings), api(context.standin_url))

    def submit(self, request: EditRequest) -> Ticket:
        """Ask once and hold the outcome."""
        from google.genai import types

        contents = [
            types.Part.from_bytes(data=request.image, mime_type=sniff(request.image)),
            types.Part.from_text(text=request.prompt),
        ]
        try:
            answer = self._service.generate(self._card.endpoint, contents, self._config(request))
        except Declined as declined:
            return Ticket(outcome=Refused(declined.reason, declined.served_version, details=declined.details))
        return Ticket(outcome=_outcome(answer, self._service.paid_call(self._card.endpoint)))

    def collect(self, ticket: Ticket) -> EditOutcome:
        """The outcome that `submit` found."""
        return ticket.held_outcome()

    def check(self) -> None:
        """Look the model up."""
        self._service.look_up(self._card.endpoint)

    def _config(self, request: EditRequest) -> types.GenerateContentConfig:
        from google.genai import types

        chosen = self._settings
        image = types.ImageConfig(aspect_ratio=chosen.aspect_ratio, image_size=chosen.image_size)
        level = chosen.thinking_level and types.ThinkingLevel(chosen.thinking_level.upper())
        return types.GenerateContentConfig(
            response_modalities=["IMAGE"],
            seed=request.seed if self._card.seed_support else None,
            image_config=image if chosen.aspect_ratio or chosen.image_size else None,
            thinking_config=types.ThinkingConfig(thinking_level=level) if level else None,
            safety_settings=safety_settings(chosen.safety),
        )


def _outcome(answer: types.GenerateContentResponse, call: Call) -> EditOutcome:
    """The last image that is not a thought; without one, what was said instead."""
    finish = finish_reason(answer)
    details = _details(answer, finish)
    image = _last_image(answer)
    if image is None:
        text = " ".join(part.text for part in _parts(answer) if part.text and not part.thought)
        reason = finish if finish and finish != "STOP" else "text_only" if text else "empty_answer"
        said = f"{reason}: {call.quote(text)}" if text else reason
        return NoImage(said, answer.model_version, details=details)
    details["declared_mime"] = image.mime_type
    return Edited(whole(image.data or b"", call), answer.model_version, details=details)


def _parts(answer: types.GenerateContentResponse) -> list[types.Part]:
    candidates = answer.candidates or []
    content = candidates[0].content if candidates else None
    return (content.parts or []) if content is not None else []


def _last_image(answer: types.GenerateContentResponse) -> types.Blob | None:
    found = [part.inline_data for part in _parts(answer) if part.inline_data and not part.thought]
    return found[-1] if found else None


def _details(answer: types.GenerateContentResponse, finish: str | None) -> dict[str, JsonValue]:
    return {"finish_reason": finish, "response_id": answer.response_id, "usage": usage(answer)}
