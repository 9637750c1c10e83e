"""Agreement of a tracker with people, and of people with each other."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import MetricError
from metrics.agreement import tracker_accuracy, tracker_confusion
from metrics.annotations import (
    HUMAN_AGREEMENT,
    TRACKED,
    VOTES,
    human_agreement,
    human_cells,
    krippendorff_alpha,
    majority,
    masi_distance,
)

# Krippendorff (2011), example C: four observers, twelve units, missing data.
_ = None
OBSERVERS = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, _, _, _],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, _, 3],
    [_, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, _],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, _],
]


def test_krippendorffs_published_example():
    assert krippendorff_alpha(list(zip(*OBSERVERS, strict=True))) == pytest.approx(0.743, abs=5e-4)


def test_his_example_of_two_observers():
    """Example A: D_o = 8 / 20, D_e = 2 x 14 x 6 / (20 x 19), alpha = 0.095."""
    one, other = [0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]
    alpha = krippendorff_alpha(list(zip(one, other, strict=True)))
    assert alpha == pytest.approx(1 - (8 / 20) / (2 * 14 * 6 / (20 * 19)))
    assert alpha == pytest.approx(0.095, abs=5e-4)


@given(
    st.lists(st.lists(st.sampled_from([None, "a", "b", "c"]), min_size=2, max_size=5), min_size=3, max_size=9)
)
def test_alpha_depends_on_no_order_and_a_nominal_distance_is_the_default(units):
    ratings = [rating for unit in units if len([r for r in unit if r]) > 1 for rating in unit if rating]
    if len(set(ratings)) < 2:
        with pytest.raises(MetricError):
            krippendorff_alpha(units)
        return
    alpha = krippendorff_alpha(units)
    assert krippendorff_alpha([unit[::-1] for unit in units[::-1]]) == pytest.approx(alpha)
    assert krippendorff_alpha(units, lambda _a, _b: 1.0) == pytest.approx(alpha)
    assert alpha <= 1


def test_alpha_of_sets_is_milder_where_sets_overlap():
    units = [[frozenset("a"), frozenset("ab")], [frozenset("c"), frozenset("c")], [frozenset("b")] * 2]
    assert krippendorff_alpha(units, masi_distance) > krippendorff_alpha(units)


def test_alpha_that_is_not_determined_is_refused():
    with pytest.raises(MetricError, match="two ratings"):
        krippendorff_alpha([["a"], [None, "b"]])
    with pytest.raises(MetricError, match="equal"):
        krippendorff_alpha([["a", "a"], ["a", "a"]])


@pytest.mark.parametrize(
    ("a", "b", "distance"),
    [
        ("a", "a", 0.0),
        ("", "", 0.0),
        ("", "a", 1.0),
        ("a", "b", 1.0),
        ("a", "ab", 1 - 2 / 3 * 1 / 2),
        ("ab", "bc", 1 - 1 / 3 * 1 / 3),
    ],
)
def test_masi_by_hand(a, b, distance):
    assert masi_distance(frozenset(a), frozenset(b)) == pytest.approx(distance)
    assert masi_distance(frozenset(b), frozenset(a)) == pytest.approx(distance)


def test_masi_is_for_sets():
    with pytest.raises(MetricError, match="frozenset"):
        masi_distance("a", frozenset("a"))


@pytest.mark.parametrize(
    ("votes", "top"),
    [
        (["red", "red", "red", "blue"], {"red"}),
        (["red", "red", "blue", "blue"], {"red", "blue"}),
        (["red", "blue", "green", None], {"red", "blue", "green", None}),
        (["red", "red", "blue", None], {"red"}),
        ([None, None, "red", "red"], {"red", None}),
    ],
)
def test_majority_keeps_ties(votes, top):
    assert majority(votes) == top


def test_no_vote_has_no_majority():
    with pytest.raises(MetricError, match="no vote"):
        majority([])


def ballots(cells: dict[tuple[str, str], list[str | None]]) -> pl.DataFrame:
    rows = [
        {
            **{"photo": image.split("/")[0], "image": image, "sub_axis": sub_axis},
            **{"annotator": f"a{number}", "category": vote},
        }
        for (image, sub_axis), votes in cells.items()
        for number, vote in enumerate(votes)
    ]
    return pl.DataFrame(rows, schema=VOTES)


def seen(cells: dict[tuple[str, str], list[str] | None]) -> pl.DataFrame:
    rows = [{"image": i, "sub_axis": s, "categories": c} for (i, s), c in cells.items()]
    return pl.DataFrame(rows, schema=TRACKED)


PEOPLE = ballots(
    {
        ("p1/0", "hats"): [None, None, None, "beret hat"],
        ("p1/1", "hats"): ["beret hat"] * 4,
        ("p2/0", "hats"): ["beret hat", "beret hat", None, None],
        ("p2/1", "hats"): ["beret hat", "cowboy hat", "cowboy hat"],
        ("p1/0", "glasses"): [None] * 4,
    }
)
TRACKER = seen(
    {
        ("p1/0", "hats"): [],
        ("p1/1", "hats"): ["cowboy hat"],
        ("p2/0", "hats"): ["beret hat"],
        ("p2/1", "hats"): ["cowboy hat"],
        ("p1/0", "glasses"): None,
    }
)


def test_agreement_by_hand():
    found = human_agreement(PEOPLE, TRACKER, resamples=50)
    assert found.schema == HUMAN_AGREEMENT
    glasses, hats, total = found.to_dicts()
    assert (hats["n"], hats["n_equal"], hats["share"]) == (4, 2, 0.5)
    assert (hats["n_tied"], hats["ceiling"], hats["n_photos"], hats["n_alpha"]) == (1, 0.75, 2, 4)
    assert hats["low"] <= hats["share"] <= hats["high"]
    # 15 ratings: 5 none, 8 beret, 2 cowboy; D_o = (2 x 3 / 3 + 2 x 4 / 3 + 2 x 2 / 2) / 15 = (20 / 3) / 15
    assert 1 - hats["alpha"] == pytest.approx((20 / 3) / ((15**2 - 5**2 - 8**2 - 2**2) / 14))
    assert (glasses["n"], glasses["share"], glasses["n_found_unknown"]) == (0, None, 1)
    assert (glasses["alpha"], glasses["n_alpha"]) == (None, 1)
    assert (total["sub_axis"], total["n"], total["n_equal"]) == ("all", 4, 2)


def test_cells_go_into_the_tables_of_agreement():
    cells = human_cells(PEOPLE, TRACKER)
    assert tracker_accuracy(cells).filter(pl.col("sub_axis") == "hats")["n_equal"].item() == 2
    confusion = tracker_confusion(cells)
    assert confusion.select("truth", "found", "count", "n_left_out").rows() == [
        ("None[hats]", "None[hats]", 1, 1),
        ("beret hat", "cowboy hat", 1, 1),
        ("cowboy hat", "cowboy hat", 1, 1),
    ]


def test_row_order_is_no_matter():
    again = human_agreement(PEOPLE.reverse(), TRACKER.reverse(), resamples=50)
    assert again.equals(human_agreement(PEOPLE, TRACKER, resamples=50))


def test_malformed_votes_are_refused():
    with pytest.raises(MetricError, match="twice"):
        human_cells(pl.concat([PEOPLE, PEOPLE]), TRACKER)
    with pytest.raises(MetricError, match="no column"):
        human_cells(PEOPLE.drop("category"), TRACKER)
    with pytest.raises(MetricError, match="two photos"):
        human_cells(PEOPLE.with_row_index().with_columns(photo=pl.col("index").cast(pl.String)), TRACKER)


def test_no_vote_gives_no_row():
    assert human_agreement(PEOPLE.head(0), TRACKER).height == 0
