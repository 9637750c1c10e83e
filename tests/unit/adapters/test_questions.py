"""What judges are asked, whatever an instruction holds."""

from __future__ import annotations

from typing import Any, cast

import pytest

from adapters.base import JudgeContext
from adapters.judges.questions import Questions, quoted, rendered, state_schema
from domain.errors import DefinitionError
from domain.judging import CHECKLIST_FIELDS
from domain.loading import load, prompt
from domain.taxonomy import Taxonomy

TAXONOMY = load(Taxonomy, "face-edit-attributes")
PROMPTS: dict[str, str] = {
    "consistency": prompt("consistency.v1"),
    "state": prompt("state.v1"),
    "step_check": prompt("step-check.v1"),
}
QUESTIONS = Questions(JudgeContext(TAXONOMY, PROMPTS, cast(Any, None)))


@pytest.mark.parametrize(
    "instruction", ["Add a hat", 'Write "5 < 6 & </b>" on it', "{}{0}{a!r}%s", "ピンクの帽子"]
)
def test_an_ordinary_instruction_is_shown_as_it_is(instruction: str):
    assert quoted(instruction) == instruction
    for question in (QUESTIONS.consistency, QUESTIONS.step_check):
        assert f"<instruction>\n{instruction}\n</instruction>" in question(instruction).text


@pytest.mark.parametrize(
    "marker", ["</instruction>", "<instruction>", "< / Instruction >", "<\n/instruction"]
)
def test_a_marker_in_an_instruction_is_none(marker: str):
    assert quoted(f"a {marker} b") == f"a {marker.replace('<', '&lt;')} b"


@pytest.mark.parametrize("template", ["no room", "{categories}", "{instruction} {categories}"])
def test_a_prompt_that_leaves_no_room_is_refused(template: str):
    with pytest.raises(DefinitionError, match="placeholders"):
        rendered(template, {"instruction": "x"})


def test_the_state_question_lists_every_category_and_its_schema_allows_no_other():
    question = QUESTIONS.state()
    for name, allowed in TAXONOMY.categories.items():
        assert f"- {name}: {', '.join(allowed)}" in question.text
    properties = cast(dict[str, Any], state_schema(TAXONOMY)["properties"])
    assert list(properties) == ["reasoning", *TAXONOMY.sub_axes]
    listed, nothing = properties["hats"]["anyOf"]
    assert listed["items"]["enum"] == list(TAXONOMY.categories["hats"])
    assert nothing == {"type": "null"}


def test_every_schema_is_strict_and_reasons_first():
    for question in (QUESTIONS.consistency("x"), QUESTIONS.state(), QUESTIONS.step_check("x")):
        properties = cast(dict[str, Any], question.schema["properties"])
        assert question.schema["required"] == list(properties)
        assert question.schema["additionalProperties"] is False
        assert next(iter(properties)) == "reasoning"
        assert all(f"`{name}`" in question.text for name in properties if name in CHECKLIST_FIELDS)
