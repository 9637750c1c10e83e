"""Does FSS pick the face that people preferred?"""

from __future__ import annotations

import polars as pl
import pytest
from ranked_worlds import results_of

from domain.errors import MetricError
from metrics.metric_agreement import metric_agreement
from metrics.model_ranking import Draws
from metrics.ranking_frames import METRIC_AGREEMENT


def measured(*rows: tuple[str, str, float | None, float | None]) -> pl.DataFrame:
    """Photo, result, and FSS of both sides."""
    results = results_of([(photo, "flux", "qwen", result) for photo, result, _, _ in rows])
    return results.with_columns(
        pl.Series("fss_a", [row[2] for row in rows], dtype=pl.Float64),
        pl.Series("fss_b", [row[3] for row in rows], dtype=pl.Float64),
    )


def test_every_case_by_hand():
    table = metric_agreement(
        measured(
            ("p1", "a", 0.9, 0.5),  # agrees
            ("p1", "b", 0.2, 0.3),  # agrees
            ("p2", "a", 0.1, 0.4),  # does not
            ("p2", "tie", 0.9, 0.1),  # people prefer neither
            ("p3", "a", 0.5, 0.5),  # FSS prefers neither
            ("p3", "a", None, 0.5),  # no face
            ("p3", "tie", 0.5, None),
        ),
        "fss",
        draws=Draws(resamples=200),
    )
    assert table.schema == METRIC_AGREEMENT
    row = table.row(0, named=True)
    assert row["share"] == pytest.approx(2 / 3)
    assert (row["metric"], row["dimension"], row["value"]) == ("fss", "all", "all")
    counted = ("n_matches", "agree", "ties", "unknown", "n_photos")
    assert [row[name] for name in counted] == [7, 2, 2, 2, 2]
    assert (row["low"], row["high"]) == (0, 1), "one of the two photos says all, the other nothing"


def test_nothing_to_compare_is_unknown_and_one_photo_has_no_interval():
    row = metric_agreement(measured(("p", "tie", 0.1, 0.2)), "fss").row(0, named=True)
    assert (row["share"], row["low"], row["high"], row["ties"]) == (None, None, None, 1)
    row = metric_agreement(measured(("p", "a", 0.2, 0.1)), "fss").row(0, named=True)
    assert (row["share"], row["low"], row["high"]) == (1, None, None)


def test_photos_are_resampled_and_not_matches():
    """Ten photos, on five of which all of twenty matches agree: the interval is that of ten, not of 200."""
    rows = [(f"p{k}", "a", 0.9 if k < 5 else 0.1, 0.5) for k in range(10) for _ in range(20)]
    row = metric_agreement(measured(*rows), "fss", draws=Draws(resamples=2_000)).row(0, named=True)
    assert row["share"] == 0.5
    assert row["high"] - row["low"] == pytest.approx(0.6, abs=0.11)


def test_a_row_for_each_dimension():
    results = measured(("p1", "a", 0.9, 0.5), ("p2", "a", 0.1, 0.5))
    chains = pl.DataFrame({"photo": ["p1", "p2"], "session": ["p1", "p2"], "people": ["1", "3"]})
    table = metric_agreement(results, "fss", chains=chains, dimensions={"people": ("1", "2", "3", "4")})
    assert table.select("dimension", "value", "share").rows() == [
        ("all", "all", 0.5), ("people", "1", 1.0), ("people", "3", 0.0),
    ]  # fmt: skip


def test_what_is_refused():
    with pytest.raises(MetricError, match="no column 'fss_a'"):
        metric_agreement(results_of([("p", "a", "b", "a")]), "fss")
    for side in ((float("nan"), 0.1), (0.1, float("inf"))):
        with pytest.raises(MetricError, match="fss is not finite"):
            metric_agreement(measured(("p", "a", *side)), "fss")
