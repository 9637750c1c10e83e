"""What a Prefect server needs: pools, limits, automations, deployments. Doing it again is harmless."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from tempfile import TemporaryDirectory
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
from tasks.kept_deployments import line_of, read_existing, with_kept
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
        alert_url: Called when a run fails; without one, what needs it is neither made nor changed.

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
    for line in await _create_deployments(folder):
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
            asked = settings.in_flight.get(provider)
            limit = asked or load(ProviderCard, provider).in_flight
            yield limit_line(name_of(provider), await shared_limit(name_of(provider), limit), asked)


def limit_line(name: str, found: int, asked: int | None) -> str:
    """What is said of a limit: also where the server has another than `FACEDRIFT_IN_FLIGHT` asks for."""
    if asked is None or asked == found:
        return f"limit {name}: {found}"
    return (
        f"limit {name}: {found} on the server, and FACEDRIFT_IN_FLIGHT says {asked}; set it there with "
        f"`prefect gcl update {name} --limit {asked}`"
    )


async def _create_automations(folder: Path, alert_url: str | None) -> AsyncIterator[str]:
    block_id: str | None = None
    url = SecretStr(alert_url) if alert_url else DeploySettings().alert_url
    if url is not None:
        headers = {"Content-Type": "application/json"}
        block = Webhook.model_validate({"method": "POST", "url": url, "headers": headers})
        block_id = str(await cast(Any, block.save(ALERT_BLOCK, overwrite=True)))
    text = (folder / "automations.yaml").read_text()
    for found in yaml.safe_load(text.replace("{{ alert_webhook }}", block_id or "")):
        name = found["name"]
        async with get_client() as client:
            known = next(iter(await client.read_automations_by_name(name)), None)
            if block_id is None and "block_document_id" in json.dumps(found):
                yield line_without_url(name, known)
            elif known:
                await client.update_automation(known.id, renewed(found, known))
                yield f"automation {name}"
            else:
                await client.create_automation(AutomationCore.model_validate(found))
                yield f"automation {name}"


def line_without_url(name: str, known: AutomationCore | None) -> str:
    """What is said of an automation that calls the alert URL where no URL is given."""
    if known is None:
        return f"automation {name} left out: it needs --alert-url"
    return f"automation {name}: kept as it is, with the alert URL that the server has"


def renewed(found: dict[str, Any], known: AutomationCore) -> AutomationCore:
    """An automation of the file as it replaces one on the server: on or off, as an operator left that."""
    return AutomationCore.model_validate({**found, "enabled": known.enabled})


async def _create_deployments(folder: Path) -> list[str]:
    spec = yaml.safe_load((folder / "prefect.yaml").read_text())
    entries = spec["deployments"]
    existing = await read_existing(entries)
    spec["deployments"] = [with_kept(*pair) for pair in zip(entries, existing, strict=True)]
    with TemporaryDirectory() as made:
        file = Path(made, "prefect.yaml")
        file.write_text(yaml.safe_dump(spec, sort_keys=False))
        _deploy_all(file, folder)
    return [line_of(*pair) for pair in zip(entries, existing, strict=True)]


def _deploy_all(file: Path, folder: Path) -> None:
    command = [sys.executable, "-m", "prefect", "--no-prompt", "deploy", "--all"]
    ended = subprocess.run(
        [*command, "--prefect-file", str(file)], capture_output=True, text=True, check=False
    )
    if ended.returncode != 0:
        said = said_last(ended.stdout, ended.stderr)
        raise StoreError(
            f"Prefect did not take the deployments of {str(folder)!r}: {said}; "
            "where parameters are refused that were set on the server, correct them there in the UI"
        )


def said_last(out: str, err: str) -> str:
    """The end of what a command said, its errors last, without the frames around."""
    said = [line.strip(" │╭╮╰╯─") for line in (out + "\n" + err).splitlines()]
    return " ".join(line for line in said if line)[-500:]
