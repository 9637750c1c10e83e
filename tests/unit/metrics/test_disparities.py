"""Means of groups and distances between them, on hand-made sessions."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from scipy import stats
from unit.metrics.group_frames import photo, photos_frame, session, sessions_frame

from domain.errors import MetricError
from metrics.comparison_rules import ComparisonRules
from metrics.disparities import DISPARITIES, GROUP_MEANS, disparities, group_means
from metrics.group_axes import AGE, GENDER, GENDER_SKIN, PAPER_AXES, SKIN, Axis

RULES = ComparisonRules(permutations=199, resamples=200)


def study(n_people: int = 12, seed: int = 0) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Two photos a person, four sessions a photo in two test sets, two models; men drop 20 points more."""
    rng = np.random.default_rng(seed)
    photos, sessions = [], []
    for person in range(n_people):
        gender, skin = ("male", "female")[person % 2], ("light", "dark")[person // 2 % 2]
        for number in range(2):
            age = ("young", "old")[(person // 4 + (number if person == 0 else 0)) % 2]
            name = f"p{person:02}{number}"
            photos.append(photo(name, f"s{person}", f"gender={gender}", f"skin={skin}", f"age={age}"))
            for model in ("m1", "m2"):
                for test_set in ("hair", "pose"):
                    for k in range(2):
                        scores = {
                            "drop_fss": rng.normal(40 if gender == "male" else 20, 3),
                            "sc": rng.integers(20, 36) / 40,
                            "oer": rng.integers(0, 5) / 4,
                        }
                        fields = {"model": model, "test_set": test_set, **scores}
                        sessions.append(session(f"{test_set}_{k}", name, **fields))
    return sessions_frame(*sessions), photos_frame(*photos)


SESSIONS, PHOTOS = study()


def one(frame: pl.DataFrame, **where: str) -> dict:
    rows = frame.filter(pl.all_horizontal(*(pl.col(name) == value for name, value in where.items())))
    assert rows.height == 1, rows
    return rows.to_dicts()[0]


def test_means_by_hand():
    photos = photos_frame(
        photo("p1", "a", "gender=male", "skin=light"),
        photo("p2", "b", "gender=male", "skin=dark"),
        photo("p3", "c", "gender=female", "skin=light"),
        photo("p4", "d"),
    )
    sessions = sessions_frame(
        session("x", "p1", drop_fss=10.0, sc=0.5, oer=1.0),
        session("y", "p1", drop_fss=20.0, sc=None, oer=0.0),
        session("x", "p2", drop_fss=60.0, sc=0.75, oer=0.5),
        session("x", "p3", drop_fss=90.0, complete=False),
        session("x", "p4", drop_fss=99.0),
    )
    means = group_means(sessions, photos, [GENDER, GENDER_SKIN], RULES)
    assert means.schema == GROUP_MEANS
    male = one(means, test_set="hair", metric="drop_fss", group="male")
    assert (male["mean"], male["n"], male["n_photos"], male["n_people"]) == (30.0, 3, 2, 2)
    female = one(means, test_set="hair", metric="drop_fss", group="female")
    assert (female["mean"], female["rank"], female["n"], female["n_people"]) == (None, None, 0, 0)
    assert one(means, test_set="all", metric="sc", group="male")["mean"] == 62.5
    assert one(means, test_set="all", metric="sc", group="male")["n"] == 2
    assert one(means, test_set="all", metric="oer", group="male")["mean"] == 50.0
    ranks = means.filter(pl.col("axis") == "gender_skin", pl.col("test_set") == "hair")
    of = {(row["metric"], row["group"]): row["rank"] for row in ranks.to_dicts()}
    assert of["drop_fss", "male-dark"] == 1
    assert of["sc", "male-dark"] == 2
    assert of["oer", "male-light"] == 1
    empty = one(disparities(sessions, photos, [GENDER], RULES), test_set="hair", metric="sc")
    assert (empty["wd"], empty["p"], empty["n_b"], empty["n_a"], empty["worst"]) == (None, None, 0, 2, None)


def test_distances_of_a_study():
    found = disparities(SESSIONS, PHOTOS, PAPER_AXES, RULES)
    assert found.schema == DISPARITIES
    assert found.height == 2 * 3 * 3 * 3
    row = one(found, model="m1", test_set="hair", axis="gender", metric="drop_fss")
    labelled = SESSIONS.filter(pl.col("model") == "m1", pl.col("test_set") == "hair")
    male = labelled["photo"].str.slice(1, 2).cast(pl.Int64) % 2 == 0
    a, b = labelled.filter(male)["drop_fss"], labelled.filter(~male)["drop_fss"]
    assert row["wd"] == pytest.approx(stats.wasserstein_distance(a, b))
    assert row["mean_a"] == pytest.approx(a.mean())
    assert (row["group_a"], row["group_b"], row["worst"], row["best"]) == ("male", "female", "male", "female")
    assert row["prominent"]
    assert row["p"] == 1 / 200
    assert row["p_adjusted"] >= row["p"]
    assert row["wd_per_sd"] == pytest.approx(row["wd"] / row["sd"])
    assert (row["n_a"], row["n_photos_a"], row["n_people_a"], row["n_units_a"]) == (24, 12, 6, 6)
    assert one(found, model="m1", test_set="all", axis="gender", metric="oer")["n_a"] == 48
    assert not found.filter(pl.col("p_adjusted") < pl.col("p")).height


def test_a_person_of_both_ages_is_as_many_units_as_photos():
    row = one(disparities(SESSIONS, PHOTOS, [AGE], RULES), model="m1", test_set="hair", metric="sc")
    assert row["n_people_a"] + row["n_people_b"] == 13
    assert row["n_units_a"] + row["n_units_b"] == 13


def test_the_papers_unit_and_interval():
    rules = ComparisonRules(permutations=99, unit="session", interval="paper")
    row = one(
        disparities(SESSIONS, PHOTOS, [SKIN], rules), model="m1", test_set="all", axis="skin", metric="oer"
    )
    assert (row["p_adjusted"], row["unit"], row["n_units_a"]) == (None, "session", row["n_a"])
    means = group_means(SESSIONS, PHOTOS, [GENDER], rules)
    drop = one(means, model="m1", test_set="hair", metric="drop_fss", group="male")
    sd = (drop["high"] - drop["mean"]) / 1.96 * np.sqrt(4 * drop["n"])
    assert sd == pytest.approx(3, rel=0.5)


@pytest.mark.parametrize("unit", ["person", "session"])
def test_neither_row_order_nor_other_models_change_a_number(unit):
    rules = ComparisonRules(permutations=99, unit=unit)
    found = disparities(SESSIONS, PHOTOS, PAPER_AXES, rules)
    shuffled = SESSIONS.sample(fraction=1.0, shuffle=True, seed=3), PHOTOS.reverse()
    assert_frame_equal(disparities(*shuffled, PAPER_AXES, rules), found, check_exact=True)
    means = group_means(SESSIONS, PHOTOS, PAPER_AXES, RULES)
    assert_frame_equal(group_means(*shuffled, PAPER_AXES, RULES), means, check_exact=True)
    alone = disparities(SESSIONS.filter(pl.col("model") == "m1"), PHOTOS, PAPER_AXES, rules)
    assert_frame_equal(
        alone.drop("p_adjusted"), found.filter(pl.col("model") == "m1").drop("p_adjusted"), check_exact=True
    )


@pytest.mark.parametrize("unit", ["person", "session"])
def test_the_order_of_the_groups_changes_no_number(unit):
    rules = ComparisonRules(permutations=99, unit=unit)
    columns = ["model", "test_set", "metric", "wd", "p", "null_mean", "worst"]
    found = disparities(SESSIONS, PHOTOS, [GENDER], rules).select(columns)
    turned = Axis("gender", {"gender": ("female", "male")})
    assert_frame_equal(
        disparities(SESSIONS, PHOTOS, [turned], rules).select(columns), found, check_exact=True
    )


def test_three_groups_are_compared_pair_by_pair():
    photos = photos_frame(*(photo(f"p{i}", f"s{i}", f"skin={'abc'[i % 3]}") for i in range(9)))
    sessions = sessions_frame(*(session("x", f"p{i}", drop_fss=float(i % 3)) for i in range(9)))
    axis = Axis("skin", {"skin": ("a", "b", "c")})
    found = disparities(sessions, photos, [axis], RULES, metrics=["drop_fss"])
    rows = found.filter(pl.col("test_set") == "hair").select("group_a", "group_b", "wd").rows()
    assert rows == [("a", "b", 1.0), ("a", "c", 2.0), ("b", "c", 1.0)]


def test_two_datasets_do_not_mix():
    other = [frame.with_columns(pl.lit("celeba").alias("dataset")) for frame in (SESSIONS, PHOTOS)]
    both = [pl.concat(pair) for pair in zip((SESSIONS, PHOTOS), other, strict=True)]
    found = disparities(*both, [GENDER], RULES)
    alone = disparities(SESSIONS, PHOTOS, [GENDER], RULES)
    assert_frame_equal(found.filter(pl.col("dataset") == "celebset"), alone, check_exact=True)


def test_what_cannot_be_compared_is_refused():
    with pytest.raises(MetricError, match="finite"):
        group_means(SESSIONS.with_columns(pl.lit(float("nan")).alias("sc")), PHOTOS, [GENDER], RULES)
    with pytest.raises(MetricError, match="twice"):
        disparities(pl.concat([SESSIONS, SESSIONS]), PHOTOS, [GENDER], RULES)
    with pytest.raises(MetricError, match="among the photos"):
        disparities(SESSIONS, PHOTOS.head(3), [GENDER], RULES)
    with pytest.raises(MetricError, match="no column"):
        disparities(SESSIONS.drop("sc"), PHOTOS, [GENDER], RULES)
    for wrong in ({"unit": "photo"}, {"interval": "none"}, {"permutations": 0}, {"seed": -1}):
        with pytest.raises(MetricError, match="comparison rules"):
            ComparisonRules(**wrong)


def test_no_known_group_yields_rows_without_numbers():
    photos = PHOTOS.with_columns(pl.lit([], dtype=pl.List(pl.String)).alias("groups"))
    found = disparities(SESSIONS, photos, [GENDER], RULES)
    assert found["wd"].null_count() == found.height > 0
    assert group_means(SESSIONS, photos, [GENDER], RULES)["n"].sum() == 0
