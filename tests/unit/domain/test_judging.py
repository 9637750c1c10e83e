from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.judging import (
    CHECKLIST_FIELDS,
    Checklist,
    InvalidAnswerError,
    Scores,
    parse_checklist,
    parse_scores,
    parse_state,
)
from domain.loading import load
from domain.taxonomy import Taxonomy

TAXONOMY = load(Taxonomy, "face-edit-attributes")
GOOD = '{"editing_success": 7, "overediting": 2.5}'
NOTHING: dict[str, Any] = {name: [] for name in TAXONOMY.sub_axes}


@pytest.mark.parametrize(
    ("text", "scores"),
    [
        (GOOD, (7.0, 2.5)),
        ('{"overediting":0,"editing_success":10}', (10.0, 0.0)),
        (f"\n  {GOOD}\t\n", (7.0, 2.5)),
        (f"```json\n{GOOD}\n```", (7.0, 2.5)),
        (f"```\n{GOOD}\n```\n", (7.0, 2.5)),
        (f"```json\r\n{GOOD}\r\n```", (7.0, 2.5)),
        ('{"editing_success": 1e1, "overediting": 5E-1}', (10.0, 0.5)),
        ('{"editing_success": 10.0, "overediting": 0.0}', (10.0, 0.0)),
        ('{"reasoning": "The hat is red {sic}.", "editing_success": 7, "overediting": 2.5}', (7.0, 2.5)),
        ('{"reasoning": "", "editing_success": 7, "overediting": 2.5}', (7.0, 2.5)),
    ],
)
def test_scores_that_are_exactly_right(text: str, scores: tuple[float, float]):
    assert parse_scores(text) == Scores(*scores)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "not one JSON value"),
        ("   \n", "not one JSON value"),
        ("The edit is good: 7 and 2.", "not one JSON value"),
        (f"Here you are: {GOOD}", "not one JSON value"),
        (f"{GOOD} I hope that helps", "not one JSON value"),
        (f"{GOOD}\n{GOOD}", "not one JSON value"),
        (f"```json\n{GOOD}\n```\nand\n```json\n{GOOD}\n```", "not one JSON value"),
        (f"text\n```json\n{GOOD}\n```", "not one JSON value"),
        (f"```yaml\n{GOOD}\n```", "not one JSON value"),
        (f"```json\n{GOOD}", "not one JSON value"),
        (GOOD[:-1], "not one JSON value"),
        (GOOD[:20], "not one JSON value"),
        ("{'editing_success': 7, 'overediting': 2}", "not one JSON value"),
        ('{"editing_success": 7, "overediting": 2,}', "not one JSON value"),
        ('{"editing_success": 07, "overediting": 2}', "not one JSON value"),
        ('{"editing_success": +7, "overediting": 2}', "not one JSON value"),
        ('{"editing_success": 7/10, "overediting": 2}', "not one JSON value"),
        ("\ufeff" + GOOD, "not one JSON value"),
        ("[" * 100_000, "not one JSON value"),
        ('{"a":' * 100_000, "not one JSON value"),
        ('{"editing_success": ' + "9" * 5000 + ', "overediting": 2}', "not one JSON value"),
        (f"[{GOOD}]", "a JSON list"),
        ("[7, 2]", "a JSON list"),
        ("null", "a JSON NoneType"),
        ("7", "a JSON int"),
        ('"7"', "a JSON str"),
        ("{}", "keys are"),
        ('{"editing_success": 7}', "keys are"),
        ('{"editing_success": 7, "overediting": 2, "reason": "x"}', "keys are"),
        ('{"Editing_Success": 7, "overediting": 2}', "keys are"),
        ('{"editing_success": 7, "overediting": 2, "reasoning": "x"}', "keys are"),
        ('{"editing_success": 7, "reasoning": "x", "overediting": 2}', "keys are"),
        ('{"Reasoning": "x", "editing_success": 7, "overediting": 2}', "keys are"),
        ('{"reasoning": "x", "reasoning": "y", "editing_success": 7, "overediting": 2}', "twice"),
        ('{"reasoning": null, "editing_success": 7, "overediting": 2}', "reasoning is None, not a text"),
        ('{"reasoning": ["x"], "editing_success": 7, "overediting": 2}', "not a text"),
        ('{"reasoning": "x"}', "keys are"),
        ('{"editing_success": 7, "editing_success": 7, "overediting": 2}', "a key appears twice"),
        ('{"editing_success": "7", "overediting": 2}', "not a number"),
        ('{"editing_success": "seven", "overediting": 2}', "not a number"),
        ('{"editing_success": null, "overediting": 2}', "not a number"),
        ('{"editing_success": true, "overediting": 2}', "not a number"),
        ('{"editing_success": [7], "overediting": 2}', "not a number"),
        ('{"editing_success": {"score": 7}, "overediting": 2}', "not a number"),
        ('{"editing_success": NaN, "overediting": 2}', "not finite"),
        ('{"editing_success": Infinity, "overediting": 2}', "not finite"),
        ('{"editing_success": 7, "overediting": -Infinity}', "not finite"),
        ('{"editing_success": 1e999, "overediting": 2}', "not finite"),
        ('{"editing_success": 10.000001, "overediting": 2}', "outside 0 to 10"),
        ('{"editing_success": 7, "overediting": -0.1}', "outside 0 to 10"),
        ('{"editing_success": 85, "overediting": 2}', "outside 0 to 10"),
        ('{"editing_success": ' + "9" * 400 + ', "overediting": 2}', "outside 0 to 10"),
    ],
    ids=lambda text: text[:40],
)
def test_scores_that_are_not(text: str, why: str):
    with pytest.raises(InvalidAnswerError, match=why):
        parse_scores(text)


