from __future__ import annotations

from collections import Counter

import pytest
from pydantic import ValidationError

from domain.errors import DefinitionError
from domain.loading import load
from domain.sessions import SessionSet
from domain.taxonomy import Taxonomy


@pytest.fixture(scope="module")
def published() -> SessionSet:
    return load(SessionSet, "face-edit-sessions")


@pytest.fixture(scope="module")
def taxonomy() -> Taxonomy:
    return load(Taxonomy, "face-edit-attributes")


def with_step(published: SessionSet, **fields: object) -> SessionSet:
    plain = published.model_dump(mode="json")
    plain["sessions"] = plain["sessions"][:1]
    plain["sessions"][0]["steps"][1] |= fields
    return SessionSet.model_validate(plain)


def test_the_published_counts(published: SessionSet):
    assert Counter(session.test_set for session in published.sessions) == {
        "accessories": 10,
        "hair": 10,
        "multi_axis": 10,
        "pose": 5,
    }
    assert {len(session.steps) for session in published.sessions} == {4}


def test_what_the_prompts_ask_for(published: SessionSet, taxonomy: Taxonomy):
    asked = [
        [(taxonomy.attributes[step.attribute.casefold()].category, step.keep) for step in session.steps]
        for session in published.sessions
    ]
    assert len({category for session in asked for category, _ in session}) == 30
    assert sum(keep for session in asked for _, keep in session) == 4
    again = [
        keep
        for session in asked
        for number, (category, keep) in enumerate(session)
        if category in [before for before, _ in session[:number]]
    ]
    assert again.count(False) == 27
    assert again.count(True) == 4


def test_keep_is_marked_exactly_where_the_prompt_says_so(published: SessionSet):
    for session in published.sessions:
        for step in session.steps:
            assert step.keep == step.prompt.startswith("Keep")


def test_the_published_set_is_sound(published: SessionSet, taxonomy: Taxonomy):
    published.check(taxonomy)
    assert len(published.sessions) == 35


def test_an_attribute_outside_the_taxonomy(published: SessionSet, taxonomy: Taxonomy):
    changed = with_step(published, prompt="Add a space helmet", attribute="space helmet")
    with pytest.raises(DefinitionError, match="'space helmet' is not in taxonomy") as caught:
        changed.check(taxonomy)
    assert caught.value.field == "sessions.accessories_001.steps.2"


def test_a_prompt_that_does_not_name_its_attribute(published: SessionSet, taxonomy: Taxonomy):
    with pytest.raises(DefinitionError, match="does not name its attribute 'wool hat'"):
        with_step(published, prompt="Add a hat of wool").check(taxonomy)


def test_a_session_named_twice(published: SessionSet):
    plain = published.model_dump(mode="json")
    plain["sessions"] = [plain["sessions"][0], plain["sessions"][0]]
    with pytest.raises(ValidationError, match="session named twice: accessories_001"):
        SessionSet.model_validate(plain)


def test_a_session_without_steps(published: SessionSet):
    plain = published.model_dump(mode="json")
    plain["sessions"][0]["steps"] = []
    with pytest.raises(ValidationError, match="at least 1 item"):
        SessionSet.model_validate(plain)


def test_by_id(published: SessionSet):
    assert published.by_id["poses_003"].test_set == "pose"
    assert len(published.by_id) == 35
