"""Keeping the latest few results of a costly look at an image."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from hashlib import sha256
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Bounded(Generic[K, V]):
    """The latest few results of a costly function, shared by threads."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._kept: OrderedDict[K, V] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: K, make: Callable[[], V]) -> V:
        """The kept value, or a new one; two threads may both make it, and both get the same."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        value = make()
        with self._lock:
            value = self._kept.setdefault(key, value)
            while len(self._kept) > self._size:
                self._kept.popitem(last=False)
        return value


def digest(data: bytes) -> str:
    """The key of some bytes in a `Bounded`."""
    return sha256(data).hexdigest()
