"""How a task run or subflow ended, as a value: nothing is raised and nothing is lost."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any, cast

from prefect.client.schemas.objects import State


async def ended(run: object) -> State[Any]:
    """Await a call made with `return_state=True`; Prefect's annotations deny that it can be awaited."""
    return await cast(Awaitable[State[Any]], run)


async def error_of(state: State[Any]) -> BaseException | None:
    """The error that a run ended with, or None."""
    if state.is_completed():
        return None
    error = await state.aresult(raise_on_failure=False)
    return error if isinstance(error, BaseException) else RuntimeError(f"{state.name}: {state.message}")
