"""What counts as an instruction: word for word, and nothing is repaired."""

from __future__ import annotations

import pytest
from fakes.writers import said

from domain.judging import InvalidAnswerError
from domain.loading import load
from domain.records import JudgeIdentity
from domain.session_draws import DrawnStep
from domain.session_writing import InstructionIdentity, Wanted, read_instruction
from domain.sessions import Instruction
from domain.taxonomy import Taxonomy

TAXONOMY = load(Taxonomy, "face-edit-attributes")
WHO = JudgeIdentity(adapter="fake", version="1", prompt_version="1", taxonomy="t@1")
EARLIER = (
    Instruction(prompt="Add a knit hat.", attribute="knit hat"),
    Instruction(prompt="Make them looking left.", attribute="looking left"),
)


def wanted(name: str, *, keep: bool = False, earlier: tuple[Instruction, ...] = EARLIER) -> Wanted:
    return Wanted(attribute=TAXONOMY.attributes[name.casefold()], keep=keep, earlier=earlier)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("dad hat", "Replace their knit hat with a dad hat."),
        ("dad hat", "Swap it for a dad hat"),
        ("John Lennon glasses", "Give them john lennon glasses."),
        ("five o’clock shadow", "Let them have a five o’clock shadow."),
        ("full-face beard", "Add a full-face beard."),
    ],
)
def test_a_good_answer_is_taken_word_for_word(name: str, text: str):
    assert read_instruction(said(text), wanted(name), TAXONOMY) == text
    assert read_instruction(f"```json\n{said(text)}\n```", wanted(name), TAXONOMY) == text


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        ("", "not one JSON"),
        ("Add a dad hat.", "not one JSON"),
        ('{"instruction": "Add a dad hat."', "not one JSON"),
        ('["Add a dad hat."]', "a JSON list"),
        ('{"instruction": "Add a dad hat.", "reasoning": "behind"}', "keys are"),
        ('{"text": "Add a dad hat."}', "keys are"),
        (said(None), "not a text"),
        (said(""), "not a text"),
        (said("I cannot help with that."), "names no attribute"),
        (said("Add a hat."), "names no attribute"),
        (said("Add a cowboy hat."), "asks for 'cowboy hat'"),
        (said("Replace the dad hat with a knit hat."), "asks for 'knit hat'"),
        (said("Replace the bucket hat with a dad hat."), "no earlier step asked for"),
        (said("Add a dad hat. Make it blue."), "more than one sentence"),
        (said("Add a dad hat! Now"), "more than one sentence"),
        (said("Add a dad hat and a scarf."), "more than one edit"),
        (said("Smile, then add a dad hat."), "more than one edit"),
        (said("Add a\ndad hat."), "U+000A"),
        (said("Add a dad hat.\n"), "begins or ends"),
        (said(" Add a dad hat."), "begins or ends"),
        (said(f"Add a {'very ' * 30}nice dad hat."), "characters"),
        (said("Add a dad\u00a0hat."), "names no attribute"),
        (said("Keep the dad hat."), "begins with 'Keep'"),
    ],
)
def test_a_bad_answer_says_why(raw: str, why: str):
    with pytest.raises(InvalidAnswerError, match=why.replace("+", r"\+")):
        read_instruction(raw, wanted("dad hat"), TAXONOMY)


def test_what_is_kept_is_named_alone_and_kept():
    kept = wanted("knit hat", keep=True)
    assert read_instruction(said("Keep the knit hat."), kept, TAXONOMY) == "Keep the knit hat."
    for text in ("Add a knit hat.", "Keep looking left with the knit hat."):
        with pytest.raises(InvalidAnswerError):
            read_instruction(said(text), kept, TAXONOMY)


def identity(**fields: object) -> InstructionIdentity:
    drawn = tuple(DrawnStep(attribute=step.attribute) for step in EARLIER)
    base = {
        "writer": WHO,
        "seed": 1,
        "session": "multi_axis_001",
        "drawn": (*drawn, DrawnStep(attribute="dad hat")),
        "prompts": tuple(step.prompt for step in EARLIER),
        "ask": 1,
    }
    return InstructionIdentity.model_validate({**base, **fields})


def test_a_question_says_what_is_replaced_and_what_came_before():
    asked = identity(last_problem="no").wanted(TAXONOMY)
    assert (asked.attribute.name, asked.replaces, asked.earlier) == ("dad hat", "knit hat", EARLIER)
    assert asked.step["last_problem"] == "no"
    alone = identity(drawn=(DrawnStep(attribute="dad hat"),), prompts=()).wanted(TAXONOMY)
    assert (alone.replaces, alone.earlier) == (None, ())


@pytest.mark.parametrize(
    "fields",
    [
        {"writer": WHO.model_copy(update={"prompt_version": "2"})},
        {"writer": WHO.model_copy(update={"taxonomy": "t@2"})},
        {"seed": 2},
        {"session": "multi_axis_002"},
        {"drawn": (*identity().drawn[:2], DrawnStep(attribute="wool hat"))},
        {"prompts": ("Put on a knit hat.", EARLIER[1].prompt)},
        {"ask": 2},
    ],
)
def test_whatever_may_change_an_answer_changes_the_key(fields: dict[str, object]):
    assert identity(**fields).key != identity().key
