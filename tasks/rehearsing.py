"""A dress rehearsal: the stand-in in place of every provider, and what it has counted."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import httpx
from pydantic import JsonValue

from adapters.standin.serving import LOOPBACK, serve
from adapters.stores.settings import place
from domain.errors import DefinitionError, StoreError
from domain.requests import RunRequest
from domain.suites import Suite
from tasks import wiring
from tasks.definitions import load_suite
from tasks.standin_wiring import standin

SUFFIX = "-rehearsal"
BUCKET = "s3://"
STATES = Path(".facedrift/standins")
"""For a store in a bucket; in the current folder."""
PROVIDERS = ("GOOGLE", "FAL", "REPLICATE", "OPENAI")


def serve_standin(
    suite: str,
    port: int,
    state: Path,
    on_ready: Callable[[str], None] | None = None,
    faults: Mapping[str, JsonValue] | None = None,
    only_key: str | None = None,
) -> None:
    """Answer in place of every provider until this process is told to stop.

    Args:
        suite: Whose faults, editor and judge are used.
        port: On this machine; 0 takes a free one.
        state: A folder in which jobs and counts outlive a restart.
        on_ready: Called with the address.
        faults: In place of the suite's.
        only_key: The only key that is accepted; None accepts any.
    """
    serve(standin(load_suite(suite), state, faults, only_key), LOOPBACK, port, on_ready)


def rehearsal_environment(suite: Suite, url: str) -> dict[str, str]:
    """The variables under which a run is a rehearsal: where to call, and how soon to give up."""
    rehearsal = suite.rehearsal
    found = {
        "FACEDRIFT_STANDIN_URL": url,
        "FACEDRIFT_RETRY_WAITS_S": json.dumps(rehearsal.retry_waits_s),
        "FACEDRIFT_PER_MINUTE": json.dumps({name.lower(): 60_000 for name in PROVIDERS}),
    }
    for provider in PROVIDERS:
        found[f"FACEDRIFT_{provider}_TIMEOUT_S"] = str(rehearsal.timeout_s)
        found[f"FACEDRIFT_{provider}_POLL_S"] = str(rehearsal.poll_s)
    return found


def rehearsal_store() -> str:
    """The store of rehearsals: beside the real one, so that the two never mix."""
    where = place()
    if isinstance(where, Path):
        return str(where if where.name.endswith(SUFFIX) else where.with_name(where.name + SUFFIX))
    if where.prefix.endswith(SUFFIX):
        return str(where)
    return f"s3://{where.bucket}/{where.prefix or 'facedrift'}{SUFFIX}"


def standin_state() -> Path:
    """Where the stand-in of the rehearsal store keeps its jobs and counts: always on this machine."""
    store = rehearsal_store()
    if store.startswith(BUCKET):
        return STATES / store.removeprefix(BUCKET).replace("/", "_")
    return Path(f"{store}-standin")


def asked_for(request: RunRequest) -> RunRequest:
    """The request, as a rehearsal when its suite is never run in earnest."""
    always = load_suite(request.suite).rehearsal.always
    return request.model_copy(update={"rehearse": request.rehearse or always})


def check_rehearsal(request: RunRequest) -> None:
    """Raise DefinitionError for a rehearsal that would be kept, and published, among real results."""
    here, own = str(place()), rehearsal_store()
    if request.rehearse and here != own:
        raise DefinitionError(
            f"a rehearsal needs a store of its own, and FACEDRIFT_STORE is {here!r}: set it to "
            f"{own!r} where this runs, or use `facedrift run --rehearse`, which does that"
        )


def running_standin() -> str | None:
    """The stand-in that `FACEDRIFT_STANDIN_URL` names, if any."""
    return wiring.RehearsalSettings().standin_url


def standin_counts(url: str) -> dict[str, dict[str, Any]]:
    """What the stand-in has counted, by provider; raises StoreError when it does not answer."""
    try:
        answer = httpx.get(f"{url}/standin/counts", timeout=30)
        return answer.raise_for_status().json()
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise StoreError(
            f"the stand-in at {url} does not answer ({error}); start it with `facedrift standin`, and set "
            "FACEDRIFT_STANDIN_URL to the address it prints, or unset it"
        ) from error
