"""The page about identity drift shows a suite that loads."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from domain.judge_cards import JudgeCard
from domain.loading import load, parse
from domain.model_cards import ModelCard
from domain.suites import Suite

PAGE = Path(__file__).parents[3] / "docs" / "identity-drift.md"


@pytest.fixture
def suite() -> Suite:
    text = PAGE.read_text(encoding="utf-8")
    [example] = [
        found for found in re.findall(r"```yaml\n(.*?)```", text, re.DOTALL) if "chain_set:" in found
    ]
    return parse(example, Suite, "")


def test_the_example_is_a_suite_of_known_models_and_a_checker(suite: Suite) -> None:
    assert [load(ModelCard, name).id for name in suite.models] == list(suite.models)
    assert suite.steps.checker is not None
    assert "step_check" in load(JudgeCard, suite.steps.checker).prompts
    assert suite.votes is not None
    assert (suite.votes.min_completion, suite.steps.attempts) == (0.8, 3)


def test_the_commands_name_the_set_and_the_suite(suite: Suite) -> None:
    block = re.search(r"```\n(facedrift photos prepare.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert block
    lines = block[1].strip().splitlines()
    assert all(line.startswith("facedrift ") for line in lines)
    assert all(suite.id in line for line in lines)
    assert suite.chain_set == suite.dataset.id == suite.id
