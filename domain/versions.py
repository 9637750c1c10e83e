"""Versions of a set: the first has the set's name for its id, every later one `<name>-v2` and so on."""

from __future__ import annotations

import re

VERSION_SUFFIX = re.compile(r"-v\d+$")
"""Of the id of a set that is not the first of its name."""


def id_of(name: str, version: int) -> str:
    """The id of one version of a name."""
    return name if version == 1 else f"{name}-v{version}"


def version_of(set_id: str) -> int:
    """The version that an id is of."""
    found = VERSION_SUFFIX.search(set_id)
    return int(found[0].removeprefix("-v")) if found else 1
