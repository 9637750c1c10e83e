"""Image editing with OpenAI's GPT Image models: one `POST /images/edits`, the image inside the answer.

API: https://platform.openai.com/docs/api-reference/images/createEdit (openai 3.57.0, read 2026-11)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, cast

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from adapters.base import EditorContext
from adapters.providers.calls import Call, Declined
from adapters.providers.inline import whole_base64
from adapters.providers.mime import data_uri, sniff
from adapters.providers.openai import OpenAIApi, api
from domain.edits import Edited, EditOutcome, EditRequest, NoImage, Refused, Ticket
from domain.model_cards import ModelCard

if TYPE_CHECKING:
    from openai.types import ImagesResponse


class OpenAIEditSettings(BaseModel):
    """What is sent besides prompt and image; what is None is not sent."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    size: str = Field(default="auto", pattern=r"^(auto|\d+x\d+)$")
    quality: Literal["low", "medium", "high", "xhigh", "max", "auto"] = "auto"
    input_fidelity: Literal["low", "high"] | None = None
    """For GPT Image 1.5; later models are always at their highest."""
    output_format: Literal["png", "jpeg", "webp"] = "png"
    background: Literal["transparent", "opaque", "auto"] | None = None
    moderation: Literal["low", "auto"] | None = None
    """Known to the JSON form of the endpoint only, so setting it sends that form."""


class OpenAIEditor:
    """Asks a GPT Image model for one image; these models take no seed."""

    def __init__(self, card: ModelCard, settings: OpenAIEditSettings, service: OpenAIApi) -> None:
        self._card = card
        self._settings = settings
        self._service = service

    @classmethod
    def build(cls, card: ModelCard, context: EditorContext) -> OpenAIEditor:
        """An editor for a card; raises pydantic's ValidationError for settings it does not know."""
        return cls(card, OpenAIEditSettings.model_validate(card.settings), api(context.standin_url))

    def submit(self, request: EditRequest) -> Ticket:
        """Ask once and hold the outcome."""
        fields: dict[str, Any] = {
            "model": self._card.endpoint,
            "prompt": request.prompt,
            "n": 1,
            **self._settings.model_dump(exclude_none=True),
        }
        try:
            with self._service.calling(self._card.endpoint, paid=True) as call:
                answer = self._send(fields, request.image)
        except Declined as declined:
            return Ticket(outcome=Refused(declined.reason, details=declined.details))
        return Ticket(outcome=_outcome(answer, call))

    def collect(self, ticket: Ticket) -> EditOutcome:
        """The outcome that `submit` found."""
        return ticket.held_outcome()

    def check(self) -> None:
        """Look the model up."""
        self._service.look_up(self._card.endpoint)

    def _send(self, fields: dict[str, Any], image: bytes) -> Any:
        from openai.types import ImagesResponse

        client = cast(Any, self._service.client)  # typed for streams too
        if "moderation" in fields:
            body = {**fields, "images": [{"image_url": data_uri(image)}]}
            return client.post("/images/edits", body=body, cast_to=ImagesResponse)
        mime = sniff(image)  # without name and type the SDK sends octets, which the service refuses
        name = f"input.{mime.removeprefix('image/')}"
        return client.images.edit(image=(name, image, mime), **fields)


def _outcome(answer: object, call: Call) -> EditOutcome:
    if isinstance(answer, str):  # what the SDK gives for an answer that is no JSON
        raise call.unusable("the answer is no JSON", "not_json")
    response = cast("ImagesResponse", answer)
    served = getattr(response, "model", None)
    version = served if isinstance(served, str) else call.model
    details: dict[str, JsonValue] = {
        "request_id": getattr(response, "_request_id", None),
        "size": response.size,
        "quality": response.quality,
        "declared_mime": response.output_format and f"image/{response.output_format}",
        "usage": response.usage.model_dump(mode="json", exclude_none=True) if response.usage else None,
    }
    if not response.data:
        return NoImage("empty_answer: the list of images is empty", version, details=details)
    return Edited(whole_base64(response.data[0].b64_json or "", call), version, details=details)
