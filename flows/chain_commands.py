"""`facedrift chains draft | lint`: sets of prompt chains, drafted ones and one's own.

`lint` ends with 0 when nothing is wrong, 1 when the file, the table or the dataset cannot be read, and 3 when
there are errors, or with `--strict` warnings.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    no_args_is_help=True, help="Prompt chains of the identity-drift suite: have them drafted, check a file."
)

INCOMPLETE = 3
Store = Annotated[
    str, typer.Option(help="Where everything is kept; default: $FACEDRIFT_STORE or .facedrift/store.")
]
Debug = Annotated[bool, typer.Option("--debug", help="Show Prefect's log and whole tracebacks.")]


@app.command()
def draft(  # noqa: PLR0913, PLR0917 - one parameter an option
    set_id: Annotated[str, typer.Argument(help="Id of the new set.")],
    dataset: Annotated[str, typer.Option(help="Id of a prepared dataset, or the key of its manifest.")],
    writer: Annotated[
        str, typer.Option(help="A judge card that can draft (`facedrift judges`), or local: fixed prompts.")
    ],
    out: Annotated[
        Path | None,
        typer.Option(help="File or folder for the set; default: chains/ of $FACEDRIFT_DEFINITIONS."),
    ] = None,
    photos: Annotated[str, typer.Option(help="Only these photos, separated by commas.")] = "",
    steps: Annotated[int, typer.Option(min=1, max=20, help="Prompts of each chain.")] = 5,
    max_asks: Annotated[int, typer.Option(min=1, max=20, help="Answers asked for one photo.")] = 3,
    max_cost_usd: Annotated[
        float | None, typer.Option(min=0, help="Ask for no answer that would bring the cost above this.")
    ] = None,
    store: Store = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what is missing and what it costs; ask nobody.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask before paid calls.")] = False,
    rehearse: Annotated[
        bool, typer.Option("--rehearse", help="Ask a local stand-in; no key, no cost.")
    ] = False,
    debug: Debug = False,
) -> None:
    """Have a model look at each photo and draft its chain; a person edits the file that comes out."""
    from flows import cli

    cli.set_up(store, debug)
    from flows import chain_terminal as terminal

    only = [name.strip() for name in photos.split(",") if name.strip()]
    with cli.errors(debug):
        request = terminal.request(
            {
                "set_id": set_id,
                "dataset": dataset,
                "writer": writer,
                "photos": only,
                "steps": steps,
                "max_asks": max_asks,
                "max_cost_usd": max_cost_usd,
                "rehearse": rehearse,
                "dry_run": dry_run,
            }
        )
        if not terminal.draft(request, out, ask=not yes):
            raise typer.Exit(INCOMPLETE)


@app.command()
def lint(
    file: Annotated[Path, typer.Argument(help="A YAML file of prompt chains.")],
    photos: Annotated[
        str, typer.Option(help="Hold them against these photos: a CSV, or the id or key of a dataset.")
    ] = "",
    strict: Annotated[bool, typer.Option("--strict", help="Let warnings fail too.")] = False,
    store: Store = "",
) -> None:
    """Say everything that is wrong with a file of prompt chains, each with its line."""
    from flows import cli

    cli.set_up(store, False)
    from tasks.chain_files import lint_chain_file

    with cli.errors(False):
        found, median = lint_chain_file(file, photos)
    for one in found:
        typer.echo(one.text(str(file)))
    errors = sum(one.is_error for one in found)
    words = "" if median is None else f"; the median prompt has {median:g} words"
    typer.echo(f"{errors} errors, {len(found) - errors} warnings{words}", err=True)
    if found if strict else errors:
        raise typer.Exit(INCOMPLETE)
