"""What `facedrift sessions` does and shows in a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import cast

from rich.markup import escape
from rich.table import Table

from domain.requests import WriteSessionsRequest
from domain.session_writing import SessionsMissing, WrittenSet
from flows.consoles import err, out
from flows.write_sessions import write_sessions
from flows.writer_terminal import carry_out, read_request, say_where
from tasks import session_sets
from tasks.session_writing import missing_of


def request(given: Mapping[str, object]) -> WriteSessionsRequest:
    """A request from command-line options; raises DefinitionError."""
    return read_request(WriteSessionsRequest, given)


def write(wanted: WriteSessionsRequest, to: Path | None, *, ask: bool) -> bool:
    """Write a set and say where it is; False when some sessions could not be written."""

    def look() -> float:
        missing = missing_of(wanted)
        _print_missing(missing)
        return missing.cost_usd

    return carry_out(
        wanted,
        look,
        lambda: _write(wanted.model_copy(update={"approve_above_usd": None})),
        lambda written: _print_written(written, to),
        ask=ask,
    )


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
    say_where(written.key, to, "sessions", lambda place: session_sets.export(written, place))


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
