"""Each version of a set has an id of its own."""

from __future__ import annotations

import pytest

from domain.versions import id_of, version_of


@pytest.mark.parametrize(("version", "set_id"), [(1, "city"), (2, "city-v2"), (12, "city-v12")])
def test_an_id_and_its_version(version: int, set_id: str):
    assert id_of("city", version) == set_id
    assert version_of(set_id) == version


def test_only_an_ending_counts():
    assert version_of("city-v2-north") == 1
    assert version_of("v3") == 1
