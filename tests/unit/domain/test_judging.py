from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.judging import InvalidAnswerError, Scores, parse_scores, parse_state
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
