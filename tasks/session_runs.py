"""Writing many sessions at a time, within a budget; one that fails keeps no other from being written."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from uuid import uuid4

from domain.errors import FacedriftError, FatalError, QuotaError
from domain.requests import WriteSessionsRequest
from domain.session_draws import DrawnSession
from domain.session_writing import InstructionIdentity, SessionsWritten, Unwritten
from domain.sessions import Session
from tasks import gates, wiring
from tasks.budget import Budget
from tasks.limits import slots
from tasks.progress import Progress
from tasks.run_states import ended, error_of
from tasks.session_writing import Followed, Writing, as_session, ask_writer, follow, resolve
from tasks.threads import in_thread


async def write_missing(request: WriteSessionsRequest) -> SessionsWritten:
    """Ask for every instruction that is missing; sessions come back in the order in which they were drawn."""
    run = _Run(resolve(request))
    waiting = iter(run.writing.drawn)

    async def work() -> None:
        for drawn in waiting:
            await run.write(drawn)

    async with slots(run.id, run.writing.card.provider, request.concurrency) as at_once:
        await asyncio.gather(*(work() for _ in range(at_once)))
    return run.written()


class _Run:
    """One run of a request."""

    def __init__(self, writing: Writing) -> None:
        self.id = f"sessions-{uuid4().hex[:12]}"  # the gates of a later run are not those of this one
        self.writing = writing
        self._gate = gates.gate(self.id, writing.card.provider)
        self._budget = Budget(writing.request.max_cost_usd)
        self._progress = Progress("sessions", len(writing.drawn))
        self._sessions: dict[str, Session] = {}
        self._unwritten: dict[str, Unwritten] = {}
        self._served: set[str] = set()
        self._stopped: FacedriftError | None = None
        """The error that every further call would meet."""
        self._asked = self._bad = 0

    async def write(self, drawn: DrawnSession) -> None:
        """Bring one session as far as it goes."""
        followed, error = await self._follow(drawn), self._stopped
        while followed.next is not None and error is None:
            error = await self._ask(followed.next)
            followed = await self._follow(drawn)
        self._served |= followed.served
        if followed.next is not None:
            step, name = len(followed.steps) + 1, type(error).__name__
            self._unwritten[drawn.id] = Unwritten(session=drawn.id, step=step, problem=str(error), error=name)
        elif followed.unwritten is not None:
            self._unwritten[drawn.id] = followed.unwritten
        else:
            self._sessions[drawn.id] = as_session(drawn, followed)
        spent_usd = self._gate.asked_usd - self._progress.cost_usd
        await self._progress.add(failed=int(drawn.id in self._unwritten), cost_usd=spent_usd)

    async def _ask(self, question: InstructionIdentity) -> BaseException | None:
        """Have one question answered and the answer stored; returns why that came to nothing."""
        price_usd = self.writing.card.price_usd
        self._budget.spent_usd = self._gate.asked_usd
        if self._stopped is None and not self._budget.reserve(price_usd):
            self._stopped = self._budget.error("answer", price_usd)
        if self._stopped is not None:
            return self._stopped
        state = await ended(ask_writer(self.id, self.writing.request, question, return_state=True))
        self._budget.settle(price_usd, 0.0)
        error = await error_of(state)
        if error is None:
            self._asked += 1
            self._bad += not await state.aresult()
        if isinstance(error, FatalError | QuotaError):
            self._stopped = error
        return error

    async def _follow(self, drawn: DrawnSession) -> Followed:
        return await in_thread(follow, self.writing, drawn, wiring.store())

    def written(self) -> SessionsWritten:
        """What came of it."""
        ids = [drawn.id for drawn in self.writing.drawn]
        return SessionsWritten(
            sessions=tuple(self._sessions[name] for name in ids if name in self._sessions),
            asked=self._asked,
            bad=self._bad,
            cost_usd=self._gate.asked_usd,
            unwritten=tuple(self._unwritten[name] for name in ids if name in self._unwritten),
            notices=tuple(self._notices()),
        )

    def _notices(self) -> Iterator[str]:
        card = self.writing.card
        others = sorted(self._served - {card.endpoint, *card.served_as})
        if others and not wiring.is_in_process(card.provider):
            yield f"{card.id} was asked for as {card.endpoint}, and {', '.join(others)} answered"
