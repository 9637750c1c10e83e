"""Variables that a command sets for its own process and its children."""

from __future__ import annotations

import os
from collections.abc import Mapping


def set_variables(values: Mapping[str, str], *, keep: bool = False) -> None:
    """Set variables from here on; with `keep`, one that is set already wins."""
    for name, value in values.items():
        if keep:
            os.environ.setdefault(name, value)
        else:
            os.environ[name] = value
