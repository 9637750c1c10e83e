"""Whether the model that answered is the one that was asked."""

from __future__ import annotations

import re
from collections.abc import Iterable

_SNAPSHOT = re.compile(r"[-@:](\d{3,8}|\d{4}-\d{2}-\d{2}|[0-9a-f]{40,64}|hidden)")


def is_the_model(served: str, endpoint: str, served_as: Iterable[str] = ()) -> bool:
    """True for the endpoint itself, a dated or numbered snapshot of it, or a name that the card allows.

    `gemini-2.5-flash-001` and `gpt-6-2026-10-01` are snapshots; `gemini-2.5-flash-lite` is another model.
    """
    return any(
        served == name or (served.startswith(name) and _SNAPSHOT.fullmatch(served[len(name) :]) is not None)
        for name in (endpoint, *served_as)
    )
