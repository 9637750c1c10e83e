from __future__ import annotations

import pytest

from adapters.imaging.file_kinds import foreign_kind


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"\0\0\0\x18ftypheic\0\0\0\0", "HEIC"),
        (b"\0\0\0\x18ftypmif1\0\0\0\0", "HEIC"),
        (b"\0\0\0\x0cjP  \r\n", "JPEG 2000"),
        (b"\xff\x0a\xfa", "JPEG XL"),
        (b"8BPS\0\1", "Photoshop"),
        (b"%!PS-Adobe-3.0 EPSF", "PostScript"),
        (b"P6\n8 8 255\n", "Netpbm"),
        (b"II*\0\x10\0\0\0CR\2\0", "camera's raw"),
        (b"II\x1a\0\0\0HEAPCCDR", "camera's raw"),
        (b"\0\0\0\x18ftypcrx ", "camera's raw"),
        (b"IIRO\x08\0\0\0", "camera's raw"),
        (b"IIU\0\x18\0\0\0", "camera's raw"),
        (b"FOVb\0\0", "camera's raw"),
        (b"\0MRM\0\0", "camera's raw"),
        (b"FUJIFILMCCD-RAW 0201", "camera's raw"),
        (b"<svg width='3'/>", "SVG"),
        (b"\xef\xbb\xbf<?xml version='1.0'?><!-- made -->\n<svg>", "SVG"),
        (b"<?xml version='1.0'?><!DOCTYPE svg PUBLIC '-//W3C'><svg>", "SVG"),
    ],
)
def test_kinds_that_are_named(data: bytes, kind: str):
    assert kind in (foreign_kind(data) or "")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\0",
        b"a note",
        b"<html><svg></svg></html>",
        b"%PDF-1.7",
        b"\0\0\0\x18ftypavif",
        b"P6",
        b"PK\3\4",
    ],
)
def test_what_is_no_image(data: bytes):
    assert foreign_kind(data) is None
