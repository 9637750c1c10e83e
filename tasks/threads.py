"""Blocking work off the event loop, on threads enough for every call that waits on a network."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from itertools import chain, islice
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
S = TypeVar("S")

MAX_THREADS = 256
LOOKUPS = 32
"""Reads of a store at the same time: what a client of S3 keeps connections for."""
CHUNK = 16


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(MAX_THREADS, thread_name_prefix="facedrift")


async def in_thread(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a blocking function on a thread and await it; asyncio's own pool has only a handful."""
    context = contextvars.copy_context()
    call = partial(context.run, partial(function, *args, **kwargs))
    return await asyncio.get_running_loop().run_in_executor(_pool(), call)


def on_threads(function: Callable[[S], T], items: Iterable[S]) -> list[T]:
    """A blocking function of every item, many at the same time; results in order, the first error raised."""
    items = list(items)
    if len(items) < 2:
        return [function(item) for item in items]
    rest = iter(items)
    size = min(CHUNK, -(-len(items) // LOOKUPS))
    chunks = iter(lambda: tuple(islice(rest, size)), ())
    pool = ThreadPoolExecutor(LOOKUPS, thread_name_prefix="facedrift-lookup")
    try:
        found = [pool.submit(lambda part: [function(item) for item in part], part) for part in chunks]
        return list(chain.from_iterable(future.result() for future in found))
    finally:
        pool.shutdown(cancel_futures=True)
