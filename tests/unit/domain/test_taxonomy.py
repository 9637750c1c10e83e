from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from domain.loading import load
from domain.sessions import SessionSet
from domain.taxonomy import Taxonomy


@pytest.fixture(scope="module")
def taxonomy() -> Taxonomy:
    return load(Taxonomy, "face-edit-attributes")


def small(*attributes: str) -> Taxonomy:
    category = {"name": "hat", "attributes": attributes}
    return Taxonomy.model_validate(
        {
            "id": "t",
            "version": 1,
            "source": "here",
            "axes": [{"name": "a", "sub_axes": [{"name": "hats", "categories": [category]}]}],
        }
    )


def test_the_published_counts(taxonomy: Taxonomy):
    assert len(taxonomy.attributes) == 169
    assert sum(len(names) for names in taxonomy.categories.values()) == 35
    assert len(taxonomy.sub_axes) == 8
    assert [axis.name for axis in taxonomy.axes] == ["hair", "accessories", "pose"]
    assert {name: len(categories) for name, categories in taxonomy.categories.items()} == {
        "hair color": 9,
        "hair type": 2,
        "hair style": 3,
        "mustache": 5,
        "beard": 5,
        "glasses": 2,
        "hats": 6,
        "head position": 3,
    }


def test_none_is_no_category_and_clean_shaven_is_one_of_beard(taxonomy: Taxonomy):
    assert taxonomy.sub_axis_of["clean shaven"] == "beard"
    assert "none" not in {name.casefold() for name in taxonomy.sub_axis_of}


def test_every_prompt_of_the_sessions_matches_its_intended_attribute(taxonomy: Taxonomy):
    steps = [step for session in load(SessionSet, "face-edit-sessions").sessions for step in session.steps]
    assert len(steps) == 140
    wrong = {
        step.prompt: (step.attribute, found.name if found else None)
        for step in steps
        if (found := taxonomy.match(step.prompt)) is None or found.name != step.attribute
    }
    assert wrong == {}


@pytest.mark.parametrize(
    ("prompt", "name"),
    [
        ("Replace the french beret hat with a snapback cap.", "snapback cap"),
        ("ADD SQUARE GLASSES", "square glasses"),
        ("make it jet black hair", "jet black hair"),  # not the shorter "black hair" inside it
        ("a hairstyle of jet black hairs", None),
        ("nothing that is asked for", None),
        ("", None),
    ],
)
def test_match(taxonomy: Taxonomy, prompt: str, name: str | None):
    found = taxonomy.match(prompt)
    assert (found.name if found else None) == name


def test_an_attribute_knows_its_place(taxonomy: Taxonomy):
    found = taxonomy.attributes["jet black hair"]
    assert (found.category, found.sub_axis, found.axis) == ("black hair", "hair color", "hair")


def test_characters_of_a_pattern_are_taken_literally():
    assert small("hat (wide)").match("add a hat (wide) now") is not None
    assert small("h.t").match("add a hat") is None


@pytest.mark.parametrize("names", [("hat", "hat"), ("Hat", "hAT")])
def test_an_attribute_named_twice_is_refused(names: tuple[str, ...]):
    with pytest.raises(ValidationError, match="attribute named twice: hat"):
        small(*names)


def test_a_category_in_two_sub_axes_is_refused(taxonomy: Taxonomy):
    plain: dict[str, Any] = taxonomy.model_dump(mode="json")
    plain["axes"][0]["sub_axes"][0]["categories"][0]["name"] = "straight hair"
    with pytest.raises(ValidationError, match="category named twice: straight hair"):
        Taxonomy.model_validate(plain)
