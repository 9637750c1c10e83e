"""How many calls a provider takes at the same time and in a minute, over all processes.

Slots are Prefect's global concurrency limits, taken once a shard and not once a call, because each taking
costs several requests. The rate is shared by slots: who holds half of them may begin half of the calls.
A run with a server of its own shares it with nobody, so there the process alone keeps the limit.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Iterable

from aiolimiter import AsyncLimiter
from prefect.client.orchestration import get_client
from prefect.client.schemas.actions import GlobalConcurrencyLimitCreate
from prefect.concurrency.asyncio import concurrency
from prefect.exceptions import ObjectAlreadyExists, ObjectNotFound
from pydantic import Field, PositiveFloat, PositiveInt
from pydantic_settings import BaseSettings, SettingsConfigDict

from domain.provider_cards import ProviderCard
from tasks import wiring
from tasks.definitions import load
from tasks.gates import gate

LEASE_S = 300.0
"""After this long the slots of a killed process are free again."""


class LimitSettings(BaseSettings):
    """Limits of one's own accounts, and who keeps them."""

    model_config = SettingsConfigDict(env_prefix="FACEDRIFT_")

    in_flight: dict[str, PositiveInt] = Field(default_factory=dict[str, PositiveInt])
    """Of a provider, in place of its card: such as `{"fal": 40}`."""
    per_minute: dict[str, PositiveFloat] = Field(default_factory=dict[str, PositiveFloat])
    own_server: bool = False
    """Set by a run that has started a Prefect server for itself."""


@contextlib.asynccontextmanager
async def slots(run_id: str, provider: str, wanted: int) -> AsyncIterator[int]:
    """Hold up to so many slots of a provider while a shard is worked on; waits until they are free."""
    if wiring.is_in_process(provider):
        yield wanted
        return
    settings, card = LimitSettings(), load(ProviderCard, provider)
    limit = settings.in_flight.get(provider, card.in_flight)
    held = contextlib.nullcontext()
    if not settings.own_server:
        limit = await shared_limit(name_of(provider), limit)
        held = concurrency(
            name_of(provider),
            occupy=min(wanted, limit),
            lease_duration=LEASE_S,
            strict=True,
            raise_on_lease_renewal_failure=False,
        )
    count = min(wanted, limit)
    async with held:
        per_minute = settings.per_minute.get(provider, card.per_minute)
        if per_minute is not None:
            share = per_minute * count / limit
            # In steps of a second or longer, so that a minute's calls do not all begin in its first moment.
            rate = max(1.0, share / 60)
            gate(run_id, provider).pace = AsyncLimiter(rate, 60 * rate / share)
        yield count


@contextlib.asynccontextmanager
async def slots_of_all(run_id: str, providers: Iterable[str], wanted: int) -> AsyncIterator[int]:
    """Hold slots of several providers; always in one order, so that no two shards wait for each other."""
    count = wanted
    async with contextlib.AsyncExitStack() as held:
        for provider in sorted(set(providers)):
            count = min(count, await held.enter_async_context(slots(run_id, provider, count)))
        yield count


def name_of(provider: str) -> str:
    """The name of a provider's global concurrency limit."""
    return f"facedrift-{provider}"


async def shared_limit(name: str, wanted: int) -> int:
    """The limit as the server has it, made if it is not there; what an operator has set there stays."""
    async with get_client() as client:
        try:
            return max(1, (await client.read_global_concurrency_limit_by_name(name)).limit)
        except ObjectNotFound:
            pass
        try:
            await client.create_global_concurrency_limit(
                GlobalConcurrencyLimitCreate(name=name, limit=wanted, active=True)
            )
        except ObjectAlreadyExists:
            return (await client.read_global_concurrency_limit_by_name(name)).limit
        return wanted
