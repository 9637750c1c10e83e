"""Model cards: what is known of an editing model under test, and every setting sent to it."""

from __future__ import annotations

import datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from domain.photos import Slug

ShapePolicy = Literal["same", "any"]
"""`same`: the output has the input's width and height; `any`: the model chooses."""


class ModelCard(BaseModel):
    """One editing model as it is reached."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    id: str = Field(pattern=Slug)
    name: str
    lab: str
    provider: str
    """Name of the editor adapter that reaches it."""
    endpoint: str
    """What the provider calls it."""
    served_as: tuple[str, ...] = ()
    """Names under which it says that it answered, besides the endpoint; any other is flagged."""
    settings: dict[str, JsonValue] = Field(default_factory=dict)
    """Every setting sent; changing one changes the settings fingerprint and so every result."""
    price_usd: float = Field(ge=0)
    """Of one edit."""
    typical_latency_s: float = Field(ge=0)
    """Of one edit; only used to estimate how long a run takes."""
    seed_support: bool
    shape_policy: ShapePolicy
    is_control: bool = False
    """A control measures the measuring; it is shown apart from the models."""
    released: datetime.date
    retired_on: datetime.date | None = None
    checked_on: datetime.date
    source: str
    note: str = ""
