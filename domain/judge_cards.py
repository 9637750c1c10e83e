"""Judge cards: who scores edits, tracks states and checks steps, with every setting and prompt version."""

from __future__ import annotations

import datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from domain.photos import Slug

JudgeRole = Literal["consistency", "state", "step_check", "sessions", "chains"]
"""`sessions`: who phrases the instructions of new sessions; `chains`: who drafts prompt chains."""


class JudgeCard(BaseModel):
    """One judge as it is reached. Ids of models are configuration: a judge that retires is another card."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    id: str = Field(pattern=Slug)
    name: str
    lab: str
    provider: str
    """Name of the judge adapter that reaches it."""
    endpoint: str
    """What the provider calls it; another served version is flagged."""
    served_as: tuple[str, ...] = ()
    """Other names under which the very same model answers."""
    settings: dict[str, JsonValue] = Field(default_factory=dict)
    """Every setting sent."""
    prompts: dict[JudgeRole, str] = Field(default_factory=dict[JudgeRole, str])
    """Of each role that it can take, the prompt: a file `definitions/prompts/<name>.md`."""
    price_usd: float = Field(ge=0)
    """Of one call, about."""
    typical_latency_s: float = Field(ge=0)
    released: datetime.date
    retired_on: datetime.date | None = None
    checked_on: datetime.date
    source: str
    note: str = ""
