"""`facedrift matches make`, `facedrift votes export | collect | simulate | list`: what people judge and say.

`collect` ends with 0 when everything was read and 3 when rows were rejected or a service is not done; what
was good is kept all the same, and collecting again adds only what is new.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

matches = typer.Typer(no_args_is_help=True, help="Matches: which models' faces voters compare.")
votes = typer.Typer(no_args_is_help=True, help="Votes: give matches out, collect what people said.")

INCOMPLETE = 3
SuiteName = Annotated[str, typer.Argument(help="Id of a suite that was run, or path of its file.")]
Run = Annotated[str | None, typer.Option(help="Id of a run; default: the newest of the suite.")]
Store = Annotated[
    str, typer.Option(help="Where everything is kept; default: $FACEDRIFT_STORE or .facedrift/store.")
]
Debug = Annotated[bool, typer.Option("--debug", help="Show Prefect's log and whole tracebacks.")]


@matches.callback()
def of_matches() -> None:
    """Keep `make` a command of its own."""


@matches.command()
def make(suite: SuiteName, run: Run = None, store: Store = "", debug: Debug = False) -> None:
    """Cut out the last faces of a run's chains and make its matches; made once for a run."""
    from flows import cli

    cli.set_up(store, debug)
    from flows import vote_terminal

    with cli.errors(debug):
        if not vote_terminal.make(suite, run):
            raise typer.Exit(INCOMPLETE)


@votes.command()
def export(
    suite: SuiteName,
    to: Annotated[Path, typer.Option(help="Folder for the file and the pictures.")],
    kind: Annotated[str, typer.Option("--as", help="csv, jsonl, parquet or label-studio.")] = "csv",
    mirrored: Annotated[
        bool, typer.Option("--mirrored", help="For Label Studio: each match twice, with its sides changed.")
    ] = False,
    base_url: Annotated[
        str | None,
        typer.Option(help="In front of the pictures' names, as the tool fetches them; default: images/."),
    ] = None,
    run: Run = None,
    store: Store = "",
    debug: Debug = False,
) -> None:
    """Write matches for a voting tool, with their pictures; who made which face is not in it."""
    from flows import cli

    cli.set_up(store, debug)
    from flows import vote_terminal

    with cli.errors(debug):
        vote_terminal.export(suite, to, kind, run=run, mirrored=mirrored, base_url=base_url)


@votes.command()
def collect(  # noqa: PLR0913, PLR0917 - one parameter an option
    suite: SuiteName,
    source: Annotated[str, typer.Option("--from", help="page, file, label_studio or rapidata.")],
    path: Annotated[Path | None, typer.Option(help="The file, where the source is one.")] = None,
    run: Run = None,
    price_usd: Annotated[
        float | None, typer.Option(min=0, help="Of one response of a service, before it is given a job.")
    ] = None,
    responses: Annotated[
        int | None,
        typer.Option(min=1, max=99, help="Of a service, to each match; default: the suite's."),
    ] = None,
    audience: Annotated[str, typer.Option(help="Of a service: who is asked.")] = "global",
    job: Annotated[str | None, typer.Option(help="A job that the service already has.")] = None,
    max_cost_usd: Annotated[
        float | None, typer.Option(min=0, help="Give no job that costs more than this.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask before a paid job.")] = False,
    store: Store = "",
    debug: Debug = False,
) -> None:
    """Collect votes on a run's matches: each once, bad rows with their line and reason."""
    from flows import cli

    cli.set_up(store, debug)
    from flows import vote_terminal

    with cli.errors(debug):
        request = vote_terminal.request(
            {
                "suite": suite,
                "source": source,
                "path": str(path) if path else None,
                "run": run,
                "price_usd": price_usd,
                "responses": responses,
                "audience": audience,
                "job": job,
                "max_cost_usd": max_cost_usd,
                "approve_above_usd": None,
            }
        )
        if not vote_terminal.collect(request, ask=not yes):
            raise typer.Exit(INCOMPLETE)


@votes.command()
def simulate(  # noqa: PLR0913, PLR0917 - one parameter an option
    suite: SuiteName,
    strength: Annotated[
        list[str] | None,
        typer.Option(help="model=number, natural log of odds; default: 10 × its mean FSS at the last step."),
    ] = None,
    votes_per_match: Annotated[int, typer.Option("--votes", help="On every match.")] = 3,
    annotators: Annotated[int, typer.Option(help="Voters.")] = 60,
    errors: Annotated[
        float, typer.Option(help="Share of careful voters' votes that are a random side.")
    ] = 0.02,
    gold_errors: Annotated[
        float, typer.Option(help="Share of their votes that are wrong where the answer is known.")
    ] = 0.01,
    random_share: Annotated[float, typer.Option("--random", help="Share of voters who guess.")] = 0.05,
    left_share: Annotated[float, typer.Option("--left", help="Share of voters who always say left.")] = 0.0,
    ties: Annotated[
        float, typer.Option(help="How often a tie, in units of a side at equal strengths.")
    ] = 0.2,
    photo_sd: Annotated[float, typer.Option(help="Deviation of what a photo adds to a strength.")] = 0.0,
    seed: Annotated[int, typer.Option(help="The same seed gives the same votes.")] = 0,
    run: Run = None,
    store: Store = "",
    debug: Debug = False,
) -> None:
    """Have a made-up crowd vote, for rehearsals: its votes are marked simulated, and its truth is stated."""
    from flows import cli

    cli.set_up(store, debug)
    from flows import vote_terminal

    with cli.errors(debug):
        crowd = {
            "annotators": annotators,
            "random_share": random_share,
            "left_share": left_share,
            "errors": errors,
            "gold_errors": gold_errors,
            "ties": ties,
            "photo_sd": photo_sd,
            "votes_per_match": votes_per_match,
            "seed": seed,
        }
        vote_terminal.simulate(suite, run, strength or [], crowd)


@votes.command("list")
def list_collections(suite: SuiteName, store: Store = "", debug: Debug = False) -> None:
    """List what was collected for a suite, from where and when, and how many votes there are."""
    from flows import cli

    cli.set_up(store, debug)
    from flows import vote_terminal

    with cli.errors(debug):
        vote_terminal.show_collections(suite)
