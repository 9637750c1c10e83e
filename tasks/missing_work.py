"""What a run still has to do: of each model the steps, of each judge the answers, and the shards."""

from __future__ import annotations

from itertools import groupby, islice

import polars as pl

from adapters.base import ObjectStore
from domain.judge_cards import JudgeCard
from domain.model_cards import ModelCard
from domain.plan import Chain, StepPlan
from domain.runs import Missing, Shard
from tasks.histories import History
from tasks.unmeasured import Unmeasured


def missing(history: History, store: ObjectStore, only: tuple[Chain, ...] = ()) -> Missing:
    """Sum up what is left to do, of some chains where they are named."""
    run, unfinished = history.run, _open(history, only)
    left = _steps_missing(history, unfinished)
    answers = _answers_missing(history, store, sum(left.values()))
    judges = {card.id: card for card in (run.judge_card, run.tracker_card)}
    calls: list[tuple[ModelCard | JudgeCard, int]] = [
        (run.card[model], steps) for model, steps in left.items()
    ]
    calls += [(judges[name], count) for name, count in answers.items()]
    stopped = 0 if only else history.steps["image_sha256"].null_count()
    chains = len(only) or history.chains
    return Missing(
        chains=chains,
        complete=chains - unfinished.height - stopped,
        stopped=stopped,
        unfinished=unfinished.height,
        steps_missing=left,
        answers_missing=answers,
        cost_usd=sum(card.price_usd * count for card, count in calls),
        seconds=sum(card.typical_latency_s * count for card, count in calls) / run.request.concurrency,
    )


def _open(history: History, only: tuple[Chain, ...]) -> pl.DataFrame:
    if not only:
        return history.open
    return history.open.filter(pl.col("chain").is_in(list(_numbers(history, only))))


def _numbers(history: History, chains: tuple[Chain, ...]) -> frozenset[int]:
    return frozenset(number for number in map(history.number, chains) if number is not None)


def _steps_missing(history: History, unfinished: pl.DataFrame) -> dict[str, int]:
    """Of each model, at most: a chain may stop before its last step."""
    run = history.run
    chain = unfinished["chain"].cast(pl.Int64)
    if chain.is_empty():
        return {card.id: 0 for card in run.cards}
    lengths = pl.Series([len(session.steps) for session in run.sessions])
    left = pl.DataFrame(
        {
            "model": chain // history.chains_of_a_model,
            "left": lengths.gather(chain % len(run.sessions)) - unfinished["step"] + 1,
        }
    )
    sums = dict(left.group_by("model").agg(pl.col("left").sum()).iter_rows())
    return {card.id: int(sums.get(at, 0)) for at, card in enumerate(run.cards)}


def _answers_missing(history: History, store: ObjectStore, edits: int) -> dict[str, int]:
    """Of each judge that costs something, the answers that the run needs at most."""
    run, left, answers = history.run, Unmeasured(history, store), dict[str, int]()
    if run.judge_card.price_usd > 0:
        answers[run.judge_card.id] = len(left.edits) + edits
    if run.tracker_card.price_usd > 0:
        name = run.tracker_card.id
        answers[name] = answers.get(name, 0) + len(left.states) + edits
    return answers


def shards(history: History, only: tuple[Chain, ...] = ()) -> list[Shard]:
    """The chains that are not over, or of these only some, in shards of one model each."""
    among = _numbers(history, only) if only else None
    parts: list[tuple[StepPlan, ...]] = []
    for _, group in groupby(history.next_steps(among), key=lambda step: step.chain.model):
        while part := tuple(islice(group, history.run.suite.shard_chains)):
            parts.append(part)
    return [Shard(number=number, steps=part) for number, part in enumerate(parts, 1)]
