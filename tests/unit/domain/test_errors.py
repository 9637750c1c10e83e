from __future__ import annotations

import copy
import inspect
import pickle
from collections.abc import Iterator

import pytest

from domain import errors
from domain.errors import DefinitionError, FacedriftError
from domain.judging import InvalidAnswerError

VALUES = {
    "file": "suites/mine.yaml",
    "line": 7,
    "field": "models.0",
    "allowed": ("a", "b"),
    "reason": "truncated",
    "key": "outcomes/ab/x.json",
    "provider": "acme",
    "model": "acme-1",
    "retry_after_s": 2.5,
    "run_id": "20261130T000000-abcdef",
    "done": 3,
    "cost_usd": 0.25,
    "code": "rate_limit_exceeded",
    "job_over": True,
}


def everywhere(kind: type[FacedriftError]) -> Iterator[type[FacedriftError]]:
    yield kind
    for child in kind.__subclasses__():
        yield from everywhere(child)


def fields(kind: type[FacedriftError]) -> list[inspect.Parameter]:
    return [p for p in inspect.signature(kind).parameters.values() if p.name != "message"]


ALL = [kind for kind in everywhere(FacedriftError) if kind.__module__ == "domain.errors"]


def test_the_tree_is_the_whole_module():
    inside = {v for v in vars(errors).values() if isinstance(v, type) and issubclass(v, Exception)}
    assert inside == set(ALL)
    assert all(kind.__name__ in (errors.__doc__ or "") for kind in ALL)


@pytest.mark.parametrize("kind", ALL)
def test_fields_are_keywords_with_defaults(kind: type[FacedriftError]):
    assert all(p.kind is p.KEYWORD_ONLY and p.default is not p.empty for p in fields(kind))
    assert str(kind("only a message")) == "only a message"
    assert str(kind()) == ""


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("travel", [lambda e: pickle.loads(pickle.dumps(e)), copy.copy, copy.deepcopy])
def test_every_error_survives_pickling_and_copying_with_all_its_fields(kind: type[FacedriftError], travel):
    given = {p.name: VALUES[p.name] for p in fields(kind)}
    before = kind("what went wrong", **given)
    after = travel(before)
    assert type(after) is kind
    assert after.message == "what went wrong"
    assert {name: getattr(after, name) for name in given} == given
    assert str(after) == str(before)
    assert after.args == before.args


def test_an_invalid_answer_survives_pickling():
    assert str(pickle.loads(pickle.dumps(InvalidAnswerError("why")))) == "why"


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({}, "wrong"),
        ({"file": "a.yaml"}, "a.yaml: wrong"),
        ({"file": "a.yaml", "line": 3}, "a.yaml:3: wrong"),
        ({"field": "x.0"}, "wrong (field 'x.0')"),
        ({"allowed": ("p", "q")}, "wrong; allowed: p, q"),
        (
            {"file": "a.yaml", "line": 3, "field": "x", "allowed": ("p",)},
            "a.yaml:3: wrong (field 'x'); allowed: p",
        ),
    ],
)
def test_a_definition_error_says_where_and_what_is_allowed(given: dict[str, object], text: str):
    assert str(DefinitionError("wrong", **given)) == text
