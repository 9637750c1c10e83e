"""Asking judges and trackers, within a bound, and keeping every answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from prefect import task
from pydantic import BaseModel, ConfigDict

from adapters.base import Judge, ObjectStore, StateTracker
from adapters.registry import AnyJudge
from domain import keys
from domain.edits import JudgeReply
from domain.errors import AmbiguousError
from domain.judge_cards import JudgeCard
from domain.judging import Checklist, InvalidAnswerError, Scores, State, parse_scores, parse_state
from domain.records import JudgeIdentity, JudgementRecord, StateRecord
from domain.taxonomy import Taxonomy
from tasks import gates, ledger, policies, wiring
from tasks.definitions import taxonomy_of
from tasks.embedding import ImageKey
from tasks.one_by_one import one_by_one
from tasks.threads import in_thread

Answer = TypeVar("Answer", Scores, State, Checklist)


class EditKey(BaseModel):
    """One edit to be judged: what went in, what came out, what was asked."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    before: ImageKey
    after: ImageKey
    prompt: str

    @property
    def key(self) -> str:
        """The content key of what the judge is shown."""
        return keys.judgement_key(self.before.sha256, self.after.sha256, self.prompt)


def ask(
    question: Callable[[], JudgeReply], parse: Callable[[str], Answer], max_asks: int
) -> tuple[Answer | None, list[JudgeReply], str | None]:
    """Ask until an answer is valid, at most `max_asks` times; every reply and the last problem come back."""
    replies: list[JudgeReply] = []
    problem: str | None = None
    for _ in range(max_asks):
        replies.append(question())
        try:
            return parse(replies[-1].raw_text), replies, None
        except InvalidAnswerError as error:
            problem = str(error)
    return None, replies, problem


def judge_edit(
    edit: EditKey, judge: Judge, identity: JudgeIdentity, store: ObjectStore, max_asks: int
) -> bool:
    """Store a judgement of an edit unless there is one; return whether the judge was asked."""
    key = keys.judgement(keys.fingerprint(identity), edit.key)
    if store.head(key) is not None:
        return False
    before = ledger.read_image(store, edit.before.sha256, edit.before.extension)
    after = ledger.read_image(store, edit.after.sha256, edit.after.extension)
    scores, replies, problem = ask(lambda: judge.score(before, after, edit.prompt), parse_scores, max_asks)
    record = JudgementRecord(
        key=edit.key,
        judge=identity,
        before_sha256=edit.before.sha256,
        after_sha256=edit.after.sha256,
        prompt=edit.prompt,
        status="scored" if scores else "unparsable",
        success=scores.success if scores else None,
        overediting=scores.overediting if scores else None,
        asks=len(replies),
        problem=problem,
        **said(replies),
    )
    ledger.write_new(store, key, record)
    return True


def track_state(
    image: ImageKey,
    tracker: StateTracker,
    identity: JudgeIdentity,
    taxonomy: Taxonomy,
    store: ObjectStore,
    max_asks: int,
) -> bool:
    """Store the state seen in an image unless it is stored; return whether the tracker was asked."""
    key = keys.state(keys.fingerprint(identity), image.sha256)
    if store.head(key) is not None:
        return False
    data = ledger.read_image(store, image.sha256, image.extension)
    seen, replies, problem = ask(
        lambda: tracker.track(data), lambda text: parse_state(text, taxonomy), max_asks
    )
    record = StateRecord(
        image_sha256=image.sha256,
        tracker=identity,
        status="tracked" if seen is not None else "unparsable",
        state=seen or {},
        asks=len(replies),
        problem=problem,
        **said(replies),
    )
    ledger.write_new(store, key, record)
    return True


def said(replies: Sequence[JudgeReply]) -> dict[str, Any]:
    """What a record keeps of all answers to one question."""
    costs = [reply.cost_usd for reply in replies]
    return {
        "raw_texts": tuple(reply.raw_text for reply in replies),
        "served_version": replies[-1].served_version,
        "finish_reasons": tuple(reply.finish_reason for reply in replies),
        "cost_usd": None if None in costs else sum(cost or 0.0 for cost in costs),
    }


@task(task_run_name="judge batch {number}", **policies.MEASURE)
async def judge_batch(run_id: str, number: int, edits: tuple[EditKey, ...]) -> int:
    """One batch of edits, named by their keys; returns how many were judged now."""
    async with gates.call(run_id, wiring.run_plan(run_id).role("judge").card.provider):
        return await in_thread(_judge_batch, run_id, edits)


def _judge_batch(run_id: str, edits: tuple[EditKey, ...]) -> int:
    run, store = wiring.run_plan(run_id), wiring.store()
    (card, identity), asks = run.role("judge"), run.suite.judges.max_asks
    judge = CountingJudge(wiring.judge(run), run.id, card)
    return one_by_one(edits, lambda edit: judge_edit(edit, judge, identity, store, asks))


@task(task_run_name="track batch {number}", **policies.MEASURE)
async def track_batch(run_id: str, number: int, images: tuple[ImageKey, ...]) -> int:
    """One batch of images, named by their keys; returns how many were tracked now."""
    async with gates.call(run_id, wiring.run_plan(run_id).role("tracker").card.provider):
        return await in_thread(_track_batch, run_id, images)


def _track_batch(run_id: str, images: tuple[ImageKey, ...]) -> int:
    run, store = wiring.run_plan(run_id), wiring.store()
    taxonomy, asks = taxonomy_of(run.suite), run.suite.judges.max_asks
    card, identity = run.role("tracker")
    tracker = CountingJudge(wiring.tracker(run), run.id, card)
    return one_by_one(images, lambda image: track_state(image, tracker, identity, taxonomy, store, asks))


class Counting:
    """Counts every answer of a judge at its price, the worthless ones too."""

    def __init__(self, run_id: str, card: JudgeCard) -> None:
        self._gate = gates.gate(run_id, card.provider)
        self._price_usd = card.price_usd

    def counted(self, ask: Callable[[], JudgeReply]) -> JudgeReply:
        """An answer; what it cost goes to the gate of its provider."""
        try:
            reply = ask()
        except AmbiguousError:
            self._gate.count_cost(self._price_usd)  # its answer is lost, and it was perhaps paid
            raise
        self._gate.count_cost(self._price_usd if reply.cost_usd is None else reply.cost_usd)
        return reply


class CountingJudge(Counting):
    """A judge whose every answer is counted."""

    def __init__(self, judge: AnyJudge, run_id: str, card: JudgeCard) -> None:
        super().__init__(run_id, card)
        self._judge = judge

    def score(self, before: bytes, after: bytes, prompt: str) -> JudgeReply:
        """The judge's scores."""
        return self.counted(lambda: self._judge.score(before, after, prompt))

    def track(self, image: bytes) -> JudgeReply:
        """The tracker's state."""
        return self.counted(lambda: self._judge.track(image))
