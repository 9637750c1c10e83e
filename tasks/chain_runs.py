"""Drafting many chains at a time, within a budget; a photo that fails keeps no other from being drafted."""

from __future__ import annotations

import asyncio

from domain.chain_drafting import DraftChain, DraftIdentity, DraftsWritten, Undrafted, chain_of
from domain.photos import Photo
from domain.requests import DraftChainsRequest
from tasks import wiring
from tasks.asking import Asker
from tasks.chain_drafting import Drafting, Followed, ask_writer, follow, resolve
from tasks.limits import slots
from tasks.threads import in_thread


async def draft_missing(request: DraftChainsRequest) -> DraftsWritten:
    """Ask for every chain that is missing; chains come back in the order of the photos."""
    run = _Run(await in_thread(resolve, request))
    waiting = iter(run.drafting.photos)

    async def work() -> None:
        for photo in waiting:
            await run.draft(photo)

    async with slots(run.asker.id, run.drafting.card.provider, request.concurrency) as at_once:
        await asyncio.gather(*(work() for _ in range(at_once)))
    return run.written()


class _Run:
    """One run of a request."""

    def __init__(self, drafting: Drafting) -> None:
        self.drafting = drafting
        self.asker = Asker("chains", drafting.card, drafting.request.max_cost_usd, len(drafting.photos))
        self._chains: dict[str, DraftChain] = {}
        self._kept_out: dict[str, Undrafted] = {}
        self._failed: dict[str, Undrafted] = {}
        self._served: set[str] = set()

    async def draft(self, photo: Photo) -> None:
        """Bring the chain of one photo as far as it goes."""
        followed, error = await self._follow(photo), self.asker.stopped
        while followed.next is not None and error is None:
            error = await self._ask(photo, followed.next)
            followed = await self._follow(photo)
        self._served |= followed.served
        if followed.draft is not None:
            self._chains[photo.id] = chain_of(photo.id, followed.draft, photo.groups)
        elif followed.kept_out is not None:
            self._kept_out[photo.id] = followed.kept_out
        else:
            name = type(error).__name__
            self._failed[photo.id] = Undrafted(photo=photo.id, problem=str(error), error=name)
        await self.asker.count(failed=photo.id not in self._chains)

    async def _ask(self, photo: Photo, question: DraftIdentity) -> BaseException | None:
        request, run_id = self.drafting.request, self.asker.id
        return await self.asker.ask(
            lambda: ask_writer(run_id, request, photo.id, photo.extension, question, return_state=True)
        )

    async def _follow(self, photo: Photo) -> Followed:
        return await in_thread(follow, self.drafting, photo, wiring.store())

    def written(self) -> DraftsWritten:
        """What came of it."""
        ids = [photo.id for photo in self.drafting.photos]
        return DraftsWritten(
            chains=tuple(self._chains[name] for name in ids if name in self._chains),
            asked=self.asker.asked,
            bad=self.asker.bad,
            cost_usd=self.asker.cost_usd,
            kept_out=tuple(self._kept_out[name] for name in ids if name in self._kept_out),
            failed=tuple(self._failed[name] for name in ids if name in self._failed),
            notices=tuple(self.asker.notices(self._served)),
        )
