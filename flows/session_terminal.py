"""What `facedrift sessions` does and shows in a terminal."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import cast

import typer
from pydantic import ValidationError
from rich.markup import escape
from rich.table import Table

from domain.errors import DefinitionError, IncompleteError
from domain.requests import RunRequest, WriteSessionsRequest
from domain.session_writing import SessionsMissing, WrittenSet
from flows.accounts import print_counts
from flows.consoles import err, out
from flows.local_server import prefect_server
from flows.rehearsal import rehearsal
from flows.write_sessions import write_sessions
from tasks import session_sets
from tasks.definitions import DefinitionSettings
from tasks.preflight import check_prefect, check_store
from tasks.rehearsing import standin_counts
from tasks.session_writing import missing_of

REHEARSAL = "rehearsal"
"""The suite whose stand-in answers."""


def request(given: Mapping[str, object]) -> WriteSessionsRequest:
    """A request from command-line options; raises DefinitionError."""
    try:
        return WriteSessionsRequest.model_validate(given)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"])) or None
        raise DefinitionError(first["msg"].removeprefix("Value error, "), field=field) from error


def write(wanted: WriteSessionsRequest, to: Path | None, *, ask: bool) -> bool:
    """Write a set and say where it is; False when some sessions could not be written."""
    with rehearsal(RunRequest(suite=REHEARSAL, rehearse=wanted.rehearse)) as standin:
        check_store()
        missing = missing_of(wanted)
        _print_missing(missing)
        if wanted.dry_run:
            return True
        check_prefect()
        cap = wanted.max_cost_usd
        cost_usd = missing.cost_usd if cap is None else min(cap, missing.cost_usd)
        if (
            ask
            and cost_usd > 0
            and not wanted.rehearse
            and not typer.confirm(f"Spend about ${cost_usd:.2f}?")
        ):
            raise typer.Abort
        with prefect_server() as server:
            if standin:
                standin.ready()
            if server:
                server.ready()
            try:
                written = asyncio.run(_write(wanted.model_copy(update={"approve_above_usd": None})))
            except IncompleteError as error:
                err.print(f"incomplete: {error}", style="red", markup=False, soft_wrap=True)
                return False
        _print_written(written, to)
        if standin:
            print_counts(standin_counts(standin.url))
    return True


async def _write(wanted: WriteSessionsRequest) -> WrittenSet:
    return cast(WrittenSet, await write_sessions(wanted))  # never a dry run


def _print_missing(missing: SessionsMissing) -> None:
    out.print(
        f"{missing.set_id}: {missing.sessions} sessions, {missing.missing} of {missing.instructions} "
        f"instructions to write at ${missing.price_usd:g}: about ${missing.cost_usd:.2f} and "
        f"{missing.seconds:.0f} s of calls; more if some are asked for again",
        highlight=False,
        soft_wrap=True,
    )
    for failed in missing.unwritten:
        text = f"  {failed.session}, step {failed.step}: {failed.problem}"
        err.print(text, style="yellow", markup=False, soft_wrap=True)


def _print_written(written: WrittenSet, to: Path | None) -> None:
    known = "" if written.is_new else ", which was there already"
    text = f"set {written.id}, version {written.version}: {written.sessions} sessions{known}; "
    out.print(f"{text}{written.asked} answers asked for, ${written.cost_usd:.2f}", highlight=False)
    for notice in written.notices:
        err.print(f"notice: {notice}", style="yellow", markup=False, soft_wrap=True)
    own = DefinitionSettings().folders()
    place = to or (own[0] / "sessions" if own else None)
    if place is None:
        text = (
            f"in the store as {written.key}; to use it, run this again with --out FOLDER/sessions/ and set "
        )
        out.print(f"{text}FACEDRIFT_DEFINITIONS=FOLDER", highlight=False, soft_wrap=True)
        return
    out.print(f"file: {session_sets.export(written, place)}", markup=False, highlight=False, soft_wrap=True)


def show_sets() -> None:
    """Print every set, and the files that are none.

    Raises:
        DefinitionError: a file is wrong; the others are listed.
    """
    table = Table("set", "version", "taxonomy", "sessions", "where", "source", box=None, pad_edge=False)
    rows, wrong = session_sets.listed()
    for row in rows:
        table.add_row(row.id, str(row.version), row.taxonomy, row.test_sets, row.where, escape(row.source))
    out.print(table)
    for error in wrong[:-1]:
        err.print(f"error: {error}", style="red", markup=False, soft_wrap=True)
    if wrong:
        raise wrong[-1]
