from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from domain.loading import load
from domain.model_cards import ModelCard
from domain.suites import AxisDefinition, DatasetChoice, Rules, Suite


def a_suite(**fields: Any) -> Suite:
    base = load(Suite, "quickstart").model_dump(mode="json")
    return Suite.model_validate(base | fields)


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"models": []}, "at least 1 item"),
        ({"models": ["a", "b", "a"]}, "model named twice: a"),
        ({"sessions": ["s", "s"]}, "session named twice: s"),
        ({"id": "No Slug"}, "match pattern"),
        ({"shard_chains": 0}, "greater than or equal to 1"),
        ({"rules": {"no_face": "middle"}}, "'zero', 'skip' or 'exclude'"),
        ({"judges": {"max_asks": 0}}, "greater than or equal to 1"),
    ],
)
def test_suites_that_are_refused(fields: dict[str, Any], why: str):
    with pytest.raises(ValidationError, match=why):
        a_suite(**fields)


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"adapter": "folder"}, "the adapter `folder` needs a `path`"),
        ({"adapter": "packaged_faces", "path": "here"}, "takes no `path`"),
        ({"adapter": "packaged_faces", "min_fss0": 1.5}, "less than or equal to 1"),
        ({"adapter": "packaged_faces", "min_fss0": -0.1}, "greater than or equal to 0"),
    ],
)
def test_datasets_that_are_refused(fields: dict[str, Any], why: str):
    with pytest.raises(ValidationError, match=why):
        DatasetChoice.model_validate({"id": "d", **fields})


@pytest.mark.parametrize(
    "fields", [{"price_usd": float("inf")}, {"settings": {"a": [float("nan")]}}, {"price_usd": -1}]
)
def test_cards_hold_finite_numbers(fields: dict[str, Any]):
    base = load(ModelCard, "control-unchanged").model_dump(mode="json")
    with pytest.raises(ValidationError):
        ModelCard.model_validate(base | fields)


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        (
            {"adapter": "celeba", "options": {"partitions": "test"}},
            "no option of the adapter 'celeba'; it has: part",
        ),
        ({"adapter": "celeba", "options": {"partition": "tset"}}, "'all', 'train', 'valid' or 'test'"),
        ({"adapter": "folder", "options": {"partition": "test"}}, "'folder'; it has none"),
        (
            {"adapter": "manifest", "options": {"spellings": {"role": {"b": "bass"}}}},
            "no role is called bass",
        ),
        ({"adapter": "london", "options": {"references": ["neutral_front"]}}, "a view is named twice"),
        ({"adapter": "imdb_wiki", "options": {"min_face_score": "high"}}, "valid number"),
        ({"adapter": "lfw"}, "'packaged_faces', 'folder', 'manifest'"),
    ],
)
def test_options_are_those_of_the_adapter(fields: dict[str, Any], why: str):
    with pytest.raises(ValidationError, match=why):
        DatasetChoice.model_validate({"id": "d", "path": "here", **fields})


def test_the_options_of_a_stored_suite_are_read_back():
    choice = DatasetChoice(id="d", adapter="celeba", path="here", options={"partition": "test"})
    assert DatasetChoice.model_validate_json(choice.model_dump_json()) == choice


def test_an_axis_names_its_groups():
    axis = AxisDefinition(
        name="gender_skin",
        values={"gender": ("male", "female"), "skin": ("light", "dark")},
        labels={"male-light": "ML"},
    )
    assert axis.is_intersection
    assert not AxisDefinition(name="age", values={"age": ("young", "old")}).is_intersection


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"values": {"age": ("young",)}}, "two values"),
        ({"values": {"age": ("young", "young")}}, "two values"),
        ({"values": {}}, "at least 1"),
        ({"values": {"age": ("young", "old")}, "labels": {"Y": "young"}}, "label of no group: Y"),
        ({"values": {"age": ("young", "old")}, "name": "Age!"}, "pattern"),
    ],
)
def test_an_axis_that_cannot_be_compared(fields: dict[str, object], message: str):
    with pytest.raises(ValidationError, match=message):
        AxisDefinition.model_validate({"name": "age"} | fields)


def test_no_rule_is_zero():
    for field in ("permutations", "resamples"):
        with pytest.raises(ValidationError):
            Rules.model_validate({field: 0})


@pytest.mark.parametrize(
    ("suite", "changes", "editor"),
    [
        ("quickstart", {}, "procedural"),
        ("identity-drift-demo", {}, "scene-mild"),
        ("identity-drift-demo", {"rehearsal": {"editor": "scene-strong"}}, "scene-strong"),
    ],
)
def test_the_editor_of_a_rehearsal_can_read_its_prompts(suite: str, changes: dict[str, Any], editor: str):
    base = load(Suite, suite).model_dump(mode="json")
    assert Suite.model_validate(base | changes).standin_editor == editor
