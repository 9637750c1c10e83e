"""One object a key for all threads of a process: clients are slow to make and are meant to be shared."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Shared(Generic[K, V]):
    """Makes each value once, at its first use."""

    def __init__(self) -> None:
        self._made: dict[K, V] = {}
        self._lock = threading.Lock()

    def get(self, key: K, make: Callable[[], V]) -> V:
        """The value of a key; threads that ask at the same time wait for the one that makes it."""
        with self._lock:
            if key not in self._made:
                self._made[key] = make()
            return self._made[key]
