"""What the providers with a queue have in common: free-form arguments, and a history to look through."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Self, cast

from pydantic import BaseModel, ConfigDict, Field, JsonValue, model_validator

from adapters.imaging.decode import inspect_image
from adapters.providers.mime import data_uri
from domain.edits import EditRequest
from domain.errors import AmbiguousError

_OURS = ("prompt", "seed")


class JobSettings(BaseModel):
    """How an endpoint is asked for one edit."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    arguments: dict[str, JsonValue]
    """Sent verbatim."""
    image_field: str = Field(min_length=1)
    """The argument that takes the input image, such as `image_url`."""
    image_is_list: bool = False
    size_field: str | None = None
    """The argument that takes the output's width and height, where leaving it out would change the shape."""

    @model_validator(mode="after")
    def _fields_are_distinct(self) -> Self:
        filled = {*_OURS, self.image_field, self.size_field or self.image_field}
        doubled = sorted(filled & set(self.arguments))
        if doubled:
            raise ValueError(
                f"arguments must not hold {', '.join(doubled)}: they are filled in for each edit"
            )
        if self.arguments.get("sync_mode"):
            raise ValueError("arguments.sync_mode must not be true: its results cannot be found again")
        return self

    def payload(self, request: EditRequest, *, with_seed: bool) -> dict[str, JsonValue]:
        """The arguments of one edit."""
        image: JsonValue = data_uri(request.image)
        filled: dict[str, JsonValue] = {
            **self.arguments,
            "prompt": request.prompt,
            self.image_field: [image] if self.image_is_list else image,
        }
        if with_seed and request.seed is not None:
            filled["seed"] = request.seed
        if self.size_field is not None:
            facts = inspect_image(request.image)
            filled[self.size_field] = {"width": facts.width, "height": facts.height}
        return filled

    def is_same(self, asked: object, payload: Mapping[str, JsonValue], fetch: Callable[[str], bytes]) -> bool:
        """Whether a job in a provider's history was given this payload.

        Arguments that the provider filled in itself do not count; a picture that it moved to an address of
        its own is fetched and compared by content.
        """
        if not isinstance(asked, dict):
            return False
        given = cast(dict[str, Any], asked)
        if any(given.get(name) != value for name, value in payload.items() if name != self.image_field):
            return False
        theirs, ours = _pictures(given.get(self.image_field)), _pictures(payload[self.image_field])
        return len(theirs) == len(ours) and all(
            one == other or _same_content(one, other, fetch) for one, other in zip(theirs, ours, strict=True)
        )


def moment(text: object) -> datetime | None:
    """A provider's time stamp; without a zone it is UTC."""
    if not isinstance(text, str):
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def whole_second(since: datetime) -> datetime:
    """No later than `since`: providers cut their time stamps short."""
    return since.astimezone(UTC).replace(microsecond=0)


def _pictures(value: object) -> list[str]:
    values = cast(list[object], value) if isinstance(value, list) else [value]
    return [str(each) for each in values]


def _same_content(theirs: str, ours: str, fetch: Callable[[str], bytes]) -> bool:
    if not theirs.startswith(("http://", "https://")):
        return False
    try:
        return hashlib.sha256(fetch(theirs)).digest() == hashlib.sha256(fetch(ours)).digest()
    except AmbiguousError:  # no longer at its address, so it cannot be shown to be the same
        return False
