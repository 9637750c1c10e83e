"""What `facedrift deploy` does and shows."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import cast, get_args

from domain.errors import DefinitionError
from flows.consoles import out
from tasks import deploying
from tasks.deploying import PoolKind
from tasks.preflight import check_prefect


def deploy(folder: Path, pools: str, alert_url: str | None) -> None:
    """Create or update everything on the configured server, a line each; raises DefinitionError."""
    if pools not in get_args(PoolKind):
        raise DefinitionError(f"{pools!r} is no kind of pool", field="pools", allowed=get_args(PoolKind))
    kind = cast(PoolKind, pools)
    deploying.check_folder(folder, kind)
    check_prefect()
    asyncio.run(_deploy(folder, kind, alert_url))


async def _deploy(folder: Path, kind: PoolKind, alert_url: str | None) -> None:
    async for line in deploying.deploy(folder, kind, alert_url):
        out.print(line, markup=False, highlight=False, soft_wrap=True)
