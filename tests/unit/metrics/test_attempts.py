from __future__ import annotations

from itertools import product

import polars as pl
import pytest

from domain.errors import MetricError
from metrics.attempts import ATTEMPT, CHAIN, attempts_by_step, completion, failed_steps

WHERE = ("s", "d")


def chains(model: str, complete: int, stopped: int, unfinished: int = 0) -> pl.DataFrame:
    counts = {"complete": complete, "stopped": stopped, "unfinished": unfinished}
    statuses = [status for status, n in counts.items() for _ in range(n)]
    rows = [(*WHERE, model, f"p{n}", f"p{n}", status) for n, status in enumerate(statuses)]
    return pl.DataFrame(rows, CHAIN, orient="row")


def tries(*rows: tuple[str, str, int, int, str]) -> pl.DataFrame:
    """Model, photo, step, attempt, verdict."""
    held = [(*WHERE, model, photo, photo, step, n, verdict) for model, photo, step, n, verdict in rows]
    return pl.DataFrame(held, ATTEMPT, orient="row")


@pytest.mark.parametrize(
    ("counts", "ranked", "reason"),
    [
        ((800, 200), True, None),  # exactly 80 %
        ((799, 201), False, "below_threshold"),  # 79.9 %
        ((4, 1), True, None),
        ((159, 40), False, "below_threshold"),  # 79.899 %
        ((160, 39), True, None),  # 80.402 %
        ((800, 0, 200), True, None),  # ranked already, whatever becomes of the others
        ((799, 200, 1), False, "unfinished"),  # the last one decides
        ((799, 201 - 1, 1), False, "unfinished"),
        ((798, 201, 1), False, "below_threshold"),  # not even were it complete
        ((0, 0, 5), False, "unfinished"),
    ],
)
def test_who_is_ranked(counts: tuple[int, ...], ranked: bool, reason: str | None) -> None:
    [row] = completion(chains("m", *counts), tries(), 0.8).iter_rows(named=True)
    assert (row["ranked"], row["reason"]) == (ranked, reason)
    assert row["completion"] == counts[0] / sum(counts)
    assert (row["n_chains"], row["n_complete"], row["n_stopped"]) == (sum(counts), *counts[:2])
    assert row["n_unfinished"] == (counts[2] if len(counts) > 2 else 0)
    assert row["threshold"] == 0.8


def test_a_model_that_mostly_changes_the_shape_is_excluded_for_that() -> None:
    every = pl.concat([chains("half", 4, 1), chains("most", 4, 1)])
    off = [("half", "p0", 1, 1, "off_shape"), ("half", "p0", 1, 2, "made")]
    off += [
        ("most", "p0", 1, 1, "off_shape"),
        ("most", "p0", 1, 2, "off_shape"),
        ("most", "p0", 1, 3, "made"),
    ]
    found = completion(every, tries(*off), 0.8)
    assert found.select("model", "ranked", "reason", "n_attempts", "n_off_shape").rows() == [
        ("half", True, None, 2, 1),
        ("most", False, "changes_shape", 3, 2),
    ]


def test_attempts_are_counted_by_step() -> None:
    rows = [("m", "a", 1, 1, "made"), ("m", "a", 2, 1, "not_made"), ("m", "a", 2, 2, "refused")]
    rows += [("m", "a", 2, 3, "made"), ("m", "b", 1, 1, "no_image"), ("m", "b", 1, 2, "off_shape")]
    rows += [("m", "b", 1, 3, "not_made"), ("m", "c", 1, 1, "refused")]  # c goes on later
    found = attempts_by_step(tries(*rows), 3)
    assert found.drop("suite", "dataset").rows(named=True) == [
        {"model": "m", "step": 1, "n_tried": 3, "made_at": [1, 0, 0], "n_failed": 1, "not_made": 1,
         "refused": 1, "no_image": 1, "off_shape": 1},
        {"model": "m", "step": 2, "n_tried": 1, "made_at": [0, 0, 1], "n_failed": 0, "not_made": 1,
         "refused": 1, "no_image": 0, "off_shape": 0},
    ]  # fmt: skip
    told = tries(*rows).with_columns(
        detail=pl.when(pl.col("verdict") == "not_made").then(pl.lit("right_place"))
    )
    assert failed_steps(told, 3).drop("suite", "dataset").rows() == [
        ("m", "b", "b", 1, ["no_image", "off_shape", "not_made: right_place"])
    ]


def test_each_attempt_is_in_one_count() -> None:
    verdicts = ("made", "not_made", "refused", "no_image", "off_shape")
    rows = [("m", f"p{n}", 1, 1, verdict) for n, verdict in enumerate(verdicts)]
    [row] = attempts_by_step(tries(*rows), 1).iter_rows(named=True)
    assert row["n_tried"] == sum(row["made_at"]) + sum(row[verdict] for verdict in verdicts[1:]) == 5
    assert row["n_failed"] == 4


@pytest.mark.parametrize(("made", "of"), list(product((0, 1, 3, 7), (7, 13))))
def test_the_threshold_is_met_exactly(made: int, of: int) -> None:
    """Against whole fractions: 3 of 7 reaches 0.428571 and no 0.428572."""
    for millionths in (428571, 428572, 0, 1_000_000):
        found = completion(chains("m", made, of - made), tries(), millionths / 1_000_000)
        assert found["ranked"][0] == (made * 1_000_000 >= millionths * of)


def test_nothing_gives_nothing() -> None:
    assert completion(chains("m", 0, 0), tries(), 0.8).is_empty()
    assert attempts_by_step(tries(), 3).is_empty()


@pytest.mark.parametrize("share", [-0.1, 1.1, float("nan")])
def test_a_threshold_that_is_no_share_is_refused(share: float) -> None:
    with pytest.raises(MetricError, match="not a share"):
        completion(chains("m", 1, 0), tries(), share)


def test_malformed_tables_are_refused() -> None:
    one = ("m", "a", 1, 1, "made")
    with pytest.raises(MetricError, match="there twice"):
        attempts_by_step(tries(one, one), 3)
    with pytest.raises(MetricError, match="'odd' is none of made"):
        attempts_by_step(tries(("m", "a", 1, 1, "odd")), 3)
    with pytest.raises(MetricError, match="above 1"):
        attempts_by_step(tries(("m", "a", 1, 2, "made")), 1)
    with pytest.raises(MetricError, match="no column 'verdict'"):
        completion(chains("m", 1, 0), tries(one).drop("verdict"), 0.8)
