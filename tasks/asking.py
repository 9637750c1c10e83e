"""Asking a writer for many answers within a budget, until an error that every further call would meet."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Set
from uuid import uuid4

from domain.errors import FacedriftError, FatalError, QuotaError
from domain.judge_cards import JudgeCard
from tasks import gates, wiring
from tasks.budget import Budget
from tasks.progress import Progress
from tasks.run_states import ended, error_of


class Asker:
    """One run's questions to one writer."""

    def __init__(self, what: str, card: JudgeCard, max_cost_usd: float | None, total: int) -> None:
        self.id = f"{what}-{uuid4().hex[:12]}"  # the gates of a later run are not those of this one
        self.card = card
        self.asked = self.bad = 0
        self.stopped: FacedriftError | None = None
        """The error that every further call would meet."""
        self._gate = gates.gate(self.id, card.provider)
        self._budget = Budget(max_cost_usd)
        self._progress = Progress(what, total)

    @property
    def cost_usd(self) -> float:
        """What was asked for now, in dollars."""
        return self._gate.asked_usd

    async def ask(self, call: Callable[[], object]) -> BaseException | None:
        """Have one question answered and the answer stored; returns why that came to nothing.

        Args:
            call: Starts the task, with `return_state=True`; its result says whether the answer can be used.
        """
        price_usd = self.card.price_usd
        self._budget.spent_usd = self._gate.asked_usd
        if self.stopped is None and not self._budget.reserve(price_usd):
            self.stopped = self._budget.error("answer", price_usd)
        if self.stopped is not None:
            return self.stopped
        state = await ended(call())
        self._budget.settle(price_usd, 0.0)
        error = await error_of(state)
        if error is None:
            self.asked += 1
            self.bad += not await state.aresult()
        if isinstance(error, FatalError | QuotaError):
            self.stopped = error
        return error

    async def count(self, *, failed: bool) -> None:
        """Count one thing as done."""
        await self._progress.add(failed=int(failed), cost_usd=self.cost_usd - self._progress.cost_usd)

    def notices(self, served: Set[str]) -> Iterator[str]:
        """What is odd about who answered."""
        others = sorted(served - {self.card.endpoint, *self.card.served_as})
        if others and not wiring.is_in_process(self.card.provider):
            yield f"{self.card.id} was asked for as {self.card.endpoint}, and {', '.join(others)} answered"
