"""The command line: `facedrift run SUITE` and its companions.

Exit codes: 0 all was done; 1 nothing could run (the message says what to mend); 2 wrong usage;
3 the run ended with failed steps, and running it again repeats only those; 130 or 143 it was interrupted or
terminated, and running it again goes on.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from domain.errors import FacedriftError
from flows import (
    chain_commands,
    photo_commands,
    publish_command,
    ranking_commands,
    session_commands,
    vote_commands,
    vote_page_commands,
)
from flows.environment import set_variables

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Measure what text-guided image-editing models do to a person over a chain of edits.",
)

app.add_typer(session_commands.app, name="sessions")
app.add_typer(publish_command.app)
app.add_typer(photo_commands.app, name="photos")
app.add_typer(chain_commands.app, name="chains")
app.add_typer(vote_commands.matches, name="matches")
app.add_typer(vote_commands.votes, name="votes")
ranking_commands.register(app)
app.add_typer(vote_page_commands.app, name="vote")

NOTHING_RAN, INCOMPLETE = 1, 3

PREFECT_DEFAULTS = {
    "PREFECT_LOGGING_LEVEL": "CRITICAL",
    "PREFECT_LOGGING_INTERNAL_LEVEL": "CRITICAL",
    "PREFECT_LOGGING_SERVER_LEVEL": "CRITICAL",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "300",
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_BATCH_SIZE": "50",
    "PREFECT_CLIENT_MAX_RETRIES": "10",
    "PREFECT_SERVER_SERVICES_EVENT_PERSISTER_BATCH_SIZE": "200",
}
"""Defaults for a run without a server of its own; a variable that is set wins."""

SuiteName = Annotated[
    str, typer.Argument(help="Id of a suite (see `facedrift suites`), or path of a suite file.")
]
Models = Annotated[str | None, typer.Option(help="Only these models, separated by commas.")]
Sessions = Annotated[str | None, typer.Option(help="Only these sessions, separated by commas.")]
Images = Annotated[
    list[str] | None,
    typer.Option(
        help="A number: only the first N photos. A folder: its photos instead of the suite's. Or both."
    ),
]
Store = Annotated[
    str,
    typer.Option(
        help="Where everything is kept: a folder or s3://bucket/prefix; default: $FACEDRIFT_STORE or "
        ".facedrift/store."
    ),
]
Concurrency = Annotated[int, typer.Option(min=1, max=256, help="Chains edited at the same time.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show Prefect's log and whole tracebacks.")]


@app.command()
def run(  # noqa: PLR0917 - one parameter an option
    suite: SuiteName,
    models: Models = None,
    images: Images = None,
    sessions: Sessions = None,
    store: Store = "",
    concurrency: Concurrency = 4,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what is missing and what it costs; run nothing.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask before paid calls.")] = False,
    max_cost_usd: Annotated[
        float | None, typer.Option(min=0, help="Make no call that would bring the cost above this.")
    ] = None,
    rehearse: Annotated[
        bool, typer.Option("--rehearse", help="Send every paid call to a local stand-in; no key, no cost.")
    ] = False,
    debug: Debug = False,
) -> None:
    """Run a suite: edit, measure, score, publish. Running it again repeats only what is missing."""
    set_up(store, debug)
    from flows import terminal

    with errors(debug):
        options = terminal.Options(models, sessions, images or [], concurrency, max_cost_usd, rehearse)
        request = terminal.request(suite, options)
        if dry_run:
            terminal.show_plan(request)
            return
        if not terminal.run(request, ask=not yes):
            raise typer.Exit(INCOMPLETE)


@app.command()
def plan(
    suite: SuiteName, models: Models = None, images: Images = None, sessions: Sessions = None,
    store: Store = "", concurrency: Concurrency = 4, debug: Debug = False,
) -> None:  # fmt: skip
    """Say what a run would do: what is missing, what it costs, how long it takes."""
    set_up(store, debug)
    from flows import terminal

    with errors(debug):
        options = terminal.Options(models, sessions, images or [], concurrency)
        terminal.show_plan(terminal.request(suite, options))


@app.command()
def report(suite: SuiteName, store: Store = "", debug: Debug = False) -> None:
    """Score the newest run of a suite again and show its leaderboard."""
    set_up(store, debug)
    from flows import terminal

    with errors(debug):
        terminal.show_report(suite)


@app.command("compare-paper")
def compare_paper(
    suite: Annotated[
        str | None, typer.Argument(help="Suite whose newest report is laid beside the paper's tables.")
    ] = None,
    store: Store = "",
    debug: Debug = False,
) -> None:
    """Our tables beside the printed ones, cell by cell, and what the printed ones say of each other."""
    set_up(store, debug)
    from flows import compare_paper as comparison

    with errors(debug):
        comparison.compare_paper(suite)


@app.command()
def models() -> None:
    """List the model cards."""
    from flows import listings

    with errors(False):
        listings.models()


@app.command()
def judges() -> None:
    """List the judge cards."""
    from flows import listings

    with errors(False):
        listings.judges()


@app.command()
def suites() -> None:
    """List the suites."""
    from flows import listings

    with errors(False):
        listings.suites()


datasets = typer.Typer(help="Dataset adapters, and what they find in your data.")
app.add_typer(datasets, name="datasets", invoke_without_command=True)


@datasets.callback()
def list_datasets(context: typer.Context) -> None:
    """List the dataset adapters with their options."""
    from flows import dataset_listings

    if context.invoked_subcommand is None:
        with errors(False):
            dataset_listings.adapters()


@datasets.command()
def look(
    suite: Annotated[str | None, typer.Argument(help="Id or file of a suite whose dataset is read.")] = None,
    adapter: Annotated[str | None, typer.Option(help="Instead of a suite, an adapter.")] = None,
    path: Annotated[str | None, typer.Option(help="Where the dataset is.")] = None,
    option: Annotated[
        list[str] | None, typer.Option(help="name=value of the adapter, such as partition=test; repeat it.")
    ] = None,
    rows: Annotated[Path | None, typer.Option(help="Write every photo and all left out, as CSV.")] = None,
    debug: Debug = False,
) -> None:
    """Say what a dataset holds and what is left out and why; nothing is run or stored."""
    from flows import dataset_listings

    with errors(debug):
        dataset_listings.look(suite, adapter, path, option or [], rows)


@app.command()
def doctor(
    suite: Annotated[str, typer.Argument(help="Also check what this suite needs.")] = "quickstart",
    store: Store = "",
    debug: Debug = False,
) -> None:
    """Check packages, face weights, store and Prefect, and say what to mend."""
    set_up(store, debug)
    from flows import listings

    with errors(debug):
        if not listings.doctor(suite):
            raise typer.Exit(NOTHING_RAN)


@app.command()
def deploy(
    pools: Annotated[
        str, typer.Option(help="What the workers are: process, docker or kubernetes.")
    ] = "process",
    folder: Annotated[Path, typer.Option(help="With prefect.yaml, automations.yaml and work_pools/.")] = Path(
        "deployments"
    ),
    alert_url: Annotated[
        str | None, typer.Option(help="Called when a run fails; default: $FACEDRIFT_ALERT_URL.")
    ] = None,
    debug: Debug = False,
) -> None:
    """Create or update the pools, limits, automations and deployments of the configured Prefect server."""
    set_up("", debug)
    from flows import deploying

    with errors(debug):
        deploying.deploy(folder, pools, alert_url)


@app.command()
def standin(
    suite: Annotated[str, typer.Option(help="Whose faults, editor and judge are used.")] = "rehearsal",
    port: Annotated[int, typer.Option(min=0, max=65535, help="On this machine; 0 takes a free one.")] = 8790,
    state: Annotated[Path, typer.Option(help="Folder in which jobs and counts outlive a restart.")] = Path(
        ".facedrift/standin"
    ),
    faults: Annotated[
        str | None, typer.Option(help='JSON in place of the suite\'s faults, such as {"rate_limited": 0.5}.')
    ] = None,
    only_key: Annotated[
        str | None, typer.Option(help="The only key that is accepted; by default any is.")
    ] = None,
    debug: Debug = False,
) -> None:
    """Answer in place of Gemini, fal, Replicate and OpenAI, for rehearsals: no key, no cost."""
    from flows import listings

    with errors(debug):
        listings.standin(suite, port, state, faults, only_key)


def set_up(store: str, debug: bool) -> None:
    """Set the variables that a command of this process, and what it starts, go by."""
    if store:
        set_variables({"FACEDRIFT_STORE": store})
    logging = {name: "INFO" for name in PREFECT_DEFAULTS if debug and "LOGGING" in name}
    set_variables(PREFECT_DEFAULTS | logging, keep=True)


@contextmanager
def errors(debug: bool) -> Iterator[None]:
    """Errors of the user become one line and an exit code; `--debug` shows where they came from."""
    try:
        yield
    except FacedriftError as error:
        if debug:
            raise
        typer.secho(f"error: {error}", err=True, fg="red")
        raise typer.Exit(NOTHING_RAN) from error


def main() -> None:
    """Entry point of the `facedrift` command."""
    app()


if __name__ == "__main__":
    main()
