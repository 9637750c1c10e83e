"""What was sent with the latest paid calls, for those who test what is sent."""

from __future__ import annotations

from collections import deque

from starlette.requests import Request

from adapters.standin.faults import Draw
from adapters.standin.wire import Json, Object, sniff
from adapters.standin.work import Call
from domain import keys

_KEPT = 200
_SECRET = ("authorization", "x-goog-api-key", "cookie")


class Recent:
    """The latest calls, without their pictures and keys."""

    def __init__(self) -> None:
        self._calls: deque[Object] = deque(maxlen=_KEPT)

    def note(self, request: Request, call: Call, fate: Draw) -> None:
        """Add a call and what was drawn for it."""
        pictures: list[Json] = [
            {"sha256": keys.sha256(picture), "content_type": sniff(picture)} for picture in call.pictures
        ]
        self._calls.append(
            {
                "provider": call.provider,
                "kind": call.kind,
                "path": request.url.path,
                "model": call.model,
                "prompt": call.prompt,
                "seed": call.seed,
                "settings": call.settings,
                "pictures": pictures,
                "headers": {name: value for name, value in request.headers.items() if name not in _SECRET},
                "identity": call.identity,
                "fault": fate.fault,
            }
        )

    def of(self, provider: str | None) -> list[Json]:
        """Those of one provider, or all, the oldest first."""
        return [call for call in self._calls if provider in (None, call["provider"])]

    def clear(self) -> None:
        """Forget them."""
        self._calls.clear()
