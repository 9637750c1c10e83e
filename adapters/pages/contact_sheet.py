"""Contact sheets: many small pictures on a page, each with a few lines; equal input gives equal bytes."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from PIL import Image, ImageDraw, ImageFont

COLUMNS, ROWS = 8, 6
TILE_PX, LINE_PX, MARGIN_PX = 152, 15, 10
MOST_LINES = 4
_INK, _PALE, _FLAG, _PAPER = "#222222", "#777777", "#b34700", "#ffffff"
_FRAMES = {"base": "#0072b2", "reference": "#bbbbbb"}
"""By role, which is also in the text."""


@dataclass(frozen=True)
class Tile:
    """One small picture and what is said of it."""

    picture: bytes | None
    """A JPEG of at most `TILE_PX` a side; None where there is none."""
    role: str
    title: str
    lines: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    """What a person should look at, in another colour."""


def contact_sheets(title: str, tiles: Sequence[Tile]) -> Iterator[bytes]:
    """Pages as JPEG, `COLUMNS` × `ROWS` tiles each, in the order of the tiles."""
    rest, pages = iter(tiles), -(-len(tiles) // (COLUMNS * ROWS))
    for number in range(1, pages + 1):
        yield _page(f"{title} · page {number} of {pages}", tuple(islice(rest, COLUMNS * ROWS)))


def _page(title: str, tiles: Sequence[Tile]) -> bytes:
    step_x, step_y = TILE_PX + MARGIN_PX, TILE_PX + LINE_PX * MOST_LINES + MARGIN_PX
    rows = -(-len(tiles) // COLUMNS)
    size = (COLUMNS * step_x + MARGIN_PX, rows * step_y + MARGIN_PX + 2 * LINE_PX)
    page = Image.new("RGB", size, _PAPER)
    draw = ImageDraw.Draw(page)
    draw.text((MARGIN_PX, MARGIN_PX), _shown(title), _INK, _font(14))
    for place, tile in enumerate(tiles):
        row, column = divmod(place, COLUMNS)
        _draw(page, draw, tile, MARGIN_PX + column * step_x, MARGIN_PX + 2 * LINE_PX + row * step_y)
    out = io.BytesIO()
    page.save(out, "JPEG", quality=85)
    return out.getvalue()


def _draw(page: Image.Image, draw: ImageDraw.ImageDraw, tile: Tile, left: int, top: int) -> None:
    frame = (left, top, left + TILE_PX - 1, top + TILE_PX - 1)
    if tile.picture is not None:
        picture = Image.open(io.BytesIO(tile.picture)).convert("RGB")
        room = TILE_PX - 8
        picture.thumbnail((room, room))
        page.paste(picture, (left + (TILE_PX - picture.width) // 2, top + (TILE_PX - picture.height) // 2))
    draw.rectangle(frame, outline=_FRAMES.get(tile.role, _PALE), width=3)
    lines = [(tile.title, _INK), *((line, _PALE) for line in tile.lines), *((f, _FLAG) for f in tile.flags)]
    for number, (text, colour) in enumerate(lines[:MOST_LINES]):
        draw.text((left, top + TILE_PX + number * LINE_PX), _fitted(draw, text), colour, _font(12))


def _font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(size)


def _fitted(draw: ImageDraw.ImageDraw, text: str) -> str:
    text = _shown(text)
    while text and draw.textlength(text, _font(12)) > TILE_PX:
        text = f"{text[:-2]}…" if text.endswith("…") else f"{text[:-1]}…"
    return text


def _shown(text: str) -> str:
    """What Pillow's own font can draw."""
    return "".join(char if char.isprintable() else " " for char in text)
