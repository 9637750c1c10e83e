"""`facedrift publish SUITE --out DIR`: a suite's page as a plain folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer()


@app.command()
def publish(
    suite: Annotated[str, typer.Argument(help="Id of a suite that was run.")],
    out: Annotated[Path, typer.Option(help="Folder for the page and all it shows; what is there stays.")],
    snapshot: Annotated[
        str | None, typer.Option(help="The beginning of a snapshot's name, in place of the suite's board.")
    ] = None,
    store: Annotated[
        str, typer.Option(help="Where everything is kept; default: $FACEDRIFT_STORE or .facedrift/store.")
    ] = "",
    debug: Annotated[bool, typer.Option("--debug", help="Show Prefect's log and whole tracebacks.")] = False,
) -> None:
    """Copy a suite's page into a folder that opens as it is and can be put on any static host."""
    from flows import cli

    cli.set_up(store, debug)
    from flows.consoles import out as console
    from tasks.definitions import load_suite
    from tasks.site_copy import copy_site
    from tasks.site_licences import licence_warning

    with cli.errors(debug):
        name = load_suite(suite).id
        page, written = copy_site(name, snapshot, out)
        console.print(f"{written} files written" if written else "nothing new", highlight=False)
        warning = licence_warning(name, snapshot)
        if warning:
            console.print(warning, markup=False, highlight=False, soft_wrap=True)
        console.print(f"open: {page}", markup=False, highlight=False, soft_wrap=True)
