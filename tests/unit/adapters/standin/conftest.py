"""A running stand-in."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from unit.adapters.standin.place import Inverter, Judging, Place, Start, started


@pytest.fixture(scope="session")
def start() -> Start:
    """Starts a stand-in of a test's own."""
    return started


@pytest.fixture(scope="module")
def shared() -> Iterator[Place]:
    with started(
        retry_after_s=7, hang_s=0.3, missing_models=("gone", "acme/gone", "acme/gone/edit")
    ) as place:
        yield place


@pytest.fixture
def standin(shared: Place) -> Place:
    """A stand-in without memory of other tests."""
    shared.client.post("/standin/reset").raise_for_status()
    vars(shared.judge).update(vars(Judging()))
    vars(shared.editor).update(vars(Inverter()))
    return shared
