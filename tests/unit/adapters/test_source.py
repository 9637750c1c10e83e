from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.datasets.source import slug
from domain.photos import Slug


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("Anna", "anna"),
        ("Anna Maria 2.jpg", "anna-maria-2.jpg"),
        ("anna/1", "anna-1"),
        ("  --Zoë--  ", "zo"),
        ("北京", "photo"),
        ("...", "photo"),
        ("a" * 200, "a" * 60),
    ],
)
def test_slugs(name: str, found: str):
    assert slug(name, {}) == found


def test_the_same_name_keeps_its_slug_and_another_gets_its_own():
    taken: dict[str, str] = {}
    first, second = slug("Anna!", taken), slug("Anna?", taken)
    assert first == "anna"
    assert re.fullmatch(r"anna-[0-9a-f]{8}", second)
    assert (slug("Anna!", taken), slug("Anna?", taken)) == (first, second)


def test_one_name_of_two_owners():
    taken: dict[str, str] = {}
    assert slug("a-b", taken, owner="a/b.jpg") != slug("a-b", taken, owner="a/b.png")


@given(st.lists(st.text(), max_size=20, unique=True))
def test_different_names_never_share_a_slug_and_each_is_one(names: list[str]):
    taken: dict[str, str] = {}
    found = [slug(name, taken) for name in names]
    assert len(set(found)) == len(names)
    assert all(re.fullmatch(Slug, one) for one in found)
