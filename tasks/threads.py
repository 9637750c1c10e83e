"""Blocking work off the event loop, on threads enough for every call that waits on a network."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

MAX_THREADS = 256


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(MAX_THREADS, thread_name_prefix="facedrift")


async def in_thread(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a blocking function on a thread and await it; asyncio's own pool has only a handful."""
    context = contextvars.copy_context()
    call = partial(context.run, partial(function, *args, **kwargs))
    return await asyncio.get_running_loop().run_in_executor(_pool(), call)
