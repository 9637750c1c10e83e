"""Writing many sessions at a time, within a budget; one that fails keeps no other from being written."""

from __future__ import annotations

import asyncio

from domain.requests import WriteSessionsRequest
from domain.session_draws import DrawnSession
from domain.session_writing import InstructionIdentity, SessionsWritten, Unwritten
from domain.sessions import Session
from tasks import wiring
from tasks.asking import Asker
from tasks.limits import slots
from tasks.session_writing import Followed, Writing, as_session, ask_writer, follow, resolve
from tasks.threads import in_thread


async def write_missing(request: WriteSessionsRequest) -> SessionsWritten:
    """Ask for every instruction that is missing; sessions come back in the order in which they were drawn."""
    run = _Run(resolve(request))
    waiting = iter(run.writing.drawn)

    async def work() -> None:
        for drawn in waiting:
            await run.write(drawn)

    async with slots(run.asker.id, run.writing.card.provider, request.concurrency) as at_once:
        await asyncio.gather(*(work() for _ in range(at_once)))
    return run.written()


class _Run:
    """One run of a request."""

    def __init__(self, writing: Writing) -> None:
        self.writing = writing
        self.asker = Asker("sessions", writing.card, writing.request.max_cost_usd, len(writing.drawn))
        self._sessions: dict[str, Session] = {}
        self._unwritten: dict[str, Unwritten] = {}
        self._served: set[str] = set()

    async def write(self, drawn: DrawnSession) -> None:
        """Bring one session as far as it goes."""
        followed, error = await self._follow(drawn), self.asker.stopped
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
        await self.asker.count(failed=drawn.id in self._unwritten)

    async def _ask(self, question: InstructionIdentity) -> BaseException | None:
        request, run_id = self.writing.request, self.asker.id
        return await self.asker.ask(lambda: ask_writer(run_id, request, question, return_state=True))

    async def _follow(self, drawn: DrawnSession) -> Followed:
        return await in_thread(follow, self.writing, drawn, wiring.store())

    def written(self) -> SessionsWritten:
        """What came of it."""
        ids = [drawn.id for drawn in self.writing.drawn]
        return SessionsWritten(
            sessions=tuple(self._sessions[name] for name in ids if name in self._sessions),
            asked=self.asker.asked,
            bad=self.asker.bad,
            cost_usd=self.asker.cost_usd,
            unwritten=tuple(self._unwritten[name] for name in ids if name in self._unwritten),
            notices=tuple(self.asker.notices(self._served)),
        )
