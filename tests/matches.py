"""Matches between made-up models, with small pictures that can be told apart."""

from __future__ import annotations

import io
from collections.abc import Mapping

from PIL import Image, ImageDraw

from domain import keys
from domain.matches import Match, Side

SECRET_NAMES = ("acme-super-edit", "zeta-ultra-edit")
"""Of the models; no browser may ever see them."""


def face(text: str, colour: str, side: int = 96) -> bytes:
    """A picture with a word on it."""
    image = Image.new("RGB", (side, side), colour)
    draw = ImageDraw.Draw(image)
    draw.ellipse((side * 0.2, side * 0.15, side * 0.8, side * 0.9), fill="#e8c39e")
    draw.text((4, 4), text, fill="white")
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


def some_matches(count: int, gold: Mapping[int, Side] | None = None) -> tuple[list[Match], dict[str, bytes]]:
    """Matches on as many photos, and their pictures by sha256: a is green, b is blue, the original grey."""
    pictures: dict[str, bytes] = {}

    def kept(data: bytes) -> str:
        pictures[keys.sha256(data)] = data
        return keys.sha256(data)

    matches = [
        Match(
            photo=f"p{number}",
            session="s",
            model_a=SECRET_NAMES[0],
            model_b=SECRET_NAMES[1],
            original_sha256=kept(face(f"o{number}", "#666666")),
            crop_a_sha256=kept(face(f"a{number}", "#117733")),
            crop_b_sha256=kept(face(f"b{number}", "#114499")),
            gold=(gold or {}).get(number),
        )
        for number in range(count)
    ]
    return matches, pictures
