"""Image editing with models hosted by fal: submit to the queue, collect, download.

API: https://fal.ai/docs/model-apis/model-endpoints/queue (fal-client 1.0.3, read 2026-11)
"""

from __future__ import annotations

from collections.abc import Set
from datetime import datetime
from typing import Any, Literal, cast

from pydantic import JsonValue

from adapters.base import EditorContext
from adapters.providers.calls import Declined, Imageless
from adapters.providers.fal import FalApi, FalResult, api
from adapters.providers.jobs import JobSettings
from domain.edits import Edited, EditOutcome, EditRequest, NoImage, Refused, Ticket
from domain.errors import DefinitionError
from domain.model_cards import ModelCard


class FalEditSettings(JobSettings):
    """How an endpoint is asked, and where its result holds the image."""

    result_field: Literal["images", "image"] = "images"


class FalEditor:
    """One job a request; the job's id is the ticket."""

    def __init__(self, card: ModelCard, settings: FalEditSettings, service: FalApi) -> None:
        self._card = card
        self._settings = settings
        self._service = service

    @classmethod
    def build(cls, card: ModelCard, context: EditorContext) -> FalEditor:
        """An editor for a card; raises pydantic's ValidationError for settings it does not know."""
        if "/" not in card.endpoint:
            raise DefinitionError(
                f"{card.endpoint!r} is no endpoint of fal; it has the form owner/name", field="endpoint"
            )
        return cls(card, FalEditSettings.model_validate(card.settings), api(context.standin_url))

    def submit(self, request: EditRequest) -> Ticket:
        """Queue one job."""
        return Ticket(provider_id=self._service.submit(self._card.endpoint, self._payload(request)))

    def collect(self, ticket: Ticket) -> EditOutcome:
        """Wait for the job and download its image."""
        if ticket.provider_id is None:
            return ticket.held_outcome()
        details: dict[str, JsonValue] = {"request_id": ticket.provider_id}
        try:
            result = self._service.result(self._card.endpoint, ticket.provider_id)
        except Declined as declined:
            return Refused(declined.reason, self._card.endpoint, details=details | declined.details)
        except Imageless as ended:
            return NoImage(ended.reason, self._card.endpoint, details=details)
        return self._outcome(result, details)

    def find(self, request: EditRequest, since: datetime, over: Set[str] = frozenset()) -> Ticket | None:
        """The job of fal's own history that was given this request, or None."""
        payload = self._payload(request)
        for request_id, asked in self._service.history(self._card.endpoint, since):
            if request_id not in over and self._settings.is_same(asked, payload, self._picture):
                return Ticket(provider_id=request_id)
        return None

    def check(self) -> None:
        """Look key and endpoint up."""
        self._service.look_up(self._card.endpoint)

    def _payload(self, request: EditRequest) -> dict[str, JsonValue]:
        return self._settings.payload(request, with_seed=self._card.seed_support)

    def _picture(self, url: str) -> bytes:
        return self._service.picture(self._card.endpoint, url)

    def _outcome(self, result: FalResult, details: dict[str, JsonValue]) -> EditOutcome:
        output = result.output
        details["seed"] = output.get("seed")
        if result.billable_units is not None:
            details["billable_units"] = result.billable_units
        flagged = output.get("has_nsfw_concepts")
        if isinstance(flagged, list) and flagged and flagged[0] is True:
            return Refused(
                "has_nsfw_concepts: the safety checker hid it", self._card.endpoint, details=details
            )
        file = _file(output.get(self._settings.result_field))
        url = file.get("url")
        if not isinstance(url, str) or not url:
            return NoImage("empty_result: the result names no image", self._card.endpoint, details=details)
        details |= {name: file.get(name) for name in ("width", "height")}
        details["declared_mime"] = file.get("content_type")
        return Edited(self._service.image(self._card.endpoint, url), self._card.endpoint, details=details)


def _file(value: object) -> dict[str, Any]:
    """The first file of a result that holds one, or a list of them."""
    files = cast(list[object], value) if isinstance(value, list) else [value]
    first = files[0] if files else None
    return cast(dict[str, Any], first) if isinstance(first, dict) else {}
