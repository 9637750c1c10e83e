"""Consoles that keep tables whole when nobody looks at them through a terminal."""

from __future__ import annotations

from rich.console import Console

WIDE = 160
"""Columns when the output goes to a file or a pipe."""


def wide_console() -> Console:
    """A console on standard output: as wide as the terminal, or wide enough for any table."""
    console = Console()
    return console if console.is_terminal else Console(width=WIDE)


out = wide_console()
err = Console(stderr=True)
