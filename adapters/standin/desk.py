"""What happens to a paid call at every provider: the draw, the account, the queue and the silence."""

from __future__ import annotations

import asyncio
import logging
import tempfile
import time
import uuid
from collections.abc import AsyncGenerator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import TypeVar

from starlette.requests import Request
from starlette.responses import Response

from adapters.standin import images
from adapters.standin.accounts import Accounts, open_database
from adapters.standin.faults import TURNED_AWAY, Draw, FaultName, Faults, Kind, Provider, Script, draw
from adapters.standin.forms import Forms
from adapters.standin.jobs import Blobs, Job, Jobs, Result, StoredFile
from adapters.standin.lines import HangUp
from adapters.standin.recent import Recent
from adapters.standin.wire import EXTENSIONS, Object, a_text
from adapters.standin.work import Call, Made, Order, StandinWork, make
from domain import keys

T = TypeVar("T")
_WORKERS = 2
_DISK_THREADS = 4
_PAYLOAD_BYTES = 32_000_000
"""Of pictures that one page of a history holds."""
_COUNTER_OF: dict[FaultName, str] = {"server_error": "server_errors", "hang": "hangs", "drop": "drops"}
_logger = logging.getLogger(__name__)


class Desk:
    """The stand-in's state, shared by the routes of all providers; lives in one event loop."""

    accounts: Accounts
    jobs: Jobs
    blobs: Blobs

    def __init__(
        self, work: StandinWork, faults: Faults, state: Path | None, required_key: str | None
    ) -> None:
        self.work = work
        self.faults = faults
        self.script = Script()
        self.recent = Recent()
        self.closing = asyncio.Event()
        self._state = state
        self._required_key = required_key
        self._wake = asyncio.Event()

    @asynccontextmanager
    async def opened(self) -> AsyncGenerator[None]:
        """Open the state and work on queued jobs until the end."""
        async with AsyncExitStack() as stack:
            self.closing, self._wake = asyncio.Event(), asyncio.Event()
            folder = self._state or Path(stack.enter_context(tempfile.TemporaryDirectory()))
            folder.mkdir(parents=True, exist_ok=True)
            database = stack.enter_context(open_database(folder))
            self.accounts, self.jobs = Accounts(database), Jobs(database)
            self.blobs = Blobs(folder / "blobs")
            self._disk = stack.enter_context(ThreadPoolExecutor(_DISK_THREADS, "standin-disk"))
            self._workers = stack.enter_context(ThreadPoolExecutor(_WORKERS, "standin-work"))
            workers = [asyncio.create_task(self._work_on()) for _ in range(_WORKERS)]
            for worker in workers:
                worker.add_done_callback(_mourn)
            try:
                yield
            finally:
                for worker in workers:
                    worker.cancel()
                await asyncio.wait(workers)

    def stop(self) -> None:
        """Let go of calls that hang or wait."""
        self.closing.set()

    async def in_thread(self, function: Callable[[], T]) -> T:
        """Read or write files without stopping the others."""
        return await asyncio.get_running_loop().run_in_executor(self._disk, function)

    def by_worker(self, function: Callable[[], T]) -> asyncio.Future[T]:
        """Edit or judge, after what was asked for earlier."""
        return asyncio.get_running_loop().run_in_executor(self._workers, function)

    def turned_away(self, provider: Provider, key: str | None, model: str, forms: Forms) -> Response | None:
        """The answer to a call with a wrong key or for an unknown model, or None."""
        if self._required_key is not None and key != self._required_key:
            self.accounts.count(provider, "bad_key")
            return forms.bad_key()
        return forms.missing_model(model) if model in self.faults.missing_models else None

    def aside(self, provider: Provider, kind: Kind, forms: Forms) -> Response | FaultName | None:
        """What the script sets down for a call that costs nothing; a name is a fault of the body."""
        entry = self.script.take(provider, kind)
        if entry is None or entry.fault == "ok":
            return None
        self.count_fault(provider, entry.fault)
        if entry.fault in TURNED_AWAY:
            return self._turn_away(entry.fault, forms)
        return self.silence(Draw(entry.fault, 0, 0)) or entry.fault

    def free_call(
        self, provider: Provider, kind: Kind, key: str | None, forms: Forms, model: str = ""
    ) -> Response | None:
        """The answer that a call that costs nothing gets in place of its own, or None."""
        refused = self.turned_away(provider, key, model, forms) or self.aside(provider, kind, forms)
        return refused if isinstance(refused, Response) else None

    def admit(self, request: Request, call: Call, forms: Forms) -> Draw | Response:
        """Draw what happens to a call; a response is for one that is not accepted."""
        nth = self.accounts.ask(call.identity)
        fate = draw(self.faults, call.provider, call.kind, call.identity, nth)
        scripted = self.script.take(call.provider, call.kind)
        if scripted is not None:
            fault = None if scripted.fault == "ok" else scripted.fault
            form = fate.form if scripted.form is None else scripted.form
            fate = Draw(fault, fate.latency_s, form, nth)
        self.recent.note(request, call, fate)
        if fate.fault in TURNED_AWAY:
            self.count_fault(call.provider, fate.fault)
            return self._turn_away(fate.fault, forms)
        return fate

    def accept(self, call: Call, fate: Draw) -> None:
        """Note that a call is carried out, and that an edit costs money."""
        if call.kind == "edit":
            self.accounts.pay(call.provider, call.identity, call.model, call.prompt)
        if fate.fault not in ("refused", "no_image"):  # counted when the edit ends, with those of the editor
            self.count_fault(call.provider, fate.fault)

    def _turn_away(self, fault: FaultName | None, forms: Forms) -> Response:
        if fault == "rate_limited":
            return forms.rate_limited(self.faults)
        return forms.quota() if fault == "quota" else forms.server_error()

    def count_fault(self, provider: Provider, fault: FaultName | None) -> None:
        """Add one to the counter of a fault."""
        if fault is not None:
            self.accounts.count(provider, _COUNTER_OF.get(fault, fault))

    def silence(self, fate: Draw) -> Response | None:
        """The end of a call whose answer is lost after it was accepted, or None for one that is answered."""
        if fate.fault == "hang":
            return HangUp(self.closing, after_s=self.faults.hang_s)
        return HangUp(self.closing) if fate.fault == "drop" else None

    async def edit_now(self, call: Call, fate: Draw, asked_format: str = "") -> Made:
        """Make an edit whose answer goes out on the same connection."""
        await self.pause(fate.latency_s)
        seed = _seed(call, fate)
        order = Order(call.model, call.pictures[0], call.prompt, seed, fate.fault, asked_format)
        made = await self.by_worker(lambda: make(self.work, order))
        self._count_made(call.provider, made.kind)
        if made.kind == "image" and fate.fault == "truncated":
            return Made("image", images.cut(made.data), made.content_type, "", made.width, made.height)
        return made

    async def pause(self, seconds: float) -> None:
        """Wait, but not past the end."""
        if seconds > 0:
            with suppress(TimeoutError):
                await asyncio.wait_for(self.closing.wait(), seconds)

    async def queue(self, call: Call, fate: Draw, arguments: Object, give_up_s: float | None = None) -> Job:
        """Accept an edit whose answer is fetched later."""
        now = time.time()
        takes = self.faults.hang_s if fate.fault == "stuck" else fate.latency_s
        folded = await self.in_thread(lambda: self.blobs.fold(arguments))
        picture = call.pictures[0] if call.pictures else None
        sha256 = "" if picture is None else await self.in_thread(lambda: self.blobs.put(picture))
        job = Job(
            id=str(uuid.uuid4()) if call.provider == "fal" else uuid.uuid4().hex[:26],
            provider=call.provider,
            endpoint=call.model,
            identity=call.identity,
            arguments=folded,
            prompt=call.prompt,
            image_sha256=sha256,
            seed=_seed(call, fate),
            fault=fate.fault,
            form=fate.form,
            sent_at=now,
            ready_at=now + takes,
            deadline=None if give_up_s is None else now + give_up_s,
        )
        with self.accounts.at_once():
            self.accept(call, fate)
            self.jobs.add(job)
        self._wake.set()
        return job

    async def payloads(self, jobs: Sequence[Job]) -> list[Object]:
        """The arguments of the first jobs, as many as fit on a page."""

        def unfold() -> list[Object]:
            found: list[Object] = []
            size = 0
            for job in jobs:
                found.append(self.blobs.unfold(job.arguments))
                size += sum(len(str(value)) for value in found[-1].values())
                if size > _PAYLOAD_BYTES:
                    break
            return found

        return await self.in_thread(unfold)

    async def keep(self, data: bytes, content_type: str, name: str) -> StoredFile:
        """Keep a picture under a fresh address."""
        sha256 = await self.in_thread(lambda: self.blobs.put(data))
        return self.jobs.add_file(data, sha256, content_type, name)

    async def _work_on(self) -> None:
        while True:
            job = self.jobs.claim()
            if job is None:
                self._wake.clear()
                await self._wake.wait()
            else:
                await self._finish(job)

    async def _finish(self, job: Job) -> None:
        asked_format = a_text(job.argument("output_format"))

        def carry_out() -> Made:
            if not job.image_sha256:
                return Made("unreadable", reason="the image could not be downloaded")
            picture = self.blobs.get(job.image_sha256)
            return make(
                self.work, Order(job.endpoint, picture, job.prompt, job.seed, job.fault, asked_format)
            )

        future = self.by_worker(carry_out)
        await asyncio.wait([future])
        error = future.exception()
        if error is not None:  # a bug in an editor ends its job, not the stand-in
            _logger.error("job %s of %s crashed", job.id, job.provider, exc_info=error)
        made = future.result() if error is None else Made("crashed", reason=str(error))
        has_file = made.kind in ("image", "refused")
        sha256 = await self.in_thread(lambda: self.blobs.put(made.data)) if has_file else ""
        broken = job.fault if job.fault in ("truncated", "short_body") else None
        name = f"{keys.sha256(job.id.encode())[:16]}.{EXTENSIONS.get(made.content_type, 'bin')}"
        with self.accounts.at_once():
            file = None
            if has_file:
                file = self.jobs.add_file(made.data, sha256, made.content_type, name, broken).id
            if self.jobs.end(job, Result(made.kind, file, made.width, made.height, made.reason)):
                self._count_made(job.provider, made.kind)

    def _count_made(self, provider: Provider, kind: str) -> None:
        if kind in ("unreadable", "crashed"):
            self.accounts.count(provider, "failed")
        else:
            self.accounts.count(provider, "answered", "images" if kind == "image" else kind)


def _seed(call: Call, fate: Draw) -> int:
    """The seed that was sent; of a call without one, another each time, as a model draws its own."""
    return fate.nth if call.seed is None else call.seed


def _mourn(worker: asyncio.Task[None]) -> None:
    if not worker.cancelled() and worker.exception() is not None:
        _logger.error("a worker of the stand-in died; queued jobs may wait", exc_info=worker.exception())
