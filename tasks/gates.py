"""A gate before each provider: how fast calls go through, and whether any goes through at all.

A wrong key or a used-up quota shuts the gate of that provider for the rest of the run, so that only the
calls already in flight are made; other providers go on.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from copy import copy

from aiolimiter import AsyncLimiter

from domain.errors import FatalError, ProviderError, QuotaError
from tasks.policies import RetrySettings


class Gate:
    """Of one provider in one run of this process."""

    def __init__(self) -> None:
        self.shut_by: ProviderError | None = None
        """The error that no further call can get around."""
        self.pace: AsyncLimiter | None = None
        self.lost = 0
        """Calls that may have been paid and came to nothing."""
        self.asked_usd = 0.0
        """What the answers of a judge have cost."""
        self._paused_until = 0.0
        self._counting = threading.Lock()

    def count_lost(self) -> None:
        """Count a call that may have been paid and came to nothing."""
        with self._counting:
            self.lost += 1

    def count_cost(self, cost_usd: float) -> None:
        """Count what an answer cost."""
        with self._counting:
            self.asked_usd += cost_usd

    async def enter(self) -> None:
        """Wait for this call's turn; raises the error that shut the gate."""
        while (wait_s := self._paused_until - time.monotonic()) > 0:
            await asyncio.sleep(wait_s)
        if self.pace is not None:
            await self.pace.acquire()
        if self.shut_by is not None:
            raise copy(self.shut_by)

    def note(self, error: ProviderError) -> None:
        """Shut the gate, or pause it when the provider says for how long and that can be waited for."""
        if isinstance(error, QuotaError) and pause_of(error) is not None:
            self._paused_until = time.monotonic() + (pause_of(error) or 0.0)
        elif isinstance(error, FatalError | QuotaError):
            self.shut_by = error


_GATES: dict[tuple[str, str], Gate] = {}


def gate(run_id: str, provider: str) -> Gate:
    """The gate that all calls of a run to a provider go through."""
    return _GATES.setdefault((run_id, provider), Gate())


@asynccontextmanager
async def call(run_id: str, provider: str) -> AsyncIterator[None]:
    """Around one call to a provider."""
    at = gate(run_id, provider)
    await at.enter()
    try:
        yield
    except ProviderError as error:
        at.note(error)
        raise


def pause_of(error: QuotaError) -> float | None:
    """Seconds after which the quota is said to be back, when a run can wait for that."""
    wait_s = error.retry_after_s
    return wait_s if wait_s is not None and wait_s <= RetrySettings().retry_wait_limit_s else None
