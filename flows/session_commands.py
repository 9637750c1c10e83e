"""`facedrift sessions write | lint | list`: sets of sessions, new ones and one's own.

`lint` ends with 0 when nothing is wrong, 1 when the file or the taxonomy cannot be read, and 3 when there are
errors, or with `--strict` warnings.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    no_args_is_help=True, help="Sets of sessions: write new ones, check one's own, list what is there."
)

INCOMPLETE = 3
Count = Annotated[int | None, typer.Option(min=0, max=999, help="Sessions of this test set.")]
Store = Annotated[
    str, typer.Option(help="Where everything is kept; default: $FACEDRIFT_STORE or .facedrift/store.")
]
Debug = Annotated[bool, typer.Option("--debug", help="Show Prefect's log and whole tracebacks.")]


@app.command()
def write(  # noqa: PLR0913, PLR0917 - one parameter an option
    set_id: Annotated[str, typer.Argument(help="Id of the new set.")],
    writer: Annotated[
        str, typer.Option(help="A judge card that can write (`facedrift judges`), or local: fixed phrases.")
    ],
    out: Annotated[
        Path | None,
        typer.Option(help="File or folder for the set; default: sessions/ of $FACEDRIFT_DEFINITIONS."),
    ] = None,
    taxonomy: Annotated[str, typer.Option(help="Id of the taxonomy.")] = "face-edit-attributes",
    accessories: Count = None,
    hair: Count = None,
    multi_axis: Count = None,
    pose: Count = None,
    steps: Annotated[int, typer.Option(min=1, max=20, help="Instructions of each session.")] = 4,
    seed: Annotated[int, typer.Option(min=0, help="Another seed draws other attributes.")] = 0,
    max_asks: Annotated[int, typer.Option(min=1, max=20, help="Answers asked for one instruction.")] = 3,
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
    """Write new sessions: attributes are drawn, a language model words each step."""
    from flows import cli

    cli.set_up(store, debug)
    from flows import session_terminal as terminal

    counts = {"accessories": accessories, "hair": hair, "multi_axis": multi_axis, "pose": pose}
    given = {name: count for name, count in counts.items() if count}
    with cli.errors(debug):
        request = terminal.request(
            {
                "set_id": set_id,
                "writer": writer,
                "taxonomy": taxonomy,
                **({"test_sets": given} if any(count is not None for count in counts.values()) else {}),
                "steps": steps,
                "seed": seed,
                "max_asks": max_asks,
                "max_cost_usd": max_cost_usd,
                "rehearse": rehearse,
                "dry_run": dry_run,
            }
        )
        if not terminal.write(request, out, ask=not yes):
            raise typer.Exit(INCOMPLETE)


@app.command()
def lint(
    file: Annotated[Path, typer.Argument(help="A YAML file of sessions.")],
    taxonomy: Annotated[str, typer.Option(help="Check against this taxonomy, not the one it names.")] = "",
    strict: Annotated[bool, typer.Option("--strict", help="Let warnings fail too.")] = False,
) -> None:
    """Say everything that is wrong with a file of sessions, each with its line."""
    from flows import cli
    from tasks.session_files import lint_file

    with cli.errors(False):
        found = lint_file(file, taxonomy)
    for one in found:
        typer.echo(one.text(str(file)))
    errors = sum(one.is_error for one in found)
    typer.echo(f"{errors} errors, {len(found) - errors} warnings", err=True)
    if found if strict else errors:
        raise typer.Exit(INCOMPLETE)


@app.command("list")
def list_sets(store: Store = "", debug: Debug = False) -> None:
    """List the sets of sessions: packaged, one's own, and those written into the store."""
    from flows import cli

    cli.set_up(store, debug)
    from flows import session_terminal

    with cli.errors(debug):
        session_terminal.show_sets()
