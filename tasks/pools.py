"""Work that a worker elsewhere takes: flow runs of deployments, started, awaited and started again.

`run_deployment` is used to start a run and not to await it: waiting for it must outlive a restart of the
server, and a run whose process was lost must be started again, which it survives because all that it did is
in the store.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from typing import Any, Literal
from uuid import UUID

import httpx
from prefect import Flow
from prefect.client.orchestration import get_client
from prefect.client.schemas.filters import FlowRunFilter, FlowRunFilterParentFlowRunId
from prefect.client.schemas.objects import FlowRun, State, WorkPoolStatus
from prefect.context import FlowRunContext
from prefect.deployments import arun_deployment
from prefect.exceptions import ObjectNotFound, PrefectHTTPStatusError
from prefect.settings import get_current_settings
from prefect.states import Cancelling, Pending
from pydantic import Field, PositiveFloat
from pydantic_settings import BaseSettings, SettingsConfigDict

from domain.errors import DefinitionError, IncompleteError
from tasks.limits import LimitSettings

logger = logging.getLogger("facedrift.pools")

Parameter = str | int | float | None


class PoolSettings(BaseSettings):
    """Whether parts of a run are given to work pools."""

    model_config = SettingsConfigDict(env_prefix="FACEDRIFT_")

    pools: Literal["auto", "always", "never"] = "auto"
    """`auto`: where the deployment exists and a worker polls its pool; `always`: wait for such a worker."""
    pool_poll_s: PositiveFloat = 5.0
    """Between two looks at a run elsewhere."""
    pool_starts: int = Field(default=3, ge=1)
    """How often a run whose process was lost is started."""


async def on_pool(deployment: str) -> bool:
    """Whether work goes to a deployment, such as `embed-faces/gpu`, and not into this process.

    Raises:
        DefinitionError: it has to, and there is no such deployment.
    """
    wanted = PoolSettings().pools
    if wanted == "never" or LimitSettings().own_server or get_current_settings().api.url is None:
        return False
    async with get_client() as client:
        try:
            found = await client.read_deployment_by_name(deployment)
        except ObjectNotFound as error:
            if wanted == "always":
                raise DefinitionError(
                    f"the server has no deployment {deployment!r}, and FACEDRIFT_POOLS is `always`; create "
                    "it with `facedrift deploy`"
                ) from error
            return False
        pool = await client.read_work_pool(found.work_pool_name or "") if found.work_pool_name else None
    if wanted == "always" or (pool and pool.status == WorkPoolStatus.READY and not pool.is_paused):
        return True
    name = pool.name if pool else "none"
    logger.warning(
        "no worker polls the pool %s of %s: the work is done in this process; start one with "
        "`prefect worker start --pool %s`, or set FACEDRIFT_POOLS=always to wait for one",
        name, deployment, name,
    )  # fmt: skip
    return False


async def run_on_pool(deployment: str, parameters: Mapping[str, Parameter], name: str) -> State[Any]:
    """Run a deployment to its end; a run whose process was lost is started again.

    The state has no result: what was done is in the store.
    """
    settings, state = PoolSettings(), Pending()
    for start in range(1, settings.pool_starts + 1):
        run = await arun_deployment(
            deployment,
            parameters=dict(parameters),
            flow_run_name=name if start == 1 else f"{name} (start {start})",
            timeout=0,
            idempotency_key=f"{_parent()}:{name}:{start}",
        )
        state = await _final_state(run, settings.pool_poll_s)
        if not state.is_crashed():
            return state
        logger.warning("%s was lost: %s; start %d of %d", name, state.message, start, settings.pool_starts)
    return state


def error_on_pool(name: str, state: State[Any]) -> IncompleteError | None:
    """Why a run elsewhere did not complete, when the store does not say more; None when it did."""
    if state.is_completed():
        return None
    return IncompleteError(f"{name} ended {state.name}: {state.message or 'no message'}")


def _parent() -> str:
    """Names this execution of the running flow, so that another one starts runs of its own."""
    context = FlowRunContext.get()
    run = context.flow_run if context else None
    return f"{run.id}:{run.run_count}" if run else "none"


async def _final_state(run: FlowRun, poll_s: float) -> State[Any]:
    state: State[Any] = run.state or Pending()
    try:
        while not state.is_final():
            await asyncio.sleep(poll_s)
            state = await _look(run.id) or state
    finally:
        if not state.is_final():  # this run is being cancelled, and its part with it
            await _cancel(run.id)
    return state


async def _look(run_id: UUID) -> State[Any] | None:
    """The state of a run, or None while the server does not answer."""
    try:
        async with get_client() as client:
            return (await client.read_flow_run(run_id)).state
    except (httpx.TransportError, PrefectHTTPStatusError) as error:
        if isinstance(error, PrefectHTTPStatusError) and error.response.status_code < 500:
            raise
        logger.warning("the Prefect server does not answer (%s); asking again", type(error).__name__)
        return None


async def _cancel(run_id: UUID) -> None:
    async with get_client() as client:
        await client.set_flow_run_state(run_id, Cancelling())


async def cancel_parts(flow: Flow[..., Any], flow_run: FlowRun, state: State[Any]) -> None:
    """When a run is cancelled, so are its parts on other workers, which would go on paying."""
    children = FlowRunFilter(parent_flow_run_id=FlowRunFilterParentFlowRunId(any_=[flow_run.id]))
    async with get_client() as client:
        for child in await client.read_flow_runs(flow_run_filter=children):
            if child.state and not child.state.is_final():
                await client.set_flow_run_state(child.id, Cancelling())
