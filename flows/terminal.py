"""What `facedrift run`, `plan` and `report` do and show in a terminal."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn, cast

import typer
from prefect.exceptions import TerminationSignal
from rich.logging import RichHandler
from rich.table import Table

from domain.errors import DefinitionError, IncompleteError, StoreError
from domain.groups import shown
from domain.photos import Dataset
from domain.runs import RunRequest, RunSummary, Snapshot
from flows.accounts import print_counts, print_plan, print_summary
from flows.consoles import err, out
from flows.environment import set_variables
from flows.local_server import prefect_server
from flows.rehearsal import rehearsal
from flows.run_suite import run_suite
from flows.score_suite import score_suite
from tasks.definitions import load_suite
from tasks.planning import calls_somebody, newest_run_of, prepared, preview, resolve
from tasks.preflight import check_before_run, check_prefect, check_store
from tasks.provider_checks import check_resolved
from tasks.publishing import left_out_locations, page_location
from tasks.rehearsing import asked_for, rehearsal_store, standin_counts
from tasks.report_views import Board, Cell, board, truth_lines
from tasks.shards import summary_of

INTERRUPTED, TERMINATED = 130, 143
MOST_LINES = 10
"""Of a list that the report shows whole."""


@dataclass(frozen=True)
class Options:
    """What the command line says of a run, besides its suite."""

    models: str | None = None
    sessions: str | None = None
    images: Sequence[str] = ()
    concurrency: int = 4
    max_cost_usd: float | None = None
    rehearse: bool = False


def request(suite: str, options: Options) -> RunRequest:
    """A request from command-line texts; raises DefinitionError."""
    images = options.images
    counts = [int(value) for value in images if value.isdecimal()]
    folders = [value for value in images if not value.isdecimal()]
    if len(counts) > 1 or len(folders) > 1 or 0 in counts:
        raise DefinitionError("--images takes one number above 0, one folder, or one of each", field="images")
    if folders and not Path(folders[0]).expanduser().is_dir():
        raise DefinitionError(f"{folders[0]!r} is neither a number nor a folder", field="images")
    made = RunRequest(
        suite=suite,
        models=_names(options.models, "models"),
        sessions=_names(options.sessions, "sessions"),
        images=counts[0] if counts else None,
        images_dir=folders[0] if folders else None,
        concurrency=options.concurrency,
        max_cost_usd=options.max_cost_usd,
        rehearse=options.rehearse,
    )
    resolve(made)
    return asked_for(made)


def show_plan(wanted: RunRequest) -> None:
    """Print what a run would do; a rehearsal is planned without its stand-in."""
    if wanted.rehearse:
        set_variables({"FACEDRIFT_STORE": rehearsal_store()})
    _log_progress()
    check_before_run(wanted)
    _print_left_out(prepared(wanted))
    plan, missing = preview(wanted)
    print_plan(plan, missing)


def run(wanted: RunRequest, *, ask: bool) -> bool:
    """Run a suite and show its leaderboard; False when steps failed."""
    _log_progress()
    with rehearsal(wanted) as standin:
        check_store()
        check_prefect()
        with prefect_server() as server:
            check_before_run(wanted)
            _print_left_out(prepared(wanted))
            if standin:
                standin.ready()
            if calls_somebody(wanted):
                _check_and_ask(wanted, ask=ask and not wanted.rehearse)
            if server:
                err.print("starting Prefect …", style="dim")
                server.ready()
            try:
                ended = asyncio.run(_run(wanted.model_copy(update={"approve_above_usd": None})))
            except KeyboardInterrupt:
                _stopped(INTERRUPTED)
            except TerminationSignal:
                _stopped(TERMINATED)
        if ended.summary:
            print_summary(ended.summary, ended.work_s)
            show_snapshot(ended.summary.snapshot)
        if standin:
            print_counts(standin_counts(standin.url))
    return ended.complete


def _check_and_ask(wanted: RunRequest, *, ask: bool) -> None:
    plan, missing = preview(wanted)
    print_plan(plan, missing)
    check_store(sum(missing.steps_missing.values()))
    check_resolved(resolve(wanted), missing, rehearse=wanted.rehearse)
    cap = wanted.max_cost_usd
    if cap is not None and missing.cost_usd > cap:
        err.print(f"it may cost more than the cap and will then stop at ${cap:.2f}", style="yellow")
    cost = missing.cost_usd if cap is None else min(cap, missing.cost_usd)
    if ask and cost > 0 and not typer.confirm(f"Spend up to ${cost:.2f}?"):
        raise typer.Abort


@dataclass(frozen=True)
class _Ended:
    summary: RunSummary | None
    complete: bool
    work_s: float


async def _run(wanted: RunRequest) -> _Ended:
    started = time.monotonic()
    try:
        summary = cast(RunSummary, await run_suite(wanted))  # never a dry run
    except (IncompleteError, StoreError) as error:
        err.print(f"incomplete: {error}", style="red", markup=False, soft_wrap=True)
        run_id = error.run_id if isinstance(error, IncompleteError) else None
        return _Ended(summary_of(run_id) if run_id else None, False, time.monotonic() - started)
    return _Ended(summary, True, time.monotonic() - started)


def _stopped(code: int) -> NoReturn:
    err.print("stopped; what was finished is kept, and running again goes on from there", style="yellow")
    raise typer.Exit(code)


def show_report(suite: str) -> None:
    """Score the newest run of a suite again, publish that and print it."""
    run_id = newest_run_of(load_suite(suite).id)
    with prefect_server() as server:
        if server:
            server.ready()
        snapshot = asyncio.run(_score(run_id))
    show_snapshot(snapshot)


async def _score(run_id: str) -> Snapshot:
    return await score_suite(run_id)


def show_snapshot(snapshot: Snapshot) -> None:
    """Print the leaderboard of a snapshot and where its page is."""
    show_board(board(snapshot))
    for line in truth_lines(snapshot):
        out.print(line, markup=False, highlight=False)
    out.print(f"page: {page_location(snapshot)}", markup=False, highlight=False, soft_wrap=True)


def _print_left_out(photos: Dataset) -> None:
    left_out = photos.left_out
    if not left_out:
        return
    reasons = Counter(item.reason for item in left_out)
    counts = ", ".join(f"{count} × {reason}" for reason, count in sorted(reasons.items()))
    lines = [f"{len(left_out)} files left out: {counts}"]
    lines += [f"  {item.source}: {item.reason}: {shown(item.detail, 300)}" for item in left_out[:MOST_LINES]]
    if len(left_out) > MOST_LINES:
        lines.append(f"  … and {len(left_out) - MOST_LINES} more")
    table, text = left_out_locations(photos)
    lines.append(f"  all of them: {table}; to read: {text}")
    for line in lines:
        err.print(line, style="yellow", markup=False, soft_wrap=True)


def show_board(rows: Board) -> None:
    """Print a leaderboard; what a star is, only where there is one."""
    table = Table(title=rows.title, title_justify="left", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("model", no_wrap=True)
    for name in rows.columns:
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows.rows:
        table.add_row(f"{row.model} *" if row.is_control else row.model, *map(_cell, row.cells))
    out.print(table)
    told = "* a control; " if any(row.is_control for row in rows.rows) else ""
    out.print(f"{told}below each mean its 95 % interval and n", style="dim", highlight=False)


def _cell(cell: Cell) -> str:
    below = " ".join(part for part in (cell.interval, "" if cell.n is None else f"n={cell.n}") if part)
    return f"{cell.text}\n[dim]{below}[/]" if below else cell.text


def _names(text: str | None, option: str) -> tuple[str, ...]:
    found = tuple(name.strip() for name in (text or "").split(",") if name.strip())
    if text is not None and not found:
        raise DefinitionError(f"--{option} names nothing; leave it out for all", field=option)
    return found


def _log_progress() -> None:
    logger = logging.getLogger("facedrift")
    logger.setLevel(logging.INFO)
    handler = RichHandler(console=err, show_path=False, show_level=False, markup=False)
    handler.addFilter(lambda record: not record.name.endswith(".steps"))  # a line a step is for log files
    logger.handlers = [handler]
    logger.propagate = False