@given(st.text())
def test_scores_from_any_text_end_in_scores_or_in_the_one_error(text: str):
    try:
        found = parse_scores(text)
    except InvalidAnswerError:
        return
    assert 0 <= found.success <= 10


@given(st.floats(0, 10), st.floats(0, 10))
def test_all_scores_in_range_survive(success: float, overediting: float):
    text = json.dumps({"editing_success": success, "overediting": overediting})
    assert parse_scores(text) == Scores(success, overediting)


def state_text(**changes: Any) -> str:
    return json.dumps(NOTHING | {name.replace("_", " "): value for name, value in changes.items()})


def test_state_with_nothing_seen():
    assert parse_state(state_text(), TAXONOMY) == dict.fromkeys(TAXONOMY.sub_axes, ())


def test_state_keeps_the_order_of_the_taxonomy_whatever_the_answer_has():
    names = TAXONOMY.categories["hair color"]
    text = state_text(hair_color=[names[3], names[0]], beard=None)
    found = parse_state(f"```json\n{text}\n```", TAXONOMY)
    assert found["hair color"] == (names[0], names[3])
    assert found["beard"] is None
    assert list(found) == list(TAXONOMY.sub_axes)


def test_a_state_may_be_reasoned_first_and_only_first():
    assert parse_state(json.dumps({"reasoning": "Bald."} | NOTHING), TAXONOMY)["beard"] == ()
    with pytest.raises(InvalidAnswerError, match=r"unknown: \['reasoning'\]"):
        parse_state(json.dumps(NOTHING | {"reasoning": "Bald."}), TAXONOMY)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{}", "sub-axes missing"),
        (json.dumps({k: v for k, v in NOTHING.items() if k != "beard"}), r"missing: \['beard'\]"),
        (json.dumps(NOTHING | {"shoes": []}), r"unknown: \['shoes'\]"),
        (state_text(glasses=["wool hat"]), "glasses holds 'wool hat'; allowed: "),
        (state_text(glasses=["Glasses"]), "glasses holds 'Glasses'"),
        (state_text(glasses=["none"]), "glasses holds 'none'"),
        (state_text(glasses=[["glasses"]]), "glasses holds"),
        (state_text(glasses=[{"name": "glasses"}]), "glasses holds"),
        (state_text(glasses=[None]), "glasses holds None"),
        (state_text(glasses=[True]), "glasses holds True"),
        (state_text(glasses="glasses"), "not a list"),
        (state_text(glasses={}), "not a list"),
        (state_text(glasses=False), "not a list"),
        (state_text(hair_type=["straight hair", "straight hair"]), "names a category twice"),
        (state_text() + state_text(), "not one JSON value"),
        (state_text()[:-2], "not one JSON value"),
        ("[]", "a JSON list"),
    ],
)
def test_states_that_are_not(text: str, why: str):
    with pytest.raises(InvalidAnswerError, match=why):
        parse_state(text, TAXONOMY)


@given(st.text())
def test_a_state_from_any_text_ends_in_a_state_or_in_the_one_error(text: str):
    try:
        state = parse_state(text, TAXONOMY)
    except InvalidAnswerError:
        return
    assert set(state) == set(TAXONOMY.sub_axes)


