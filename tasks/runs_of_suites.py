"""Which run of a suite is meant."""

from __future__ import annotations

from domain.errors import DefinitionError
from tasks import wiring
from tasks.definitions import load_suite
from tasks.planning import newest_run
from tasks.threads import in_thread


async def run_of(suite: str, run: str | None) -> str:
    """The id of a run: the one that is named, or the newest of a suite.

    Raises:
        DefinitionError: the named run is of another suite.
        StoreError: there is no such run.
    """
    return await in_thread(find_run, suite, run)


def find_run(suite: str, run: str | None) -> str:
    """The same, of a suite by its id or file."""
    name = load_suite(suite).id
    if run is None:
        return newest_run(name, wiring.store())
    theirs = wiring.run_plan(run).suite.id
    if theirs != name:
        raise DefinitionError(f"the run {run!r} is of the suite {theirs!r}, not of {name!r}", field="run")
    return run
