"""What makes a run of the command line a rehearsal: a stand-in, and a store of its own."""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from dataclasses import dataclass

from domain.errors import StoreError
from domain.runs import RunRequest
from flows.environment import set_variables
from flows.local_server import ChildServer
from tasks.definitions import load_suite
from tasks.rehearsing import (
    rehearsal_environment,
    rehearsal_store,
    running_standin,
    standin_counts,
    standin_state,
)


@dataclass
class Rehearsal:
    """The stand-in of a run, starting or there."""

    url: str
    server: ChildServer | None

    def ready(self) -> None:
        """Return once it answers; raises StoreError when it does not come up."""
        if self.server and not self.server.wait():
            raise StoreError("the stand-in could not be started; `facedrift standin` says why")
        standin_counts(self.url)


@contextlib.contextmanager
def rehearsal(request: RunRequest) -> Generator[Rehearsal | None]:
    """While a run is a rehearsal: its own store, short waits, and a stand-in where none is running."""
    if not request.rehearse:
        yield None
        return
    suite, store, url = load_suite(request.suite), rehearsal_store(), running_standin()
    state = str(standin_state())
    server = None if url else ChildServer("flows.standin_process", "/standin/counts", request.suite, state)
    found = Rehearsal(url or (server.url if server else ""), server)
    set_variables({"FACEDRIFT_STORE": store})
    set_variables(rehearsal_environment(suite, found.url), keep=True)
    try:
        yield found
    finally:
        if server:
            server.stop()
