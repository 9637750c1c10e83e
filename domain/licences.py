"""Licences under which a photo may be edited, shown and passed on: CC0, CC BY, CC BY-SA, of any version."""

from __future__ import annotations

import re

SPELLINGS = "CC0-1.0, CC-BY-4.0, CC-BY-SA-3.0 and so on, “CC BY-SA 4.0”, or the address of the licence"
"""What people may write."""
_ZERO = re.compile(r"(cc|creative commons )[ -]?(0|zero)([ -]1\.0)?([ -]universal)?")
_BY = re.compile(
    r"(?:cc|creative commons)[ -](?:by|attribution)(?P<sa>[ -](?:sa|share[ -]?alike))?"
    r"[ -](?P<version>1\.0|2\.0|2\.1|2\.5|3\.0|4\.0)"
    r"(?:[ -](?P<land>[a-z]{2,3}|international|unported|generic))?"
)
_ADDRESS = re.compile(
    r"(?:https?:)?(?://)?(?:www\.)?creativecommons\.org/"
    r"(?:publicdomain/(?P<zero>zero)/1\.0|"
    r"licenses/by(?P<sa>-sa)?/(?P<version>1\.0|2\.0|2\.1|2\.5|3\.0|4\.0)(?:/(?P<land>[a-z]{2,3}))?)"
    r"(?:/(?:deed|legalcode)(?:\.[a-z_-]+)?(?:\.txt)?)?/?"
)
_NO_LAND = (None, "international", "unported", "generic")


def licence_id(text: str) -> str | None:
    """The SPDX identifier of a licence that is allowed, however it is spelled; None of any other.

    A CC BY or CC BY-SA needs its version, without which nobody can say what it asks for.
    """
    plain = " ".join(text.casefold().split())
    if _ZERO.fullmatch(plain):
        return "CC0-1.0"
    found = _ADDRESS.fullmatch(plain)
    if found and found["zero"]:
        return "CC0-1.0"
    found = found or _BY.fullmatch(plain)
    if found is None:
        return None
    land = "" if found["land"] in _NO_LAND else f"-{found['land'].upper()}"
    return f"CC-BY{'-SA' if found['sa'] else ''}-{found['version']}{land}"


def needs_attribution(licence: str) -> bool:
    """Whether a licence, by its SPDX identifier, asks for the author and the source to be named."""
    return licence.startswith("CC-BY-")
