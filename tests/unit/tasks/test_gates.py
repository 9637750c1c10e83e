"""Gates, budgets and served versions."""

from __future__ import annotations

import asyncio
import time
from collections import Counter

import polars as pl
import pytest
from aiolimiter import AsyncLimiter
from builders import an_identity, an_image_ref, an_outcome

from domain.errors import BudgetError, FatalError, ProviderError, QuotaError, TransientError
from domain.served import is_the_model
from domain.summaries import ModelCalls
from tasks import gates, step_tables
from tasks.budget import Budget
from tasks.calls import calls_of
from tasks.collecting import Served
from tasks.gates import Gate
from tasks.served import SCHEMA, notices_of, served_table, unreadable


async def _call(run: str, provider: str, error: Exception | None = None) -> None:
    async with gates.call(run, provider):
        if error:
            raise error


@pytest.mark.parametrize("error", [FatalError("bad key", provider="acme"), QuotaError("used up")])
def test_an_error_that_the_next_call_would_meet_shuts_the_gate(error: ProviderError) -> None:
    async def calls() -> int:
        made = 0
        with pytest.raises(type(error)):
            await _call("r1" + str(error), "acme", error)
        for _ in range(3):
            with pytest.raises(type(error), match=str(error)):
                await _call("r1" + str(error), "acme")
        for run, provider in (("r1" + str(error), "other"), ("r2" + str(error), "acme")):
            await _call(run, provider)
            made += 1
        return made

    assert asyncio.run(calls()) == 2, "other providers, and other runs, go on"


def test_a_fault_of_one_call_leaves_the_gate_open() -> None:
    async def calls() -> None:
        with pytest.raises(TransientError):
            await _call("r3", "acme", TransientError("429"))
        await _call("r3", "acme")

    asyncio.run(calls())
    assert gates.gate("r3", "acme").shut_by is None


def test_a_quota_that_comes_back_soon_pauses_every_call() -> None:
    gate = Gate()
    gate.note(QuotaError("a minute's worth", retry_after_s=0.3))
    started = time.monotonic()
    asyncio.run(gate.enter())
    assert time.monotonic() - started >= 0.29
    assert gate.shut_by is None


def test_calls_go_through_at_the_pace_of_the_gate() -> None:
    async def many(gate: Gate) -> None:
        await asyncio.gather(*(gate.enter() for _ in range(8)))

    gate = Gate()
    started = time.monotonic()

    async def run() -> None:
        gate.pace = AsyncLimiter(2, 0.2)
        await many(gate)

    asyncio.run(run())
    assert time.monotonic() - started >= 0.55  # two at once, then one each tenth of a second


def test_a_budget_is_kept_before_the_call_and_not_after_it() -> None:
    budget = Budget(0.10)
    assert [budget.reserve(0.04) for _ in range(3)] == [True, True, False]
    budget.settle(0.04, 0.0)  # refused: cost nothing
    assert budget.reserve(0.04)
    budget.settle(0.04, 0.04)
    budget.settle(0.04, 0.04)
    assert budget.spent_usd == pytest.approx(0.08)
    assert not budget.reserve(0.04)
    assert budget.reserve(0.02)
    assert isinstance(budget.error("edit", 0.04), BudgetError)


def test_a_tenth_three_times_fits_into_three_tenths() -> None:
    budget = Budget(0.3)
    for _ in range(3):
        assert budget.reserve(0.1)
        budget.settle(0.1, 0.1)


def test_what_may_have_been_paid_counts_as_paid() -> None:
    budget = Budget(0.10)
    budget.maybe_paid_usd = 0.08
    assert not budget.reserve(0.04)
    assert Budget(None).reserve(1e9)
    assert Budget(0.0).reserve(0.0), "what costs nothing needs no budget"


@pytest.mark.parametrize(
    ("served", "same"),
    [
        ("gemini-2.5-flash", True),
        ("gemini-2.5-flash-001", True),
        ("gemini-2.5-flash-2026-10-01", True),
        ("gemini-2.5-flash-lite", False),
        ("gemini-3.5-flash-lite", False),
        ("gemini-2.5-flash-001-lite", False),
        ("models/gemini-2.5-flash", False),
        ("gemini-flash-latest", True),
    ],
)
def test_a_snapshot_is_the_model_and_a_sibling_is_not(served: str, same: bool) -> None:
    assert is_the_model(served, "gemini-2.5-flash", ("gemini-flash-latest",)) is same


STEPS = pl.DataFrame(
    {"judgement": ["scored", "unparsable", None], "tracked": ["tracked", "tracked", None]},
    schema={"judgement": pl.String, "tracked": pl.String},
)


def test_answers_that_could_not_be_read_are_counted_beside_those_that_could() -> None:
    assert unreadable(STEPS) == {"judge": (1, 2), "tracker": (0, 2)}


def test_what_calls_cost_is_counted_with_those_that_came_to_nothing(a_run) -> None:
    model = a_run.cards[0]
    identity = an_identity(model=model.id)
    image = an_image_ref()
    second, third = (identity.model_copy(update={"attempt": n}) for n in (2, 3))
    outcomes = [
        an_outcome(identity, kind="edited", image=image, lost_calls=2, cost_usd=None),
        an_outcome(second, kind="edited", image=image, cost_usd=0.5),
        an_outcome(third, kind="refused", image=None, reason="policy", cost_usd=None),
    ]
    found = step_tables.rows(outcomes)
    [calls] = calls_of(a_run, pl.concat([found, found]))  # steps that two chains share are counted once
    assert (calls.model, calls.answers, calls.lost) == (model.id, 3, 2)
    assert calls.cost_usd == pytest.approx(model.price_usd + 0.5)
    assert calls.maybe_paid_usd == pytest.approx(2 * model.price_usd)
    assert calls_of(a_run, found.clear()) == (ModelCalls(model=model.id),)


def test_readers_are_told_of_other_models_and_of_changing_versions(a_run) -> None:
    judge, model = a_run.judge_card, a_run.cards[0]
    served = Counter(
        {
            Served("judge", judge.id, "gemini-3.5-flash-lite"): 3,
            Served("model", model.id, model.endpoint): 2,
            Served("model", model.id, f"{model.endpoint}-002"): 1,
        }
    )
    table = served_table(a_run, served)
    assert table.schema == SCHEMA
    assert notices_of(table, STEPS) == (
        f"judge {judge.id}: 3 answers came from 'gemini-3.5-flash-lite', not from the 'gemini-2.5-flash' "
        "that was asked",
        f"model {model.id}: more than one version answered: {model.endpoint}, {model.endpoint}-002",
        "judge: 1 of 2 answers could not be read, asked for again as often as allowed",
    )
    assert notices_of(served_table(a_run, Counter()), STEPS.head(1)) == ()
