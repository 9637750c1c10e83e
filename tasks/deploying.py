"""What a Prefect server needs: pools, limits, automations, deployments. Doing it again is harmless."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Literal, cast

import yaml
from prefect.blocks.webhook import Webhook
from prefect.client.orchestration import get_client
from prefect.client.schemas.actions import WorkPoolCreate
from prefect.events.schemas.automations import AutomationCore
from prefect.settings import get_current_settings
from pydantic import SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

from domain.errors import DefinitionError, StoreError
from domain.provider_cards import ProviderCard
from tasks import wiring
from tasks.definitions import load, names
from tasks.limits import LimitSettings, name_of, shared_limit

PoolKind = Literal["process", "docker", "kubernetes"]
POOLS = ("edits", "gpu-embeddings")
ALERT_BLOCK = "facedrift-alerts"


class DeploySettings(BaseSettings):
    """`FACEDRIFT_ALERT_URL`: called when a run fails; kept in Prefect as a secret."""

    model_config = SettingsConfigDict(env_prefix="FACEDRIFT_", env_ignore_empty=True)

    alert_url: SecretStr | None = None


async def deploy(folder: Path, kind: PoolKind, alert_url: str | None) -> AsyncIterator[str]:
    """Create or update everything; yields a line for each thing done.

    Args:
        folder: With `prefect.yaml`, `work_pools/` and `automations.yaml`.
        kind: What the workers of both pools are.
        alert_url: Called when a run fails; None leaves the automations that need it out.

    Raises:
        DefinitionError: a file is missing or wrong, or no server is configured.
        StoreError: Prefect refused a deployment.
    """
    check_folder(folder, kind)
    for pool in POOLS:
        await _create_pool(pool, kind, folder)
        yield f"work pool {pool} ({kind})"
    async for line in _create_limits():
        yield line
    async for line in _create_automations(folder, alert_url):
        yield line
    for line in _create_deployments(folder):
        yield line


def check_folder(folder: Path, kind: PoolKind) -> None:
    """Raise DefinitionError unless a server is configured and every file is there."""
    if get_current_settings().api.url is None:
        raise DefinitionError("no Prefect server is configured; start one and set PREFECT_API_URL to it")
    needed = [folder / "prefect.yaml", folder / "automations.yaml"]
    needed += [template(folder, pool, kind) for pool in POOLS]
    for file in needed:
        if not file.is_file():
            raise DefinitionError(
                f"{str(file)!r} is not there; call this in a checkout, or name its folder with --folder"
            )


def template(folder: Path, pool: str, kind: PoolKind) -> Path:
    """The base job template of a pool."""
    return folder / "work_pools" / f"{pool}.{kind}.json"


async def _create_pool(pool: str, kind: PoolKind, folder: Path) -> None:
    body = json.loads(template(folder, pool, kind).read_text())
    async with get_client() as client:
        await client.create_work_pool(
            WorkPoolCreate(name=pool, type=kind, base_job_template=body), overwrite=True
        )


async def _create_limits() -> AsyncIterator[str]:
    settings = LimitSettings()
    for provider in names(ProviderCard):
        if not wiring.is_in_process(provider):
            limit = settings.in_flight.get(provider, load(ProviderCard, provider).in_flight)
            yield f"limit {name_of(provider)}: {await shared_limit(name_of(provider), limit)}"


async def _create_automations(folder: Path, alert_url: str | None) -> AsyncIterator[str]:
    block_id: str | None = None
    url = SecretStr(alert_url) if alert_url else DeploySettings().alert_url
    if url is not None:
        headers = {"Content-Type": "application/json"}
        block = Webhook.model_validate({"method": "POST", "url": url, "headers": headers})
        block_id = str(await cast(Any, block.save(ALERT_BLOCK, overwrite=True)))
    text = (folder / "automations.yaml").read_text()
    for found in yaml.safe_load(text.replace("{{ alert_webhook }}", block_id or "")):
        if block_id is None and "block_document_id" in json.dumps(found):
            yield f"automation {found['name']} left out: it needs --alert-url"
            continue
        await _create_automation(AutomationCore.model_validate(found))
        yield f"automation {found['name']}"


async def _create_automation(wanted: AutomationCore) -> None:
    async with get_client() as client:
        known = await client.read_automations_by_name(wanted.name)
        if known:
            await client.update_automation(known[0].id, wanted)
        else:
            await client.create_automation(wanted)


def _create_deployments(folder: Path) -> list[str]:
    command = [sys.executable, "-m", "prefect", "--no-prompt", "deploy", "--all"]
    ended = subprocess.run(
        [*command, "--prefect-file", str(folder / "prefect.yaml")],
        capture_output=True,
        text=True,
        check=False,
    )
    if ended.returncode != 0:
        said = [line.strip(" │╭╮╰╯─") for line in (ended.stderr + ended.stdout).splitlines()]
        last = " ".join(line for line in said if line)[-500:]
        raise StoreError(f"Prefect did not take the deployments of {str(folder)!r}: {last}")
    found = yaml.safe_load((folder / "prefect.yaml").read_text())["deployments"]
    flows = [one["entrypoint"].rsplit(".", 1)[1].replace("_", "-") for one in found]
    return [f"deployment {flow}/{one['name']}" for flow, one in zip(flows, found, strict=True)]
