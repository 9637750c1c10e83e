"""Who is tried again, how often and after how long, and what Prefect may call cached.

The only file that decides it. Adapters classify; nothing else retries.
"""

from __future__ import annotations

import asyncio
from typing import Any, TypedDict

from prefect import Task
from prefect.cache_policies import NO_CACHE, CacheKeyFnPolicy, CachePolicy
from prefect.client.schemas.objects import State, TaskRun
from prefect.context import TaskRunContext
from pydantic import Field, NonNegativeFloat
from pydantic_settings import BaseSettings, SettingsConfigDict

from domain.errors import AmbiguousError, QuotaError, TransientError, UnresolvedError


class RetrySettings(BaseSettings):
    """How long a failed call waits before it is tried again."""

    model_config = SettingsConfigDict(env_prefix="FACEDRIFT_")

    retry_waits_s: tuple[NonNegativeFloat, ...] = Field(default=(2.0, 10.0, 30.0), max_length=10)
    """Before the first, second, … retry; the last is repeated. A provider's Retry-After wins."""
    retry_wait_limit_s: float = 300.0
    """The longest Retry-After that is waited for."""


class TaskOptions(TypedDict, total=False):
    """The options of Prefect tasks that this project uses."""

    retries: int
    retry_condition_fn: Any
    cache_policy: CachePolicy
    persist_result: bool
    result_serializer: str
    cache_result_in_memory: bool


async def is_transient(task: Task[..., Any], task_run: TaskRun, state: State[Any]) -> bool:
    """Whether a failed task run is tried again; waits here, because only the error knows for how long."""
    settings = RetrySettings()
    waits = settings.retry_waits_s or (0.0,)
    wait = waits[min(task_run.run_count, len(waits)) - 1] if task_run.run_count else waits[0]
    error = state.data
    if isinstance(error, TransientError):
        if error.retry_after_s is not None:
            wait = min(error.retry_after_s, settings.retry_wait_limit_s)
    elif isinstance(error, QuotaError):  # its gate is paused; a wait that is too long shuts it instead
        if error.retry_after_s is None or error.retry_after_s > settings.retry_wait_limit_s:
            return False
        wait = error.retry_after_s
    elif not isinstance(error, AmbiguousError) or isinstance(error, UnresolvedError):
        return False  # an ambiguous call goes through its journal again, which decides what may be resent
    await asyncio.sleep(wait)
    return True


def _step_key(_: TaskRunContext, parameters: dict[str, Any]) -> str:
    return parameters["step"].key


EDIT: TaskOptions = {
    "retries": 6,  # a provider that turns every fourth call away is met in practice
    "retry_condition_fn": is_transient,
    # The cached result *is* the stored outcome (see `tasks.result_storage`): one truth, never two.
    "cache_policy": CacheKeyFnPolicy(cache_key_fn=_step_key),
    "persist_result": True,
    "result_serializer": "json",
    "cache_result_in_memory": False,
}
"""A paid call: identified by its content key."""

MEASURE: TaskOptions = {
    "retries": 6,
    "retry_condition_fn": is_transient,
    "cache_policy": NO_CACHE,
    "persist_result": False,
}
"""Embedding, judging, tracking: each task body skips what the store already holds."""

ONCE: TaskOptions = {"retries": 0, "cache_policy": NO_CACHE, "persist_result": False}
"""Planning, scoring, publishing: quick and repeatable."""
