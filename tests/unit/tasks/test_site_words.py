"""How stored names and numbers are read."""

from __future__ import annotations

from typing import Any

import pytest

from tasks.site_words import heading, shown


@pytest.mark.parametrize(
    ("value", "column", "read"),
    [
        (None, "share", "–"),
        (True, "ranked", "yes"),
        (2265.0, "median_ms", "2.3 s"),
        (0.0, "completion", "0.0 %"),
        (0.0004, "refusal_rate", "< 0.1 %"),
        (0.0005, "left_share", "0.1 %"),
        (1.0, "threshold", "100.0 %"),
        (0.0001, "p", "< 0.001"),
        (0.0432, "p_adjusted", "0.043"),
        (4.0, "mean_a", "4"),
        (0.61234, "wd", "0.612"),
        (-12.345, "mean_b", "-12.3"),
        (2265.4, "seconds", "2265"),
        (7, "n_chains", "7"),
        ("below_threshold", "reason", "too few chains complete"),
        ("failed_step", "reason", "failed step"),
        ("my_own_photo.png", "source", "my_own_photo.png"),
        ("flux-dev", "model", "Flux Dev"),
        ("unknown-model", "model", "unknown-model"),
        (["too_fast", "one_sided"], "reason", "too fast, one sided"),
    ],
)
def test_a_value_is_read_by_its_column(value: Any, column: str, read: str):
    assert shown(value, column, {"flux-dev": "Flux Dev"}) == read


@pytest.mark.parametrize(
    ("column", "read"),
    [("n_chains", "chains"), ("n", "n"), ("median_ms", "median time"), ("group_a", "group a")],
)
def test_a_column_is_read_as_what_it_holds(column: str, read: str):
    assert heading(column) == read
