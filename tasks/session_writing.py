"""Having a set of sessions written: what is asked next follows from what is in the store, and nothing else.

A question is known by who is asked, what was drawn, the words of the earlier steps and the number of the
ask. Its answer is stored before the next one is asked for, bad answers too, so that whatever was interrupted
goes on where it was, and a re-run pays for nothing twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from prefect import task

from adapters.base import ObjectStore, SessionWriter
from adapters.judges import local_writer
from domain import keys
from domain.judge_cards import JudgeCard, JudgeRole
from domain.judging import InvalidAnswerError
from domain.records import JudgeIdentity
from domain.requests import WriteSessionsRequest
from domain.session_draws import DrawnSession, draw_sessions
from domain.session_writing import (
    InstructionAnswer,
    InstructionIdentity,
    SessionsMissing,
    Unwritten,
    read_instruction,
)
from domain.sessions import Instruction, Session
from domain.taxonomy import Taxonomy
from tasks import gates, ledger, policies, wiring, writers
from tasks.definitions import load
from tasks.threads import in_thread

ROLE: JudgeRole = "sessions"


@dataclass(frozen=True)
class Writing:
    """A request with all that it names."""

    request: WriteSessionsRequest
    taxonomy: Taxonomy
    card: JudgeCard
    writer: JudgeIdentity
    drawn: tuple[DrawnSession, ...]


@dataclass(frozen=True)
class Followed:
    """How far a session is written, by stored answers."""

    steps: tuple[Instruction, ...]
    next: InstructionIdentity | None
    """What is to be asked now; None when the session is over."""
    unwritten: Unwritten | None = None
    """Why it is over without being whole."""
    served: frozenset[str] = frozenset()
    """Versions that answered."""


def resolve(request: WriteSessionsRequest) -> Writing:
    """Load what a request names and draw its sessions; raises DefinitionError."""
    taxonomy, card = load(Taxonomy, request.taxonomy), load(JudgeCard, request.writer)
    drawn = draw_sessions(
        taxonomy,
        request.test_sets,
        steps=request.steps,
        seed=request.seed,
        keep_share=request.keep_share,
    )
    return Writing(request, taxonomy, card, writer_identity(card, taxonomy, rehearse=request.rehearse), drawn)


def writer_identity(card: JudgeCard, taxonomy: Taxonomy, *, rehearse: bool = False) -> JudgeIdentity:
    """What a writer's answers will carry; raises DefinitionError for a card without such a prompt."""
    about = f"{taxonomy.id}@{taxonomy.version}"
    return writers.identity(card, ROLE, about, local_writer.VERSION, rehearse=rehearse)


def follow(writing: Writing, drawn: DrawnSession, store: ObjectStore) -> Followed:
    """Read a session's stored answers, up to the first one that is missing."""
    steps: list[Instruction] = []
    served: set[str] = set()
    for number, step in enumerate(drawn.steps, 1):
        prompts, problem = tuple(done.prompt for done in steps), None
        for ask in range(1, writing.request.max_asks + 1):
            identity = InstructionIdentity(
                writer=writing.writer,
                seed=writing.request.seed,
                session=drawn.id,
                drawn=drawn.steps[:number],
                prompts=prompts,
                ask=ask,
                last_problem=problem,
            )
            answer = ledger.read(store, answer_key(identity), InstructionAnswer)
            if answer is None:
                return Followed(tuple(steps), identity, served=frozenset(served))
            served |= {answer.served_version} if answer.served_version else set()
            if answer.instruction is not None:
                steps.append(Instruction(prompt=answer.instruction, **step.model_dump()))
                break
            problem = answer.problem
        else:
            text = f"none of {writing.request.max_asks} answers can be used; the last: {problem}"
            unwritten = Unwritten(session=drawn.id, step=number, problem=text)
            return Followed(tuple(steps), None, unwritten, frozenset(served))
    return Followed(tuple(steps), None, served=frozenset(served))


