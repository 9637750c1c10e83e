"""Image editing with Seedream on BytePlus ModelArk: one `POST /images/generations`, the image inside.

API: https://docs.byteplus.com/en/docs/ModelArk/1541523 (byteplus-python-sdk-v2 3.0.63, read 2026-11)
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from adapters.base import EditorContext
from adapters.providers.byteplus import BytePlusApi, api, classify
from adapters.providers.calls import Call, Declined
from adapters.providers.inline import whole_base64
from adapters.providers.mime import data_uri
from domain.edits import Edited, EditOutcome, EditRequest, NoImage, Refused, Ticket
from domain.model_cards import ModelCard


class BytePlusEditSettings(BaseModel):
    """What is sent besides prompt, image and seed; what is None is not sent."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    size: str = Field(pattern=r"^([124]K|\d+x\d+)$")
    """`2K` keeps the input's shape; or exact width and height."""
    guidance_scale: float | None = Field(default=None, gt=0)
    watermark: bool = False
    output_format: Literal["png", "jpeg"] | None = None
    sequential_image_generation: Literal["disabled"] | None = None
    """For models that can answer with a series; others refuse the field, whatever its value."""


class BytePlusEditor:
    """Asks a Seedream model for one image."""

    def __init__(self, card: ModelCard, settings: BytePlusEditSettings, service: BytePlusApi) -> None:
        self._card = card
        self._settings = settings
        self._service = service

    @classmethod
    def build(cls, card: ModelCard, context: EditorContext) -> BytePlusEditor:
        """An editor for a card; raises pydantic's ValidationError for settings it does not know."""
        return cls(card, BytePlusEditSettings.model_validate(card.settings), api(context.standin_url))

    def submit(self, request: EditRequest) -> Ticket:
        """Ask once and hold the outcome."""
        try:
            with self._service.calling(self._card.endpoint, paid=True) as call:
                answer = self._service.client.images.generate(
                    model=self._card.endpoint,
                    prompt=request.prompt,
                    image=data_uri(request.image),
                    seed=request.seed if self._card.seed_support else None,
                    response_format="b64_json",
                    **self._settings.model_dump(exclude_none=True),
                )
            return Ticket(outcome=_outcome(answer, call))
        except Declined as declined:
            return Ticket(outcome=Refused(declined.reason, details=declined.details))

    def collect(self, ticket: Ticket) -> EditOutcome:
        """The outcome that `submit` found."""
        return ticket.held_outcome()

    def check(self) -> None:
        """There is no free look-up; that the key is set was seen when the editor was built."""


def _outcome(answer: Any, call: Call) -> EditOutcome:
    usage = getattr(answer, "usage", None)
    details: dict[str, JsonValue] = {
        "usage": usage.model_dump(mode="json", exclude_none=True) if usage is not None else None
    }
    version = getattr(answer, "model", None) or None
    if not getattr(answer, "data", None):
        return NoImage("empty_answer: the list of images is empty", version, details=details)
    first = answer.data[0]
    error: Any = getattr(first, "error", None)  # a failure of one image inside an answer of 200
    if error:  # unknown to the SDK's type, which keeps it as it came
        raise classify(str(error["code"]), str(error["message"]), call)
    details["size"] = getattr(first, "size", None)
    return Edited(whole_base64(getattr(first, "b64_json", None) or "", call), version, details=details)
