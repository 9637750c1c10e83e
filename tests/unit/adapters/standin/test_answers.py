"""Judges' answers in the shape of a schema."""

from __future__ import annotations

import json
from typing import Any

import pytest
from fakes.checkers import answer as checklist
from unit.adapters.standin.place import Inverter, Judging

from adapters.judges.questions import checklist_schema, scores_schema, state_schema
from adapters.standin.answers import CannotAnswer, Known, answer, broken, fill, plain
from adapters.standin.work import Call, StandinWork
from domain.judging import parse_checklist, parse_scores, parse_state
from domain.loading import load
from domain.taxonomy import Taxonomy

TAXONOMY = load(Taxonomy, "face-edit-attributes")
PROMPT = "Judge <instruction>\nAdd a hat\n</instruction> now"


def answered(
    schema: dict[str, Any], judge: Judging, pictures: tuple[bytes, ...] = (b"before", b"after")
) -> str:
    call = Call("google", "judge", "m", pictures, PROMPT, None, {})
    text, version = answer(StandinWork(Inverter(), judge, judge, checker=judge), schema, call)
    assert version == "j-1"
    return text


def test_scores_as_our_own_judges_ask_for_them():
    judge = Judging(success=6.5, overediting=9)
    scores = parse_scores(answered(scores_schema(), judge))
    assert (scores.success, scores.overediting) == (6.5, 9)
    assert judge.scored == [(b"before", b"after", "Add a hat")]


def test_a_state_as_our_own_judges_ask_for_it():
    state: dict[str, Any] = {name: [] for name in TAXONOMY.sub_axes}
    state |= {"hats": [TAXONOMY.categories["hats"][0]], "beard": None}
    judge = Judging(state=state)
    found = parse_state(answered(state_schema(TAXONOMY), judge, (b"picture",)), TAXONOMY)
    assert found["hats"] == (TAXONOMY.categories["hats"][0],)
    assert found["beard"] is None
    assert found["glasses"] == ()
    assert judge.tracked == [b"picture"]


@pytest.mark.parametrize("made", [True, False])
def test_a_checklist_as_our_own_judges_ask_for_it(made: bool):
    judge = Judging(made=made)
    text = answered(checklist_schema(), judge)
    assert json.loads(text) == {"reasoning": "Nothing more to say.", **json.loads(checklist(made=made))}
    assert parse_checklist(text).made is made
    assert judge.scored == [(b"before", b"after", "Add a hat")]


def test_a_checklist_that_nobody_can_fill():
    call = Call("openai", "judge", "m", (b"before", b"after"), PROMPT, None, {})
    with pytest.raises(CannotAnswer, match="nobody"):
        answer(StandinWork(Inverter(), Judging(), Judging()), checklist_schema(), call)


def test_without_markers_the_whole_prompt_is_the_instruction():
    judge = Judging()
    call = Call("google", "judge", "m", (b"before", b"after"), "Add a hat", None, {})
    answer(StandinWork(Inverter(), judge, judge), scores_schema(), call)
    assert judge.scored[0][2] == "Add a hat"


@pytest.mark.parametrize(
    ("schema", "pictures"),
    [(scores_schema(), (b"one",)), (checklist_schema(), (b"one",)), (state_schema(TAXONOMY), ())],
)
def test_too_few_pictures(schema: dict[str, Any], pictures: tuple[bytes, ...]):
    with pytest.raises(CannotAnswer, match="image"):
        answered(schema, Judging(), pictures)


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "string"}, "Nothing more to say."),
        ({"type": "STRING", "enum": ["maybe", "yes", "no"]}, "yes"),
        ({"type": "string", "enum": ["a", "b"]}, "a"),
        ({"const": 3}, 3),
        ({"type": "boolean"}, True),
        ({"type": "number"}, 7.6),
        ({"type": "integer"}, 8),
        ({"type": "NUMBER", "maximum": 5}, 5),
        ({"type": "number", "minimum": 9}, 9),
        ({"type": "string", "nullable": True}, None),
        ({"type": ["string", "null"]}, None),
        ({"anyOf": [{"type": "boolean"}, {"type": "null"}]}, None),
        ({"anyOf": [{"type": "boolean"}, {"type": "string"}]}, True),
        ({"type": "array", "items": {"type": "string"}}, []),
        ({"type": "array", "minItems": 2, "items": {"type": "boolean"}}, [True, True]),
        ({"type": "object"}, {}),
        ({"properties": {"a": {"type": "boolean"}}}, {"a": True}),
        ({"$ref": "#/$defs/Check"}, {"passed": True}),
        ({"properties": {"hair_color": {"type": "array"}}}, {"hair_color": ["red hair"]}),
        (
            {
                "properties": {
                    "Hair Color": {"properties": {"why": {"type": "string"}, "seen": {"type": "array"}}}
                }
            },
            {"Hair Color": {"why": "Nothing more to say.", "seen": ["red hair"]}},
        ),
        ({"properties": {"beard": {"type": "array"}}}, {"beard": []}),
        ({"properties": {"beard": {"type": "array", "nullable": True}}}, {"beard": None}),
    ],
)
def test_every_kind_of_schema_is_filled(schema: dict[str, Any], value: Any):
    root = {"$defs": {"Check": {"type": "object", "properties": {"passed": {"type": "boolean"}}}}}
    known = Known({"hair color": ["red hair"], "beard": None}, 7.6, True)
    assert fill(schema, known, root) == value


def test_a_failed_check():
    known = Known({}, 2, False)
    assert fill({"type": "string", "enum": ["yes", "no"]}, known, {}) == "no"
    assert fill({"type": "boolean"}, known, {}) is False


@pytest.mark.parametrize("name", ["hair color", "hair_color", "Hair Color", "hairColor", "hair-color"])
def test_spellings_of_a_name(name: str):
    assert plain(name) == "hair color"


def test_broken_answers_are_no_json():
    for text in ('{"a": 1}', "{}", '{"reasoning": "x", "editing_success": 3}'):
        with pytest.raises(json.JSONDecodeError):
            json.loads(broken(text))
