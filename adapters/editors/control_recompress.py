"""A control: resamples the picture and saves it as JPEG at each step. Drift without any edit.

Saving alone does not drift: a second JPEG of the same quality is nearly the same file. Hosted models
resample to a working size and back as well, and that loss does add up over a chain.
"""

from __future__ import annotations

import io

from PIL import Image
from pydantic import BaseModel, ConfigDict, Field

from adapters.base import EditorContext
from adapters.imaging.decode import decode_rgb
from domain.edits import Edited, EditOutcome, EditRequest, NoImage, Ticket
from domain.errors import PhotoError
from domain.model_cards import ModelCard

VERSION = "1"


class RecompressSettings(BaseModel):
    """How hard the picture is compressed."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    quality: int = Field(ge=1, le=95)
    """JPEG quality, in Pillow's scale; chroma at half resolution."""
    working_scale: float = Field(gt=0.1, le=1)
    """The picture is reduced to this share of its width and height, and enlarged again."""


class RecompressEditor:
    """Answers every edit with the input, saved once more."""

    def __init__(self, settings: RecompressSettings) -> None:
        self._settings = settings

    @classmethod
    def build(cls, card: ModelCard, context: EditorContext) -> RecompressEditor:
        """An editor for a card."""
        return cls(RecompressSettings.model_validate(card.settings))

    def submit(self, request: EditRequest) -> Ticket:
        """The input as JPEG."""
        try:
            pixels = decode_rgb(request.image)
        except PhotoError as error:
            return Ticket(outcome=NoImage(reason=f"{error.reason}: {error}", served_version=VERSION))
        image = Image.fromarray(pixels)
        scale = self._settings.working_scale
        small = (max(1, round(image.width * scale)), max(1, round(image.height * scale)))
        passed = image.resize(small, Image.Resampling.BILINEAR).resize(image.size, Image.Resampling.BICUBIC)
        out = io.BytesIO()
        passed.save(out, "JPEG", quality=self._settings.quality, subsampling="4:2:0")
        return Ticket(outcome=Edited(image=out.getvalue(), served_version=VERSION))

    def collect(self, ticket: Ticket) -> EditOutcome:
        """The outcome that the ticket holds."""
        return ticket.held_outcome()
