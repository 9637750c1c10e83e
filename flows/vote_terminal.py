"""What `facedrift matches` and `facedrift votes` do and show in a terminal."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import typer
from pydantic import BaseModel, ValidationError
from rich.table import Table

from domain.errors import DefinitionError, IncompleteError
from domain.matches import MatchSet
from domain.vote_requests import CollectRequest, MatchesRequest, SimulateRequest
from domain.votes import VotesCollected
from flows.collect_votes import collect_votes
from flows.consoles import err, out
from flows.local_server import prefect_server
from flows.make_matches import make_matches
from flows.simulate_votes import simulate_votes
from tasks import vote_exports
from tasks.match_making import left_out_rows
from tasks.preflight import check_prefect, check_store
from tasks.vote_collecting import account, collected
from tasks.vote_jobs import job_before_asking
from tasks.vote_wiring import is_service

MOST_LINES = 50
"""Of rejected rows."""
COLLECTED_FROM = ("page", "file", "label_studio", "rapidata")
"""What `--from` may be."""


def make(suite: str, run: str | None) -> bool:
    """Make the matches of a run and say what they are; False when some faces could not be cut out."""
    check_store()
    check_prefect()
    with prefect_server() as server:
        if server:
            server.ready()
        try:
            made = asyncio.run(_make(MatchesRequest(suite=suite, run=run)))
        except IncompleteError as error:
            err.print(f"incomplete: {error}", style="red", markup=False, soft_wrap=True)
            return False
    out.print(
        f"{made.n_matches} matches between {len(made.models)} models, and {made.n_gold} with a known answer "
        f"({made.strategy}, seed {made.seed}): {made.table}",
        markup=False,
        highlight=False,
        soft_wrap=True,
    )
    for row in left_out_rows(made):
        err.print(
            f"{row['model']} meets nobody on {row['photos']} photos: {row['why']}",
            style="yellow",
            markup=False,
            soft_wrap=True,
        )
    return True


async def _make(request: MatchesRequest) -> MatchSet:
    return await make_matches(request)


def export(suite: str, to: Path, kind: str, *, run: str | None, mirrored: bool, base_url: str | None) -> None:
    """Write matches into a folder and say what is where."""
    done = vote_exports.export(suite, to, kind, run=run, mirrored=mirrored, base_url=base_url)
    lines = [f"{done.matches} matches: {done.file}", f"{done.images} pictures: {to / vote_exports.IMAGES}"]
    lines += [f"labelling configuration: {done.config}"] if done.config else []
    for line in lines:
        out.print(line, markup=False, highlight=False, soft_wrap=True)


def request(given: Mapping[str, object]) -> CollectRequest:
    """A request from command-line options; raises DefinitionError."""
    if given["source"] not in COLLECTED_FROM:
        raise DefinitionError(f"--from: {given['source']!r} is no source of votes", allowed=COLLECTED_FROM)
    return _checked(CollectRequest, given)


Request = TypeVar("Request", bound=BaseModel)


def _checked(kind: type[Request], given: Mapping[str, object]) -> Request:
    try:
        return kind.model_validate(given)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"])) or None
        raise DefinitionError(first["msg"].removeprefix("Value error, "), field=field) from error


def collect(wanted: CollectRequest, *, ask: bool) -> bool:
    """Collect votes and say what came of it; False when rows were rejected or a service is not done."""
    check_store()
    if is_service(wanted.source):
        job = job_before_asking(wanted)
        if job and ask and job.cost_usd > 0:
            what = f"{job.responses} × {job.n_matches} responses of {wanted.source}"
            if not typer.confirm(f"Spend about ${job.cost_usd:.2f} on {what}?"):
                raise typer.Abort
    check_prefect()
    with prefect_server() as server:
        if server:
            server.ready()
        done = asyncio.run(_collect(wanted))
    out.print(account(done), markup=False, highlight=False, soft_wrap=True)
    for row in done.rejected[:MOST_LINES]:
        where = row.where if row.line is None else f"{row.where}:{row.line}"
        err.print(
            f"{where}: {row.reason}: {row.detail}",
            style="yellow",
            markup=False,
            highlight=False,
            soft_wrap=True,
        )
    if done.n_rejected > len(done.rejected[:MOST_LINES]):
        err.print(f"… and {done.n_rejected - MOST_LINES} more", style="yellow")
    return not done.n_rejected and not done.pending


async def _collect(wanted: CollectRequest) -> VotesCollected:
    return await collect_votes(wanted)


def simulate(suite: str, run: str | None, strengths: Sequence[str], crowd: Mapping[str, object]) -> None:
    """Have a made-up crowd vote and say what it is."""
    given = {"suite": suite, "run": run, "strengths": dict(map(_strength, strengths)), "crowd": crowd}
    wanted = _checked(SimulateRequest, given)
    check_store()
    check_prefect()
    with prefect_server() as server:
        if server:
            server.ready()
        done = asyncio.run(_simulate(wanted))
    out.print(account(done), markup=False, highlight=False, soft_wrap=True)
    err.print(
        "these votes say nothing of the models; they rate nobody once the suite has a vote of a person",
        style="yellow",
        soft_wrap=True,
    )


async def _simulate(wanted: SimulateRequest) -> VotesCollected:
    return await simulate_votes(wanted)


def _strength(text: str) -> tuple[str, str]:
    model, _, value = text.rpartition("=")
    if not model:
        raise DefinitionError(f"{text!r} is not model=number, such as scene-mild=1.5", field="strength")
    return model, value


def show_collections(suite: str) -> None:
    """Print what was collected for a suite."""
    name, found, n_votes = collected(suite)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), title=f"{name}: {n_votes} votes")
    for column in ("at", "source", "from", "read", "new", "known", "rejected"):
        table.add_column(column, no_wrap=column == "at")
    for one in found:
        counts = (one.read, one.new, one.known, one.n_rejected)
        table.add_row(one.at, one.source, one.where, *map(str, counts))
    out.print(table)
