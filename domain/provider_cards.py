"""Provider cards: where a key comes from and how many calls an account may have in flight."""

from __future__ import annotations

import datetime

from pydantic import BaseModel, ConfigDict, Field

from domain.photos import Slug


class ProviderCard(BaseModel):
    """One service that edits or judges for money."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str = Field(pattern=Slug)
    name: str
    key_variable: str
    """The environment variable that holds the key."""
    account: str
    """Where a person sees keys, balance and limits."""
    in_flight: int = Field(ge=1)
    """Calls at the same time, over all processes that share a Prefect server."""
    per_minute: float | None = Field(default=None, gt=0)
    """Calls begun in a minute; None where only those in flight are limited."""
    checked_on: datetime.date
    source: str
    note: str = ""
