"""What a run still has to do: of each model the steps, of each judge the answers, and the shards."""

from __future__ import annotations

from collections import Counter
from itertools import groupby, islice

import polars as pl

from adapters.base import ObjectStore
from domain.judge_cards import JudgeCard
from domain.model_cards import ModelCard
from domain.plan import Chain, StepPlan
from domain.runs import Missing, Shard
from tasks.histories import IS_MADE, History
from tasks.unmeasured import Unmeasured


def missing(history: History, store: ObjectStore, only: tuple[Chain, ...] = ()) -> Missing:
    """Sum up what is left to do, of some chains where they are named."""
    run, unfinished = history.run, _open(history, only)
    steps = _steps_left(history, unfinished)
    left = _edits_missing(history, steps)
    answers = _answers_missing(history, store, steps)
    judges = {card.id: card for card in run.judge_cards}
    calls: list[tuple[ModelCard | JudgeCard, int]] = [
        (run.card[model], steps) for model, steps in left.items()
    ]
    calls += [(judges[name], count) for name, count in answers.items()]
    is_last = pl.col("attempt") == run.suite.steps.attempts
    stopped = 0 if only else history.steps.filter(is_last & ~IS_MADE).height
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


def _steps_left(history: History, unfinished: pl.DataFrame) -> pl.DataFrame:
    """Of each chain that is not over its `model`, and at most the `steps`, `tries` and `edits` to come.

    A chain may stop before its last step, and a step may need fewer attempts.
    """
    run = history.run
    chain = unfinished["chain"].cast(pl.Int64)
    lengths = pl.Series([len(session.steps) for session in run.sessions], dtype=pl.Int64)
    steps = lengths.gather(chain % max(1, len(run.sessions))) - unfinished["step"] + 1
    tries = steps * run.suite.steps.attempts - unfinished["attempt"] + 1
    edits = tries - unfinished["is_edited"].cast(pl.Int64)
    return pl.DataFrame(
        {"model": chain // max(1, history.stride), "steps": steps, "tries": tries, "edits": edits}
    )


def _edits_missing(history: History, left: pl.DataFrame) -> dict[str, int]:
    sums = dict(left.group_by("model").agg(pl.col("edits").sum()).iter_rows())
    return {card.id: int(sums.get(at, 0)) for at, card in enumerate(history.run.cards)}


def _answers_missing(history: History, store: ObjectStore, steps: pl.DataFrame) -> dict[str, int]:
    """Of each judge that costs something, the answers that the run needs at most."""
    run, left, answers = history.run, Unmeasured(history, store), Counter[str]()
    if run.checker_card and run.checker_card.price_usd > 0:
        answers[run.checker_card.id] += int(steps["tries"].sum())
    if run.judge_card and run.judge_card.price_usd > 0:
        answers[run.judge_card.id] += len(left.edits) + int(steps["steps"].sum())
    if run.tracker_card and run.tracker_card.price_usd > 0:
        answers[run.tracker_card.id] += len(left.states) + int(steps["steps"].sum())
    return dict(answers)


def shards(history: History, only: tuple[Chain, ...] = ()) -> list[Shard]:
    """The chains that are not over, or of these only some, in shards of one model each."""
    among = _numbers(history, only) if only else None
    parts: list[tuple[StepPlan, ...]] = []
    for _, group in groupby(history.next_steps(among), key=lambda step: step.chain.model):
        while part := tuple(islice(group, history.run.suite.shard_chains)):
            parts.append(part)
    return [Shard(number=number, steps=part) for number, part in enumerate(parts, 1)]
