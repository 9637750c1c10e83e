"""`facedrift rank SUITE`: models ranked by the votes of people."""

from __future__ import annotations

from typing import Annotated

import typer

Store = Annotated[
    str, typer.Option(help="Where everything is kept; default: $FACEDRIFT_STORE or .facedrift/store.")
]


def rank(
    suite: Annotated[str, typer.Argument(help="Id of a suite that is voted on, or path of its file.")],
    run: Annotated[str | None, typer.Option(help="Id of a run of it; default: the newest.")] = None,
    store: Store = "",
    debug: Annotated[bool, typer.Option("--debug", help="Show Prefect's log and whole tracebacks.")] = False,
) -> None:
    """Rank a suite's models by the votes that were collected, publish that and show it."""
    from flows import cli

    cli.set_up(store, debug)
    from flows import ranking_terminal

    with cli.errors(debug):
        ranking_terminal.rank(suite, run)


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command()(rank)