def as_session(drawn: DrawnSession, followed: Followed) -> Session:
    """A session whose every step is written."""
    return Session(id=drawn.id, test_set=drawn.test_set, steps=followed.steps)


def answer_key(identity: InstructionIdentity) -> str:
    """Where the answer to a question is stored."""
    return keys.instruction(keys.fingerprint(identity.writer), identity.key)


def ask_once(
    identity: InstructionIdentity, writer: SessionWriter, taxonomy: Taxonomy, store: ObjectStore
) -> InstructionAnswer:
    """Ask one question and store the answer, unless it is stored; what comes back is what is stored."""
    key = answer_key(identity)
    found = ledger.read(store, key, InstructionAnswer)
    if found is not None:
        return found
    wanted = identity.wanted(taxonomy)
    reply = writer.write_instruction(wanted)
    instruction = problem = None
    try:
        instruction = read_instruction(reply.raw_text, wanted, taxonomy)
    except InvalidAnswerError as error:
        problem = str(error) if reply.raw_text else f"no text came back ({reply.finish_reason})"
    answer = InstructionAnswer(
        key=identity.key,
        identity=identity,
        raw_text=reply.raw_text,
        instruction=instruction,
        problem=problem,
        served_version=reply.served_version,
        finish_reason=reply.finish_reason,
        cost_usd=reply.cost_usd,
        usage=dict(reply.usage),
    )
    if ledger.write_new(store, key, answer):
        return answer
    return ledger.read(store, key, InstructionAnswer) or answer  # another process was quicker


@task(task_run_name="ask for {identity.session}, ask {identity.ask}", **policies.MEASURE)
async def ask_writer(run_id: str, request: WriteSessionsRequest, identity: InstructionIdentity) -> bool:
    """One question to the writer of a set; returns whether the answer can be used."""
    card = load(JudgeCard, request.writer)
    async with gates.call(run_id, card.provider):
        return await in_thread(_ask_writer, run_id, card, request, identity)


def _ask_writer(
    run_id: str, card: JudgeCard, request: WriteSessionsRequest, identity: InstructionIdentity
) -> bool:
    taxonomy, store = load(Taxonomy, request.taxonomy), wiring.store()
    writer = wiring.session_writer(card, taxonomy, rehearse=request.rehearse)
    gate = gates.gate(run_id, card.provider)
    answer = writers.counted(gate, card, lambda: ask_once(identity, writer, taxonomy, store))
    return answer.instruction is not None


async def count_missing(request: WriteSessionsRequest) -> SessionsMissing:
    """What is to be done for a request, by the answers in the store; asks nobody."""
    return await in_thread(missing_of, request)


def missing_of(request: WriteSessionsRequest) -> SessionsMissing:
    """As `count_missing`, for who does not wait on an event loop."""
    writing, store = resolve(request), wiring.store()
    followed = [follow(writing, drawn, store) for drawn in writing.drawn]
    missing = sum(request.steps - len(found.steps) for found in followed if found.next)
    longest = max((request.steps - len(found.steps) for found in followed if found.next), default=0)
    latency_s = writing.card.typical_latency_s
    return SessionsMissing(
        set_id=request.set_id,
        sessions=len(writing.drawn),
        instructions=len(writing.drawn) * request.steps,
        missing=missing,
        price_usd=writing.card.price_usd,
        cost_usd=missing * writing.card.price_usd,
        seconds=max(longest, missing / request.concurrency) * latency_s,
        unwritten=tuple(found.unwritten for found in followed if found.unwritten),
    )


async def check_writer(request: WriteSessionsRequest) -> None:
    """Raise an error that says what to mend unless the writer can be called; costs nothing."""
    await in_thread(_check_writer, resolve(request))


def _check_writer(writing: Writing) -> None:
    card, rehearse = writing.card, writing.request.rehearse
    build = partial(wiring.session_writer, card, writing.taxonomy, rehearse=rehearse)
    writers.check(card, build, rehearse=rehearse)
