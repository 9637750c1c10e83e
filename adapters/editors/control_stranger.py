"""A control: answers with a photo of somebody else. Identity is lost at the first step and stays lost."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Sequence

from PIL import Image, ImageOps
from PIL.PngImagePlugin import PngInfo

from adapters.base import EditorContext, NoSettings
from adapters.imaging.decode import decode_rgb
from domain.edits import Edited, EditOutcome, EditRequest, NoImage, Ticket
from domain.model_cards import ModelCard
from domain.photos import Photo

VERSION = "1"


class StrangerEditor:
    """Swaps a base photo for another subject's, fitted to the same size; leaves any other image alone.

    What it returns is no base photo, so the second step finds nothing to swap and a chain never comes
    back to the person it began with.
    """

    def __init__(self, pool: Sequence[Photo], load_photo: Callable[[Photo], bytes]) -> None:
        self._pool = {photo.image_sha256: photo for photo in pool}
        self._load = load_photo

    @classmethod
    def build(cls, card: ModelCard, context: EditorContext) -> StrangerEditor:
        """An editor for a card."""
        NoSettings.model_validate(card.settings)
        return cls(context.pool, context.load_photo)

    def submit(self, request: EditRequest) -> Ticket:
        """Another subject's photo."""
        return Ticket(outcome=self._swap(request))

    def collect(self, ticket: Ticket) -> EditOutcome:
        """The outcome that the ticket holds."""
        return ticket.held_outcome()

    def _swap(self, request: EditRequest) -> EditOutcome:
        own = self._pool.get(request.image_sha256)
        if own is None:
            return Edited(image=request.image, served_version=VERSION)
        others = [photo for photo in self._pool.values() if photo.subject != own.subject]
        if not others:
            return NoImage(reason="no_stranger: the dataset has one subject only", served_version=VERSION)
        stranger = min(others, key=lambda photo: _order(own, photo))
        height, width = decode_rgb(request.image).shape[:2]
        photo = Image.fromarray(decode_rgb(self._load(stranger)))
        fitted = ImageOps.fit(photo, (width, height), Image.Resampling.LANCZOS, centering=(0.5, 0.4))
        # The note keeps the output apart from base photos: fitted to its own size, a PNG would equal one.
        note = PngInfo()
        note.add_text("Comment", f"in place of {own.image_sha256}")
        out = io.BytesIO()
        fitted.save(out, "PNG", pnginfo=note)
        return Edited(image=out.getvalue(), served_version=VERSION, details={"stranger": stranger.subject})


def _order(own: Photo, other: Photo) -> bytes:
    return hashlib.sha256(f"{own.image_sha256}{other.image_sha256}".encode()).digest()
