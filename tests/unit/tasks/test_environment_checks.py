from __future__ import annotations

import pytest

from domain.errors import DefinitionError
from tasks.environment_checks import check_environment


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("FACEDRIFT_IN_FLIGHT", "fal=4"),
        ("FACEDRIFT_IN_FLIGHT", '{"fal": 0}'),
        ("FACEDRIFT_IN_FLIGHT", '{"fal": -3}'),
        ("FACEDRIFT_IN_FLIGHT", '{"gogle": 4}'),
        ("FACEDRIFT_PER_MINUTE", '{"fal": 0}'),
        ("FACEDRIFT_PER_MINUTE", '{"fal": "often"}'),
        ("FACEDRIFT_RETRY_WAITS_S", "abc"),
        ("FACEDRIFT_RETRY_WAITS_S", "[-1]"),
        ("FACEDRIFT_RETRY_WAIT_LIMIT_S", "long"),
    ],
)
def test_a_variable_that_cannot_be_used_is_named(
    variable: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_environment()
    monkeypatch.setenv(variable, value)
    with pytest.raises(DefinitionError, match=variable):
        check_environment()


def test_good_ones_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FACEDRIFT_IN_FLIGHT", '{"fal": 40}')
    monkeypatch.setenv("FACEDRIFT_PER_MINUTE", '{"google": 0.5}')
    monkeypatch.setenv("FACEDRIFT_RETRY_WAITS_S", "[0, 1.5]")
    check_environment()
