"""The page about prompt chains says what the linter does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from domain.chain_lint import lint_chains
from domain.chains import ChainSet
from domain.judge_cards import JudgeCard
from domain.loading import load, parse

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "prompt-chains.md").read_text(encoding="utf-8")
SOURCES = ("chain_lint", "chain_rules", "file_findings", "session_rules")
OF_SESSIONS = {"keep_unasked", "keep_reworded", "asked_again", "hidden", "unknown_attribute", "not_named",
               "names_other", "names_unasked", "keep_flag"}  # fmt: skip


def test_the_example_is_a_set_without_a_finding():
    [example] = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    assert lint_chains(example, name="everyday-chains") == []
    assert len(parse(example, ChainSet, "").chains) == 2


def test_every_code_is_explained_and_no_other():
    told = re.compile(r'(?:Problem|Finding)\((?:[^()"]|\([^()]*\))*?"([a-z_]+)"')
    emitted: set[str] = set()
    for name in SOURCES:
        emitted |= set(told.findall((ROOT / "domain" / f"{name}.py").read_text(encoding="utf-8")))
    emitted |= {"no_letter_colour", "no_sign_colour", "unknown_field", "bad_value", "file_name"}
    rows = [line.split("|")[1] for line in PAGE.splitlines() if line.startswith("| `") and "$" not in line]
    explained = {code for row in rows for code in re.findall(r"`([a-z_]+)`", row)} - {"local"}
    assert explained == emitted - OF_SESSIONS


@pytest.mark.parametrize("writer", ["gpt-6.1-sol", "gemini-3.8-flash", "gemini-3.5-flash-lite"])
def test_the_prices_are_those_of_the_cards(writer: str):
    [(one, all_)] = re.findall(rf"\| `{re.escape(writer)}` \| \$([\d.]+) \| about \$([\d.]+) \|", PAGE)
    assert float(one) == load(JudgeCard, writer).price_usd
    assert float(all_) == round(199 * float(one), 2)
