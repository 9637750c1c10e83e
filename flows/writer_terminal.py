"""What the commands that have something written share: the price, the run, and where the set is."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any, Protocol, TypeVar

import typer
from pydantic import BaseModel, ValidationError

from domain.errors import DefinitionError, IncompleteError
from domain.requests import RunRequest
from flows.accounts import print_counts
from flows.consoles import err, out
from flows.local_server import prefect_server
from flows.rehearsal import rehearsal
from tasks.definitions import DefinitionSettings
from tasks.preflight import check_prefect, check_store
from tasks.rehearsing import standin_counts

REHEARSAL = "rehearsal"
"""The suite whose stand-in answers."""
Request = TypeVar("Request", bound=BaseModel)
Made = TypeVar("Made")


class Wanted(Protocol):
    """Of a request, what decides how it is carried out."""

    @property
    def max_cost_usd(self) -> float | None:
        """The cap."""
        ...

    @property
    def rehearse(self) -> bool:
        """Whether the stand-in answers."""
        ...

    @property
    def dry_run(self) -> bool:
        """Whether only the price is said."""
        ...


def read_request(kind: type[Request], given: Mapping[str, object]) -> Request:
    """A request from command-line options; raises DefinitionError."""
    try:
        return kind.model_validate(given)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"])) or None
        raise DefinitionError(first["msg"].removeprefix("Value error, "), field=field) from error


def carry_out(
    wanted: Wanted,
    look: Callable[[], float],
    run: Callable[[], Coroutine[Any, Any, Made]],
    show: Callable[[Made], None],
    *,
    ask: bool,
) -> bool:
    """Carry a request out, once a person agrees to its price; False when it could not be completed.

    Args:
        wanted: The request.
        look: Prints what is missing and returns what that costs, in dollars.
        run: Starts the flow.
        show: Prints what came of it.
        ask: Whether to ask before paid calls.
    """
    with rehearsal(RunRequest(suite=REHEARSAL, rehearse=wanted.rehearse)) as standin:
        check_store()
        cost_usd = look()
        if wanted.dry_run:
            return True
        check_prefect()
        if wanted.max_cost_usd is not None:
            cost_usd = min(wanted.max_cost_usd, cost_usd)
        paid = cost_usd > 0 and not wanted.rehearse
        if ask and paid and not typer.confirm(f"Spend about ${cost_usd:.2f}?"):
            raise typer.Abort
        with prefect_server() as server:
            if standin:
                standin.ready()
            if server:
                server.ready()
            try:
                made = asyncio.run(run())
            except IncompleteError as error:
                err.print(f"incomplete: {error}", style="red", markup=False, soft_wrap=True)
                return False
        show(made)
        if standin:
            print_counts(standin_counts(standin.url))
    return True


def say_where(key: str, to: Path | None, room: str, export: Callable[[Path], Path]) -> None:
    """Export a set to where it can be used from, and say where that is."""
    own = DefinitionSettings().folders()
    place = to or (own[0] / room if own else None)
    if place is None:
        text = f"in the store as {key}; to use it, run this again with --out FOLDER/{room}/ and set "
        out.print(f"{text}FACEDRIFT_DEFINITIONS=FOLDER", highlight=False, soft_wrap=True)
        return
    out.print(f"file: {export(place)}", markup=False, highlight=False, soft_wrap=True)
