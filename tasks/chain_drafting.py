"""Having prompt chains drafted: what is asked next follows from what is in the store, and nothing else.

A question is known by who is asked, the photo's bytes, how many prompts are wanted, what was wrong with the
answer before, and the number of the ask. Its answer is stored word for word before the next one is asked for,
so that nothing is paid for twice. Whether it can be used is decided anew each time, by the rules of today.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from prefect import task

from adapters.base import ChainWriter, ObjectStore
from adapters.judges import local_chains
from domain import keys
from domain.chain_drafting import (
    Draft,
    DraftAnswer,
    DraftIdentity,
    DraftsMissing,
    Undrafted,
    read_draft,
)  # fmt: skip
from domain.judge_cards import JudgeCard, JudgeRole
from domain.judging import InvalidAnswerError
from domain.photos import Photo
from domain.records import JudgeIdentity
from domain.requests import DraftChainsRequest
from tasks import gates, ledger, policies, wiring, writers
from tasks.chain_photos import base_photos
from tasks.definitions import load
from tasks.threads import in_thread
from tasks.writer_wiring import chain_writer

ROLE: JudgeRole = "chains"


@dataclass(frozen=True)
class Drafting:
    """A request with all that it names."""

    request: DraftChainsRequest
    card: JudgeCard
    writer: JudgeIdentity
    photos: tuple[Photo, ...]


@dataclass(frozen=True)
class Followed:
    """How far the chain of a photo is, by stored answers."""

    draft: Draft | None
    next: DraftIdentity | None = None
    """What is to be asked now; None when the photo is over."""
    kept_out: Undrafted | None = None
    """Why it is over without a draft."""
    served: frozenset[str] = frozenset()
    """Versions that answered."""


def resolve(request: DraftChainsRequest) -> Drafting:
    """Load what a request names; raises DefinitionError."""
    card = load(JudgeCard, request.writer)
    writer = writers.identity(card, ROLE, "none", local_chains.VERSION, rehearse=request.rehearse)
    return Drafting(request, card, writer, base_photos(request.dataset, request.photos))


def follow(drafting: Drafting, photo: Photo, store: ObjectStore) -> Followed:
    """Read a photo's stored answers, up to the first one that can be used or is missing."""
    served: set[str] = set()
    problem = None
    for ask in range(1, drafting.request.max_asks + 1):
        identity = DraftIdentity(
            writer=drafting.writer,
            image_sha256=photo.image_sha256,
            steps=drafting.request.steps,
            ask=ask,
            last_problem=problem,
        )
        answer = ledger.read(store, answer_key(identity), DraftAnswer)
        if answer is None:
            return Followed(None, identity, served=frozenset(served))
        served |= {answer.served_version} if answer.served_version else set()
        try:
            return Followed(read(answer), served=frozenset(served))
        except InvalidAnswerError as error:
            problem = str(error)
    text = f"none of {drafting.request.max_asks} answers can be used; the last: {problem}"
    return Followed(None, None, Undrafted(photo=photo.id, problem=text), frozenset(served))


def read(answer: DraftAnswer) -> Draft:
    """The draft of an answer; raises InvalidAnswerError."""
    if not answer.raw_text:
        raise InvalidAnswerError(f"no text came back ({answer.finish_reason})")
    return read_draft(answer.raw_text, answer.identity.steps)


def answer_key(identity: DraftIdentity) -> str:
    """Where the answer to a question is stored."""
    return keys.draft(keys.fingerprint(identity.writer), identity.key)


def ask_once(identity: DraftIdentity, image: bytes, writer: ChainWriter, store: ObjectStore) -> DraftAnswer:
    """Ask one question and store the answer, unless it is stored; what comes back is what is stored."""
    key = answer_key(identity)
    found = ledger.read(store, key, DraftAnswer)
    if found is not None:
        return found
    reply = writer.draft_chain(image, identity.wanted)
    answer = DraftAnswer(
        key=identity.key,
        identity=identity,
        raw_text=reply.raw_text,
        served_version=reply.served_version,
        finish_reason=reply.finish_reason,
        cost_usd=reply.cost_usd,
        usage=dict(reply.usage),
    )
    if ledger.write_new(store, key, answer):
        return answer
    return ledger.read(store, key, DraftAnswer) or answer  # another process was quicker


@task(task_run_name="ask about {photo}, ask {identity.ask}", **policies.MEASURE)
async def ask_writer(
    run_id: str, request: DraftChainsRequest, photo: str, extension: str, identity: DraftIdentity
) -> bool:
    """One question to the writer of chains; returns whether the answer can be used."""
    card = load(JudgeCard, request.writer)
    async with gates.call(run_id, card.provider):
        return await in_thread(_ask_writer, run_id, card, extension, identity, rehearse=request.rehearse)


def _ask_writer(
    run_id: str, card: JudgeCard, extension: str, identity: DraftIdentity, *, rehearse: bool
) -> bool:
    store, writer = wiring.store(), chain_writer(card, rehearse=rehearse)
    image = ledger.read_image(store, identity.image_sha256, extension)
    gate = gates.gate(run_id, card.provider)
    answer = writers.counted(gate, card, lambda: ask_once(identity, image, writer, store))
    try:
        read(answer)
    except InvalidAnswerError:
        return False
    return True


async def count_drafts(request: DraftChainsRequest) -> DraftsMissing:
    """What is to be done for a request, by the answers in the store; asks nobody."""
    return await in_thread(missing_of, request)


def missing_of(request: DraftChainsRequest) -> DraftsMissing:
    """As `count_drafts`, for who does not wait on an event loop."""
    drafting, store = resolve(request), wiring.store()
    followed = [follow(drafting, photo, store) for photo in drafting.photos]
    missing = sum(found.next is not None for found in followed)
    rounds = -(-missing // request.concurrency)
    return DraftsMissing(
        set_id=request.set_id,
        photos=len(drafting.photos),
        missing=missing,
        price_usd=drafting.card.price_usd,
        cost_usd=missing * drafting.card.price_usd,
        seconds=rounds * drafting.card.typical_latency_s,
        kept_out=tuple(found.kept_out for found in followed if found.kept_out),
    )


async def check_drafter(request: DraftChainsRequest) -> None:
    """Raise an error that says what to mend unless the writer can be called; costs nothing."""
    card = load(JudgeCard, request.writer)
    build = partial(chain_writer, card, rehearse=request.rehearse)
    await in_thread(partial(writers.check, card, build, rehearse=request.rehearse))
