"""Overedits that are a pattern, on a hand-made matrix."""

from __future__ import annotations

import polars as pl
import pytest

from domain.errors import MetricError
from metrics.frames import OVEREDITS
from metrics.overedit_patterns import PATTERNS, frequent_patterns


def matrix(*cells: tuple[str, str, str, int, int]) -> pl.DataFrame:
    rows = [
        {
            **{"suite": "s", "dataset": "celeba", "model": model, "intended": intended, "found": found},
            **{"count": count, "prompts": n, "rate": count / n, "eligible": n, "rate_eligible": count / n},
        }
        for model, intended, found, count, n in cells
    ]
    return pl.DataFrame(rows, schema=OVEREDITS)


MATRIX = matrix(
    ("m1", "bob cut", "straight hair", 3, 20),  # just 15 %
    ("m2", "bob cut", "straight hair", 15, 100),
    ("m3", "bob cut", "straight hair", 14, 100),
    ("m1", "curly hair", "None[hair style]", 9, 10),
    ("m2", "curly hair", "None[hair style]", 0, 10),
    ("m1", "red hair", "stubble", 1, 10),
)


def test_patterns_by_hand():
    found = frequent_patterns(MATRIX)
    assert found.schema == PATTERNS
    assert found.select("intended", "found", "n_models", "n_compared").rows() == [
        ("bob cut", "straight hair", 2, 3),
        ("curly hair", "None[hair style]", 1, 2),
    ]
    assert found["models"].to_list() == [["m1", "m2"], ["m1"]]
    assert found["rates"].to_list() == [[0.15, 0.15], [0.9]]
    assert found["prompts"].to_list() == [[20, 100], [10]]


def test_row_order_is_no_matter():
    assert frequent_patterns(MATRIX.reverse()).equals(frequent_patterns(MATRIX))


def test_another_share():
    assert frequent_patterns(MATRIX, share=0.9)["intended"].to_list() == ["curly hair"]


def test_malformed_input_is_refused():
    with pytest.raises(MetricError, match="no column"):
        frequent_patterns(MATRIX.drop("count"))
    for share in (0.0, 1.5, float("nan")):
        with pytest.raises(MetricError, match="share"):
            frequent_patterns(MATRIX, share=share)
