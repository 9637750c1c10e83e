"""Folders of everyday photos with their table, and colour profiles of cameras."""

from __future__ import annotations

import csv
import struct
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

ADOBE_RGB = ((0.60974, 0.31111, 0.01947), (0.20528, 0.62567, 0.06087), (0.14919, 0.06322, 0.74457))
DISPLAY_P3 = ((0.51512, 0.24120, -0.00105), (0.29198, 0.69225, 0.04189), (0.15710, 0.06657, 0.78407))
SRGB = ((0.43607, 0.22249, 0.01392), (0.38515, 0.71687, 0.09708), (0.14307, 0.06061, 0.71410))
"""X, Y and Z of red, green and blue, adapted to D50 (as their profiles hold them)."""
GAMMA = 563 / 256
"""Of Adobe RGB (1998), and close to that of Display P3."""


def table(root: Path, rows: Sequence[dict[str, str]], name: str = "photos.csv") -> Path:
    """Write a table; a row that states no author, source or licence gets one."""
    usual = {"author": "Ann", "source": "https://example.org/1", "licence": "CC-BY-4.0"}
    held = [usual | row for row in rows]
    columns = list(dict.fromkeys(column for row in held for column in row))
    root.mkdir(parents=True, exist_ok=True)
    with (root / name).open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, restval="")
        writer.writeheader()
        writer.writerows(held)
    return root


def rgb_profile(primaries: tuple[tuple[float, float, float], ...]) -> bytes:
    """A minimal version 2 profile of a display (ICC.1:2001-04)."""

    def xyz(values: Sequence[float]) -> bytes:
        return b"XYZ \0\0\0\0" + b"".join(struct.pack(">i", round(value * 65536)) for value in values)

    curve = b"curv\0\0\0\0" + struct.pack(">IH", 1, round(GAMMA * 256)) + b"\0\0"
    text = b"made here\0"
    name = b"desc\0\0\0\0" + struct.pack(">I", len(text)) + text + bytes(78)
    tags = {b"desc": name + bytes(-len(name) % 4), b"wtpt": xyz((0.9642, 1.0, 0.8249))}
    tags |= {
        channel + b"XYZ": xyz(values) for channel, values in zip((b"r", b"g", b"b"), primaries, strict=True)
    }
    tags |= {channel + b"TRC": curve for channel in (b"r", b"g", b"b")}
    offset, entries, body = 132 + 12 * len(tags), b"", b""
    for tag, content in tags.items():
        entries += tag + struct.pack(">II", offset + len(body), len(content))
        body += content
    head = struct.pack(">I4sI4s4s4s", offset + len(body), b"\0\0\0\0", 0x02100000, b"mntr", b"RGB ", b"XYZ ")
    head += bytes(12) + b"acsp" + bytes(28) + struct.pack(">iii", 63190, 65536, 54061) + bytes(48)
    return head + struct.pack(">I", len(tags)) + entries + body


def as_srgb(
    colour: Sequence[int], primaries: tuple[tuple[float, float, float], ...]
) -> npt.NDArray[np.float64]:
    """What a colour of such a profile is in sRGB, by the definitions."""
    light = np.array(primaries).T @ (np.array(colour) / 255) ** GAMMA
    linear = np.linalg.solve(np.array(SRGB).T, light)
    curved = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * np.abs(linear) ** (1 / 2.4) - 0.055)
    return 255 * curved
