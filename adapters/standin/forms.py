"""How a provider says what every provider has to say."""

from __future__ import annotations

from typing import Protocol

from starlette.responses import Response

from adapters.standin.faults import Faults


class Forms(Protocol):
    """The answers of one provider to calls that it does not accept."""

    def rate_limited(self, faults: Faults) -> Response:
        """Too many requests."""
        ...

    def server_error(self) -> Response:
        """An internal error."""
        ...

    def quota(self) -> Response:
        """No money or no daily quota left."""
        ...

    def bad_key(self) -> Response:
        """The key is unknown."""
        ...

    def missing_model(self, model: str) -> Response:
        """No such model."""
        ...
