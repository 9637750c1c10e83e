"""Naming, by their first bytes, kinds of image file that are not decoded here."""

from __future__ import annotations

import re

_STARTS = {
    b"\0\0\1\0": "an icon (ICO)",
    b"\0\0\0\x0cjP  ": "JPEG 2000",
    b"\xff\x4f\xff\x51": "JPEG 2000",
    b"\0\0\0\x0cJXL ": "JPEG XL",
    b"\xff\x0a": "JPEG XL",
    b"8BPS": "a Photoshop file",
    b"%!PS": "PostScript",
    b"gimp xcf": "a GIMP file",
    b"\x76\x2f\x31\x01": "OpenEXR",
    b"SIMPLE  =": "FITS",
    b"qoif": "QOI",
}
_RAW = re.compile(
    rb"FUJIFILMCCD-RAW|II\*\0....CR\x02|II\x1a\0\0\0HEAP|....ftypcrx |"
    rb"IIRO|IIRS|MMOR|IIU\0|FOVb|\0MRM|ARRI",
    re.DOTALL,
)
"""Cameras' raw files: Fujifilm, Canon (CR2, CRW, CR3), Olympus, Panasonic, Sigma, Minolta, ARRI.

Those that are TIFF files by their first bytes (DNG, NEF, ARW) are opened as TIFF.
"""
_HEIC = {b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1"}
_NETPBM = re.compile(rb"P[1-7f]\s")
_SVG = re.compile(rb"\s*(<\?xml[^>]*>\s*)?(<!--.*?-->\s*)?(<!DOCTYPE svg[^>]*>\s*)?<svg[\s>]", re.DOTALL)


def foreign_kind(data: bytes) -> str | None:
    """What an image file is that cannot be decoded here, such as `HEIC`; None when it is no image at all."""
    head = data[:4096]
    if head[4:8] == b"ftyp" and head[8:12] in _HEIC:
        return "HEIC is not supported (it needs a patented codec)"
    if _SVG.match(head.removeprefix(b"\xef\xbb\xbf")):
        return "SVG is a drawing, not a photo"
    kinds = [kind for start, kind in _STARTS.items() if head.startswith(start)]
    if _RAW.match(head):
        kinds.append("a camera's raw file")
    if _NETPBM.match(head):
        kinds.append("Netpbm")
    return f"{kinds[0]} is not supported" if kinds else None
