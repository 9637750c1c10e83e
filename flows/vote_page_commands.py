"""`facedrift vote serve | invite | revoke | status`: our own voting page."""

from __future__ import annotations

from typing import Annotated

import typer

app = typer.Typer(
    no_args_is_help=True, help="The voting page: serve it, invite people to it, see how far they are."
)

Suite = Annotated[str, typer.Argument(help="Id of a suite that is voted on, or path of its file.")]
Name = Annotated[str, typer.Option(help="Of the voter: letters, digits and . _ -")]
Store = Annotated[
    str, typer.Option(help="Where everything is kept; default: $FACEDRIFT_STORE or .facedrift/store.")
]
Debug = Annotated[bool, typer.Option("--debug", help="Show whole tracebacks.")]


@app.command()
def serve(
    suite: Suite,
    host: Annotated[str, typer.Option(help="Address of this machine to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one.")] = 8791,
    run: Annotated[str | None, typer.Option(help="Id of a run; default: the newest of the suite.")] = None,
    store: Store = "",
    debug: Debug = False,
) -> None:
    """Serve the page for the matches of a run, until Ctrl-C."""
    from flows import cli

    cli.set_up(store, debug)
    from flows import vote_page_terminal as terminal

    with cli.errors(debug):
        terminal.serve(suite, run, host, port)


@app.command()
def invite(
    suite: Suite,
    name: Name,
    count: Annotated[
        int | None, typer.Option(min=1, max=1000, help="Make so many links, for NAME-1, NAME-2, …")
    ] = None,
    votes: Annotated[int, typer.Option(min=1, max=1_000_000, help="Asked of each voter.")] = 200,
    days: Annotated[float, typer.Option(min=0.001, max=3650, help="How long a link is valid.")] = 30,
    store: Store = "",
    debug: Debug = False,
) -> None:
    """Make links, a line each: name and link. They are shown only now; who has one can vote."""
    from flows import cli

    cli.set_up(store, debug)
    from tasks import vote_page

    with cli.errors(debug):
        for link in vote_page.invite(suite, name, count, votes, days):
            typer.echo(f"{link.name}\t{link.url}")


@app.command()
def revoke(suite: Suite, name: Name, store: Store = "", debug: Debug = False) -> None:
    """End a voter's links at once; the votes stay."""
    from flows import cli

    cli.set_up(store, debug)
    from tasks import vote_page

    with cli.errors(debug):
        ended = vote_page.revoke(suite, name)
        typer.echo(f"{name}: {ended} {'link' if ended == 1 else 'links'} ended")


@app.command()
def status(suite: Suite, store: Store = "", debug: Debug = False) -> None:
    """Show how far each voter is."""
    from flows import cli

    cli.set_up(store, debug)
    from flows import vote_page_terminal as terminal

    with cli.errors(debug):
        terminal.show_status(suite)
