"""What is found out of a card before a paid call: its settings, its key, its retirement."""

from __future__ import annotations

import datetime

import pytest
from chains import a_dataset, a_plan, sessions_of

from domain.errors import DefinitionError
from domain.judge_cards import JudgeCard
from domain.loading import load, load_suite, names
from domain.model_cards import ModelCard
from domain.runs import Missing
from tasks import wiring
from tasks.preflight import notices
from tasks.provider_checks import needed, problems_of, retirements

SUITE = load_suite("quickstart")
KEYS = ("GEMINI_API_KEY", "GOOGLE_API_KEY", "FAL_KEY", "REPLICATE_API_TOKEN", "OPENAI_API_KEY", "XAI_API_KEY")


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*KEYS, "ARK_API_KEY"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("name", [name for name in names(ModelCard) if name not in SUITE.models])
def test_settings_of_every_card_are_checked_without_a_key(name: str) -> None:
    card = load(ModelCard, name)
    wiring.check_settings(card, SUITE)
    wrong = card.model_copy(update={"settings": {**card.settings, "turbo_mode": True}})
    with pytest.raises(DefinitionError, match="turbo_mode"):
        wiring.check_settings(wrong, SUITE)


@pytest.mark.parametrize("name", [name for name in names(JudgeCard) if name != "local"])
def test_settings_of_every_judge_are_checked_without_a_key(name: str) -> None:
    card = load(JudgeCard, name)
    wiring.check_settings(card, SUITE)
    with pytest.raises(DefinitionError, match="mood"):
        wiring.check_settings(card.model_copy(update={"settings": {"mood": "strict"}}), SUITE)
    with pytest.raises(DefinitionError, match=r"no prompt 'state.v9'"):
        wiring.check_settings(card.model_copy(update={"prompts": {"state": "state.v9"}}), SUITE)


@pytest.mark.parametrize(
    ("name", "variable"),
    [
        ("nano-banana-pro", "GEMINI_API_KEY"),
        ("flux-1-dev", "FAL_KEY"),
        ("p-image-edit", "REPLICATE_API_TOKEN"),
        ("gpt-image-2", "OPENAI_API_KEY"),
        ("grok-imagine-image-2.0", "XAI_API_KEY"),
        ("seedream-5-lite", "ARK_API_KEY"),
    ],
)
def test_a_missing_key_is_named(name: str, variable: str) -> None:
    assert variable in problems_of([load(ModelCard, name)], SUITE, rehearse=False)[name]


def test_a_retired_model_is_not_called_in_earnest() -> None:
    card = load(ModelCard, "nano-banana-2").model_copy(update={"retired_on": datetime.date(2026, 10, 29)})
    problem = problems_of([card], SUITE, rehearse=False)[card.id]
    assert "2026-10-29" in problem
    assert "successor" in problem


def test_a_plan_is_told_of_retirements_of_whom_it_still_has_to_call() -> None:
    cards = tuple(load(ModelCard, name) for name in ("nano-banana-2", "nano-banana-pro"))
    run = a_plan(a_dataset(1), sessions_of([["Add a hat"]])).model_copy(update={"cards": cards})
    nothing = Missing(
        chains=1, complete=0, stopped=0, unfinished=1, steps_missing={}, answers_missing={}, cost_usd=0,
        seconds=0,
    )  # fmt: skip
    all_of_it = nothing.model_copy(update={"steps_missing": {card.id: 4 for card in cards}})
    [notice] = retirements(run, all_of_it, datetime.date(2026, 10, 1))
    assert notice.startswith("nano-banana-2 will be retired on 2026-10-29, in 28 days")
    assert retirements(run, all_of_it, datetime.date(2026, 9, 1)) == []
    assert retirements(run, nothing, datetime.date(2026, 11, 1)) == []
    rehearsed = run.model_copy(update={"request": run.request.model_copy(update={"rehearse": True})})
    assert retirements(rehearsed, all_of_it, datetime.date(2026, 11, 1)) == []


def test_the_doctor_is_told_of_who_will_be_retired_and_not_of_who_is() -> None:
    [soon] = notices("face-edit-celeba", datetime.date(2027, 3, 1))
    assert soon.startswith("gemini-2.5-flash-image will be retired on 2027-03-15, in 14 days")
    assert notices("face-edit-celeba", datetime.date(2027, 1, 1)) == []
    assert notices("face-edit-celeba", datetime.date(2027, 3, 15)) == []
    assert notices("rehearsal", datetime.date(2027, 3, 1)) == []


def test_models_that_call_nobody_have_no_problems() -> None:
    assert problems_of([load(ModelCard, name) for name in SUITE.models], SUITE, rehearse=False) == {}


def test_only_who_has_work_left_is_needed() -> None:
    cards = [load(ModelCard, name) for name in ("flux-1-dev", "bagel-edit")]
    judges = [load(JudgeCard, name) for name in ("gemini-3.8-flash", "gpt-6.1-sol")]

    def missing(steps: dict[str, int], answers: dict[str, int]) -> Missing:
        return Missing(
            chains=1, complete=0, stopped=0, unfinished=1, steps_missing=steps, answers_missing=answers,
            cost_usd=0, seconds=0,
        )  # fmt: skip

    def ids(steps: dict[str, int], answers: dict[str, int]) -> list[str]:
        return [card.id for card in needed(cards, judges, missing(steps, answers))]

    assert ids({"flux-1-dev": 0, "bagel-edit": 3}, {}) == ["bagel-edit", "gemini-3.8-flash", "gpt-6.1-sol"]
    assert ids({"flux-1-dev": 0, "bagel-edit": 0}, {"gpt-6.1-sol": 2}) == ["gpt-6.1-sol"]
    assert ids({"flux-1-dev": 0, "bagel-edit": 0}, {}) == []
