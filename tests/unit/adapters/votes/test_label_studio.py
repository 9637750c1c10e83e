"""Tasks for Label Studio, and its exports back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from known import FIRST, KNOWN, MATCHES

from adapters.votes.label_studio import LabelStudioVotes
from adapters.votes.label_studio_tasks import CHOICE, PAIR, labelling_config, tasks
from domain.errors import DefinitionError
from domain.votes import FoundVote, RejectedVote, Vote

DATA = {"match": FIRST, "left_is": "b", "original": "o", "left": "l", "right": "r"}


def pair(selected: str) -> dict[str, Any]:
    return {
        "from_name": PAIR,
        "to_name": ["left", "right"],
        "type": "pairwise",
        "value": {"selected": selected},
    }


def tie() -> dict[str, Any]:
    return {"from_name": CHOICE, "to_name": "original", "type": "choices", "value": {"choices": ["tie"]}}


def annotation(*result: Mapping[str, Any], **fields: Any) -> dict[str, Any]:
    base = {
        "id": 11,
        "completed_by": {"id": 3, "email": "ann@example.org"},
        "was_cancelled": False,
        "created_at": "2026-11-30T12:00:00.000000Z",
        "lead_time": 2.5,
        "result": list(result),
    }
    return {**base, **fields}


def read(tmp_path: Path, exported: object) -> list[FoundVote | RejectedVote]:
    path = tmp_path / "export.json"
    path.write_text(exported if isinstance(exported, str) else json.dumps(exported))
    return list(LabelStudioVotes.build(str(path)).read(KNOWN))


def votes(tmp_path: Path, exported: object) -> list[Vote]:
    return [one.vote for one in read(tmp_path, exported) if isinstance(one, FoundVote)]


@pytest.mark.parametrize(
    ("result", "left", "choice"),
    [(pair("left"), "b", "b"), (pair("right"), "b", "a"), (pair("left"), "a", "a"), (tie(), "a", "tie")],
)
def test_an_annotation_is_a_vote(tmp_path: Path, result: dict[str, Any], left: str, choice: str) -> None:
    task = {"id": 1, "data": {**DATA, "left_is": left}, "annotations": [annotation(result)]}
    assert votes(tmp_path, [task]) == [
        Vote.model_validate(
            {
                "match": FIRST,
                "choice": choice,
                "annotator": "ann@example.org",
                "at": "2026-11-30T12:00:00+00:00",
                "source": "label_studio",
                "source_id": "annotation-11",
                "left": left,
                "ms": 2500,
            }
        )
    ]


@pytest.mark.parametrize("answer", [{"pw": "right"}, {"pw": {"selected": "right"}}])
def test_both_exports_say_the_same(tmp_path: Path, answer: dict[str, Any]) -> None:
    task = {"id": 1, "data": DATA, "annotations": [annotation(pair("right"), completed_by=3)]}
    row = {
        "id": 1,
        **DATA,
        **answer,
        "annotator": 3,
        "annotation_id": 11,
        "created_at": "2026-11-30T12:00:00.000000Z",
        "lead_time": 2.5,
    }
    assert votes(tmp_path, [task]) == votes(tmp_path, [row])
    assert votes(tmp_path, [{**row, "pw": None, "choice": "tie"}])[0].choice == "tie"
    assert votes(tmp_path, [{**row, "pw": "none", "choice": {"choices": ["tie"]}}])[0].choice == "tie"


@pytest.mark.parametrize(
    ("task", "reason"),
    [
        ({"data": DATA, "annotations": [annotation()]}, "no_choice"),
        ({"data": DATA, "annotations": [annotation(pair("left"), tie())]}, "two_choices"),
        ({"data": DATA, "annotations": [annotation(pair("up"))]}, "bad_choice"),
        ({"data": DATA, "annotations": [annotation(pair("left"), was_cancelled=True)]}, "skipped"),
        ({"data": DATA, "annotations": [annotation(pair("left"), completed_by=None)]}, "no_annotator"),
        ({"data": DATA, "annotations": [annotation(pair("left"), created_at="soon")]}, "bad_time"),
        ({"data": DATA, "annotations": [annotation(pair("left"), lead_time=-1)]}, "bad_lead_time"),
        ({"data": DATA, "annotations": [annotation(pair("left"), id=None)]}, "no_id"),
        ({"data": {**DATA, "match": "x"}, "annotations": [annotation(pair("left"))]}, "unknown_match"),
        ({"data": {"match": FIRST}, "annotations": [annotation(pair("left"))]}, "no_left"),
        ({"data": DATA, "annotations": [7]}, "not_json"),
        ({"data": DATA, "annotations": 7}, "not_json"),
        ({"data": DATA, "annotations": [annotation(result=7)]}, "no_choice"),
        (7, "not_json"),
    ],
)
def test_a_bad_annotation_costs_no_other(tmp_path: Path, task: object, reason: str) -> None:
    good = {"data": DATA, "annotations": [annotation(pair("left"))]}
    found = read(tmp_path, [good, task, good])
    assert [one.reason for one in found if isinstance(one, RejectedVote)] == [reason]
    assert next(one for one in found if isinstance(one, RejectedVote)).detail.startswith("task 2: ")
    assert sum(isinstance(one, FoundVote) for one in found) == 2


def test_a_task_without_annotations_is_no_vote(tmp_path: Path) -> None:
    assert read(tmp_path, [{"data": DATA, "annotations": []}, {"data": DATA}]) == []


@pytest.mark.parametrize(
    ("text", "said"), [("{", "cannot be read"), ("{}", "a list of tasks"), ("[NaN]", "NaN")]
)
def test_what_is_no_export(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(DefinitionError, match=said):
        read(tmp_path, text)


def test_an_export_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(DefinitionError, match="no such export"):
        LabelStudioVotes.build(str(tmp_path / "nowhere.json"))


@pytest.mark.parametrize("mirrored", [False, True])
def test_tasks_say_who_is_left(mirrored: bool) -> None:
    each = [(match.id, match) for match in MATCHES]
    left = {name: "ab"[number % 2] for number, (name, _) in enumerate(each)}
    text = tasks(
        each, lambda sha: f"/{sha}", lambda name: "a" if left[name] == "a" else "b", mirrored=mirrored
    )
    made = json.loads(text)
    assert len(made) == len(MATCHES) * (2 if mirrored else 1)
    for task in made:
        data = task["data"]
        match = KNOWN.by_id[data["match"]]
        crops = [f"/{match.crop_a_sha256}", f"/{match.crop_b_sha256}"]
        assert [data["left"], data["right"]] == (crops if data["left_is"] == "a" else crops[::-1])
        assert data["original"] == f"/{match.original_sha256}"
        assert not {"model_a", "model_b", "gold"} & set(data)
    if mirrored:
        assert {(task["data"]["match"], task["data"]["left_is"]) for task in made} == {
            (match.id, side) for match in MATCHES for side in "ab"
        }


def test_the_configuration_is_xml_whose_names_are_those_that_are_read() -> None:
    root = ElementTree.fromstring(labelling_config('Which is "more" <like> it & why?'))
    assert [one.attrib["value"] for one in root.iter("Header")] == ['Which is "more" <like> it & why?']
    pairwise, choices = root.find("Pairwise"), root.find("Choices")
    assert pairwise is not None
    assert choices is not None
    assert pairwise.attrib == {"name": PAIR, "toName": "left,right"}
    assert choices.attrib["name"] == CHOICE
    images = {image.attrib["name"]: image.attrib["value"] for image in root.iter("Image")}
    assert images == {"original": "$original", "left": "$left", "right": "$right"}


@pytest.mark.parametrize(
    ("text", "said"), [("", "the export is empty"), (" \n", "is empty"), ("[]", "no tasks")]
)
def test_an_export_without_tasks_is_an_error(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(DefinitionError, match=f"{said}.* no votes"):
        read(tmp_path, text)
