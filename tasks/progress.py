"""How far long work has come: count, rate, failures, cost and time left, in the log and as an artifact."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable
from uuid import UUID

from prefect.artifacts import acreate_progress_artifact, aupdate_progress_artifact
from prefect.context import FlowRunContext

logger = logging.getLogger("facedrift.progress")

EVERY_S = 5.0
"""Seconds between two lines of the log."""
ARTIFACT_EVERY_S = 15.0


class Progress:
    """Counts finished units of one kind of work; a total of None is not known beforehand."""

    def __init__(self, what: str, total: int | None, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.what = what
        self.total = total
        self.done = 0
        self.failed = 0
        self.cost_usd = 0.0
        self._clock = clock
        self._started = self._said = self._shown = clock()
        self._artifact: UUID | None = None

    async def add(self, count: int = 1, *, failed: int = 0, cost_usd: float = 0.0) -> None:
        """Count finished units, and say so when it is time, in the log and in Prefect's UI."""
        self.count(count, failed=failed, cost_usd=cost_usd)
        now = self._clock()
        if count and (now - self._shown >= ARTIFACT_EVERY_S or (self._artifact and self._is_done)):
            self._shown = now
            await self._show()

    def count(self, count: int = 1, *, failed: int = 0, cost_usd: float = 0.0) -> None:
        """Count finished units, and say so in the log when it is time."""
        if not count:
            return
        self.done += count
        self.failed += failed
        self.cost_usd += cost_usd
        now = self._clock()
        if now - self._said >= EVERY_S or self._is_done:
            self._said = now
            logger.info(self.line())

    @property
    def _is_done(self) -> bool:
        return self.total is not None and self.done >= self.total

    def line(self) -> str:
        """The state of the work in one line."""
        elapsed = max(self._clock() - self._started, 1e-9)
        rate = self.done / elapsed
        of = "" if self.total is None else f"/{self.total}"
        parts = [f"{self.what} {self.done}{of}", f"{rate:.1f}/s"]
        if self.failed:
            parts.append(f"{self.failed} failed")
        if self.cost_usd:
            parts.append(f"${self.cost_usd:.2f}")
        if self.total is not None and self.done < self.total and rate > 0:
            parts.append(f"{_span((self.total - self.done) / rate)} left")
        return " · ".join(parts)

    async def _show(self) -> None:
        if FlowRunContext.get() is None:
            return
        percent = 100.0 * self.done / self.total if self.total else 100.0
        if self._artifact is None:
            self._artifact = await acreate_progress_artifact(
                percent, key=artifact_key("progress", self.what), description=self.line()
            )
        else:
            await aupdate_progress_artifact(self._artifact, percent, description=self.line())


def artifact_key(kind: str, name: str) -> str:
    """A key that Prefect takes: lowercase letters, digits and dashes only, which ids need not be."""
    return re.sub(r"[^a-z0-9]+", "-", f"{kind}-{name}".lower()).strip("-")


def _span(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02d} min"
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"
