"""What a reader of a ranking is told of its votes."""

from __future__ import annotations

import polars as pl
import pytest

from tasks.vote_notices import open_ranks

RESULTS = pl.DataFrame(
    {
        "photo": ["p1", "p1", "p2", "p3"],
        "model_a": ["flux", "flux", "flux", "flux"],
        "model_b": ["qwen", "slow", "qwen", "slow"],
    }
)


def board(*rows: tuple[str, float | None, float | None, float | None]) -> pl.DataFrame:
    names = {"model": pl.String, **dict.fromkeys(("rating", "rating_low", "rating_high"), pl.Float64)}
    return pl.DataFrame(rows, names, orient="row")


@pytest.mark.parametrize("bounds", [(None, 1200.0), (1000.0, None), (None, None)])
def test_open_bounds_are_too_few_photos_and_matches(bounds: tuple[float | None, float | None]) -> None:
    """Of the four matches two are of a model that is not on the board; they are on p1 and p2."""
    found = open_ranks(board(("flux", 1100.0, *bounds), ("qwen", 900.0, 800.0, 950.0)), RESULTS)
    assert found == "2 photos and 2 matches are too few to tell these models apart: ranks stay open"


def test_one_is_one() -> None:
    found = open_ranks(board(("flux", 1.0, None, None), ("qwen", 1.0, None, None)), RESULTS.head(1))
    assert found == "1 photo and 1 match are too few to tell these models apart: ranks stay open"


def test_closed_bounds_and_models_without_a_rating_say_nothing() -> None:
    held = board(("flux", 1100.0, 1000.0, 1200.0), ("qwen", None, None, None))
    assert open_ranks(held, RESULTS) is None
