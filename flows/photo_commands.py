"""`facedrift photos prepare`: the photos of an identity-drift suite, from original files.

Ends with 0 when photos were prepared, whatever was left out; 1 when none could be; 3 when some faces could
not be read, and doing it again goes on.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(no_args_is_help=True, help="Everyday photos: crop, resize and screen original files.")

INCOMPLETE = 3


@app.callback()
def photos() -> None:
    """Everyday photos: crop, resize and screen original files."""


@app.command()
def prepare(
    suite: Annotated[str, typer.Argument(help="Id of a suite of everyday photos, or path of a suite file.")],
    images: Annotated[
        str | None, typer.Option(help="A folder with photos.csv, instead of the suite's photos.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Also write the photos, their authors and the contact sheets there.")
    ] = None,
    store: Annotated[
        str, typer.Option(help="Where everything is kept; default: $FACEDRIFT_STORE or .facedrift/store.")
    ] = "",
    debug: Annotated[bool, typer.Option("--debug", help="Show Prefect's log and whole tracebacks.")] = False,
) -> None:
    """Prepare the photos of a suite and say what was left out and why; doing it again changes nothing."""
    from flows import cli

    cli.set_up(store, debug)
    from flows import photo_terminal as terminal

    with cli.errors(debug):
        if not terminal.prepare(suite, images, out):
            raise typer.Exit(INCOMPLETE)
