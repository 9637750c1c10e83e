"""What an operator has set on a deployment stays: its parameters, its schedules and whether it is paused.

Prefect keeps the schedules of a deployment that is deployed again without any, and nothing else; so what is
deployed again goes there with what the server has. Nothing is taken away in between.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from prefect.client.orchestration import get_client
from prefect.client.schemas.responses import DeploymentResponse
from prefect.exceptions import ObjectNotFound

Entry = Mapping[str, Any]
"""One of the deployments of `prefect.yaml`."""


def full_name(entry: Entry) -> str:
    """The name by which Prefect knows an entry, such as `run-suite/adhoc`."""
    return f"{entry['entrypoint'].rsplit('.', 1)[1].replace('_', '-')}/{entry['name']}"


def with_kept(entry: Entry, existing: DeploymentResponse | None) -> dict[str, Any]:
    """The entry as it is deployed: of an existing deployment with what the server has."""
    if existing is None:
        return dict(entry)
    found = {"parameters": existing.parameters, "paused": existing.paused, "schedules": None}
    return {**entry, **found}


def line_of(entry: Entry, existing: DeploymentResponse | None) -> str:
    """What is said of a deployment: also that something of it was kept."""
    line = f"deployment {full_name(entry)}"
    if existing is None:
        return line
    has_own = existing.parameters or existing.schedules or existing.paused
    return f"{line}: kept its own parameters and schedule" if has_own or entry.get("schedules") else line


async def read_existing(entries: list[Entry]) -> list[DeploymentResponse | None]:
    """Of each entry the deployment on the server, or None where there is none yet."""
    async with get_client() as client:
        found: list[DeploymentResponse | None] = []
        for entry in entries:
            try:
                found.append(await client.read_deployment_by_name(full_name(entry)))
            except ObjectNotFound:
                found.append(None)
        return found
