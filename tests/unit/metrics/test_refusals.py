from __future__ import annotations

import polars as pl
import pytest

from domain.errors import MetricError
from metrics.refusals import REFUSALS, refusals


def steps(*rows: tuple[str, str, str]) -> pl.DataFrame:
    return pl.DataFrame(
        [{"suite": "s", "dataset": "d", "model": m, "photo": p, "outcome": o} for m, p, o in rows],
        schema={name: pl.String for name in ("suite", "dataset", "model", "photo", "outcome")},
    )


PHOTOS = pl.DataFrame(
    {"dataset": ["d", "d"], "photo": ["p", "q"], "groups": [["gender=female", "age=20-30"], None]},
    schema={"dataset": pl.String, "photo": pl.String, "groups": pl.List(pl.String)},
)


def test_each_answer_counts_for_all_and_for_each_group():
    table = refusals(
        steps(
            ("m", "p", "edited"), ("m", "p", "refused"), ("m", "q", "no_image"), ("m", "q", "refused"),
            ("m", "q", "failed"), ("m", "q", "not_run"), ("n", "p", "edited"),
        ),
        PHOTOS,
    )  # fmt: skip
    assert table.schema == REFUSALS
    assert table.select("model", "group", "n_answers", "refused", "no_image").rows() == [
        ("m", "age=20-30", 2, 1, 0),
        ("m", "all", 4, 2, 1),
        ("m", "gender=female", 2, 1, 0),
        ("n", "age=20-30", 1, 0, 0),
        ("n", "all", 1, 0, 0),
        ("n", "gender=female", 1, 0, 0),
    ]


def test_no_answers_are_no_rows():
    assert refusals(steps(), PHOTOS).is_empty()
    assert refusals(steps(("m", "p", "failed")), PHOTOS).is_empty()


def test_a_stranger_and_a_group_of_the_reserved_name_are_errors():
    with pytest.raises(MetricError, match="not among the photos"):
        refusals(steps(("m", "nobody", "edited")), PHOTOS)
    with pytest.raises(MetricError, match="stands for all"):
        refusals(steps(), PHOTOS.with_columns(groups=pl.Series([["all"], []])))