MADE: dict[str, Any] = {
    "prompt_applies": True,
    "right_item_changed": True,
    "item_visibly_changed": True,
    "right_place": True,
    "old_place_empty": None,
    "wrong_details": 0,
    "details_right": True,
    "framing_kept": True,
    "major_unrequested_changes": [],
}


def checklist(**changes: Any) -> Checklist:
    return parse_checklist(json.dumps(MADE | changes))


def test_a_checklist_keeps_what_was_ticked():
    assert list(MADE) == list(CHECKLIST_FIELDS)
    found = checklist(major_unrequested_changes=["  the sofa vanished ", "another wall"])
    assert found.major_unrequested_changes == ("the sofa vanished", "another wall")
    assert found.old_place_empty is None
    assert found.right_place is True
    text = "```json\n" + json.dumps({"reasoning": "Red now."} | MADE) + "\n```"
    assert parse_checklist(text) == checklist()


@pytest.mark.parametrize(
    ("changes", "made"),
    [
        ({}, True),
        ({"right_place": None, "old_place_empty": True, "details_right": None}, True),
        ({"wrong_details": 1, "details_right": False}, True),
        ({"wrong_details": 2, "details_right": False}, False),
        ({"prompt_applies": False}, False),
        ({"right_item_changed": False, "item_visibly_changed": False}, False),
        ({"item_visibly_changed": False}, False),
        ({"right_place": False}, False),
        ({"old_place_empty": False}, False),
        ({"framing_kept": False}, False),
        ({"major_unrequested_changes": ["the sofa vanished"]}, False),
        ({"wrong_details": 1, "details_right": False, "item_visibly_changed": False}, False),
        ({"wrong_details": 1, "details_right": False, "right_place": False}, False),
        ({"wrong_details": 1, "details_right": False, "framing_kept": False}, False),
    ],
)
def test_an_edit_is_made_when_all_passes_or_one_detail_is_wrong(changes: dict[str, Any], made: bool):
    assert checklist(**changes).made is made


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "not one JSON value"),
        ("{}", "checks missing"),
        (json.dumps({k: v for k, v in MADE.items() if k != "framing_kept"}), r"missing: \['framing_kept'\]"),
        (json.dumps(MADE | {"quality": True}), r"unknown: \['quality'\]"),
        (json.dumps(MADE | {"reasoning": "x"}), r"unknown: \['reasoning'\]"),
        (json.dumps(MADE | {"prompt_applies": None}), "prompt_applies is None, not true or false"),
        (json.dumps(MADE | {"prompt_applies": "true"}), "not true or false"),
        (json.dumps(MADE | {"framing_kept": 1}), "not true or false"),
        (json.dumps(MADE | {"right_place": "yes"}), "right_place is 'yes'"),
        (json.dumps(MADE | {"wrong_details": True}), "not a whole number"),
        (json.dumps(MADE | {"wrong_details": 1.0}), "not a whole number"),
        (json.dumps(MADE | {"wrong_details": None}), "not a whole number"),
        (json.dumps(MADE | {"wrong_details": -1}), "below 0"),
        (json.dumps(MADE | {"major_unrequested_changes": "none"}), "not a list"),
        (json.dumps(MADE | {"major_unrequested_changes": None}), "not a list"),
        (json.dumps(MADE | {"major_unrequested_changes": [""]}), "not a text"),
        (json.dumps(MADE | {"major_unrequested_changes": [["x"]]}), "not a text"),
        (json.dumps(MADE | {"wrong_details": 1}), "details_right is True with 1 wrong"),
        (json.dumps(MADE | {"details_right": False}), "details_right is False with 0 wrong"),
        (json.dumps(MADE | {"details_right": None, "wrong_details": 2}), "details_right is None with 2"),
        (json.dumps(MADE | {"right_item_changed": False}), "visibly changed and did not change"),
    ],
)
def test_checklists_that_are_not(text: str, why: str):
    with pytest.raises(InvalidAnswerError, match=why):
        parse_checklist(text)


ANYTHING = (
    st.none() | st.booleans() | st.integers(-1, 2) | st.text(max_size=3) | st.lists(st.text(max_size=3))
)


@given(st.fixed_dictionaries(dict.fromkeys(CHECKLIST_FIELDS, ANYTHING)))
def test_a_checklist_of_any_values_ends_in_one_or_in_the_one_error(values: dict[str, Any]):
    try:
        found = parse_checklist(json.dumps(values))
    except InvalidAnswerError:
        return
    assert not found.made or found.item_visibly_changed
