"""Image editing with models hosted by Replicate: make a prediction, collect, download within the hour.

API: https://replicate.com/docs/reference/http (replicate 1.0.7, read 2026-11)
"""

from __future__ import annotations

from collections.abc import Set
from datetime import datetime
from typing import Literal, cast

from pydantic import JsonValue

from adapters.base import EditorContext
from adapters.providers.calls import Declined
from adapters.providers.jobs import JobSettings
from adapters.providers.replicate import Prediction, ReplicateApi, api
from domain.edits import Edited, EditOutcome, EditRequest, NoImage, Refused, Ticket
from domain.errors import DefinitionError
from domain.model_cards import ModelCard


class ReplicateEditSettings(JobSettings):
    """How a model is asked; its output is one address or a list of them."""

    result_field: Literal["output"] = "output"


class ReplicateEditor:
    """One prediction a request; the prediction's id is the ticket."""

    def __init__(self, card: ModelCard, settings: ReplicateEditSettings, service: ReplicateApi) -> None:
        self._card = card
        self._settings = settings
        self._service = service

    @classmethod
    def build(cls, card: ModelCard, context: EditorContext) -> ReplicateEditor:
        """An editor for a card; raises pydantic's ValidationError for settings it does not know."""
        if "/" not in card.endpoint:
            raise DefinitionError(
                f"{card.endpoint!r} is no model of Replicate; it has the form owner/name", field="endpoint"
            )
        return cls(card, ReplicateEditSettings.model_validate(card.settings), api(context.standin_url))

    def submit(self, request: EditRequest) -> Ticket:
        """Make one prediction."""
        return Ticket(provider_id=self._service.submit(self._card.endpoint, self._payload(request)))

    def collect(self, ticket: Ticket) -> EditOutcome:
        """Wait for the prediction and download its image."""
        if ticket.provider_id is None:
            return ticket.held_outcome()
        details: dict[str, JsonValue] = {"prediction_id": ticket.provider_id}
        try:
            prediction = self._service.result(self._card.endpoint, ticket.provider_id)
        except Declined as declined:
            return Refused(declined.reason, declined.served_version, details=details | declined.details)
        details["metrics"] = prediction.metrics
        url = _address(prediction)
        if url is None:
            return NoImage("empty_output: the output holds no image", prediction.version, details=details)
        return Edited(self._service.image(self._card.endpoint, url), prediction.version, details=details)

    def find(self, request: EditRequest, since: datetime, over: Set[str] = frozenset()) -> Ticket | None:
        """The prediction of Replicate's own history that was given this request, or None."""
        payload = self._payload(request)
        for prediction_id, asked in self._service.history(self._card.endpoint, since):
            if prediction_id not in over and self._settings.is_same(asked, payload, self._picture):
                return Ticket(provider_id=prediction_id)
        return None

    def check(self) -> None:
        """Look the model up."""
        self._service.look_up(self._card.endpoint)

    def _payload(self, request: EditRequest) -> dict[str, JsonValue]:
        return self._settings.payload(request, with_seed=self._card.seed_support)

    def _picture(self, url: str) -> bytes:
        return self._service.picture(self._card.endpoint, url)


def _address(prediction: Prediction) -> str | None:
    output: object = prediction.output
    addresses = cast(list[object], output) if isinstance(output, list) else [output]
    first = addresses[0] if addresses else None
    return first if isinstance(first, str) and first else None
