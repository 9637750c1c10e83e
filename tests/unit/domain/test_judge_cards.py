from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from domain.errors import DefinitionError
from domain.judge_cards import JudgeCard
from domain.loading import load, names, parse, prompt

CARD = """
id: mine
name: Mine
lab: Me
provider: google
endpoint: some-model
settings:
  temperature: 0
prompts:
  consistency: consistency.v1
price_usd: 0.01
typical_latency_s: 2
released: 2026-01-01
checked_on: 2026-02-01
source: a page
"""


def test_a_card_says_how_a_judge_is_reached():
    card = parse(CARD, JudgeCard, "mine.yaml")
    assert card.settings == {"temperature": 0}
    assert card.prompts == {"consistency": "consistency.v1"}
    assert card.served_as == ()
    assert card.retired_on is None


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (("id: mine", "id: My Judge"), "id"),
        (("consistency: consistency.v1", "taste: consistency.v1"), "taste"),
        (("price_usd: 0.01", "price_usd: -1"), "price_usd"),
        (("price_usd: 0.01", "price_usd: .nan"), "price_usd"),
        (("source: a page", "sauce: a page"), "sauce"),
        (("released: 2026-01-01", "released: soon"), "released"),
    ],
)
def test_a_slip_in_a_card_is_named(change: tuple[str, str], why: str):
    with pytest.raises(DefinitionError, match=why) as caught:
        parse(CARD.replace(*change), JudgeCard, "mine.yaml")
    assert "mine.yaml" in str(caught.value)


def test_a_judge_and_a_prompt_of_the_users_own(tmp_path: Path):
    for folder, name, text in (("judges", "mine.yaml", CARD), ("prompts", "mine.v1.md", "{instruction}")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / name).write_text(text, encoding="utf-8")
    assert load(JudgeCard, "mine", [tmp_path]).endpoint == "some-model"
    assert prompt("mine.v1", [tmp_path]) == "{instruction}"
    with pytest.raises(DefinitionError, match=r"mine\.v1"):
        prompt("mine.v1")


def test_the_papers_judge_names_the_day_on_which_another_model_answers():
    card = load(JudgeCard, "gemini-2.5-flash")
    assert str(card.retired_on) == "2026-12-01"
    assert "gemini-3.5-flash-lite" in card.note
    assert "gemini-3.5-flash-lite" not in card.served_as


def test_the_step_checker_works_at_the_stated_effort():
    settings: dict[str, Any] = load(JudgeCard, "gpt-6.1-sol").settings
    assert settings["reasoning_effort"] == "medium"
    assert "gpt-6.1-sol" in names(JudgeCard)
