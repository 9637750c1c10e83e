from __future__ import annotations

import polars as pl
import pytest
from synthetic import Plan, Rates, synthetic_run

from metrics.leaderboard import POOLED, leaderboard
from metrics.sensitivity import CHOICES, SENSITIVITY, sensitivity
from metrics.session_scores import ScoringRules, score_sessions

RULES = ScoringRules(resamples=50, floor=0.1)


@pytest.fixture(scope="module")
def run(taxonomy):
    plan = Plan(pairs=(("celeba", "a"), ("celeba", "b"), ("celebset", "a")), every=40)
    return synthetic_run(taxonomy, 3, plan, Rates(no_face=0.1, unparsable=0.02))


@pytest.fixture(scope="module")
def found(run, taxonomy):
    return sensitivity(run.steps, run.photos, taxonomy, RULES)


def test_every_choice_has_all_its_values_for_what_it_touches(found):
    assert found.schema == SENSITIVITY
    one = found.filter(dataset="celeba", model="a")
    assert one.filter(metric="sc")["choice"].unique().to_list() == ["interval"]
    held = {
        (row["metric"], row["choice"]): row
        for row in one.group_by("metric", "choice").agg("value").to_dicts()
    }
    assert {metric for metric, choice in held if choice == "no_face"} == {
        "drop_fss",
        "drop_fss_floor_normalised",
    }
    assert {metric for metric, choice in held if choice == "rule"} == {"oer", "oer_no_facial_hair"}
    assert all(tuple(row["value"]) == CHOICES[choice] for (_, choice), row in held.items())


def test_one_value_of_each_choice_is_in_force_and_differs_by_nothing(found):
    in_force = found.filter("in_force")
    assert in_force.height == found.select("dataset", "model", "metric", "choice").unique().height
    assert (in_force["difference"] == 0).all()
    assert set(in_force["value"]) == {"zero", "new", "carry", "bootstrap"}


@pytest.mark.parametrize("choice", sorted(CHOICES))
def test_each_row_is_what_scoring_under_that_rule_gives(run, taxonomy, found, choice):
    for value in CHOICES[choice]:
        rules = ScoringRules(**{"resamples": 50, "floor": 0.1, choice: value})
        board = leaderboard(score_sessions(run.steps, run.photos, taxonomy, rules), rules)
        for row in found.filter(choice=choice, value=value).to_dicts():
            (cell,) = board.filter(test_set=POOLED, dataset=row["dataset"], model=row["model"]).to_dicts()
            for end in ("", "_low", "_high", "_n", "_clusters"):
                expected = cell[f"{row['metric']}{end}"]
                assert row[f"mean{end}"] == pytest.approx(expected, rel=1e-9), (row, end)


def test_skipping_steps_without_a_face_flatters(found):
    drops = found.filter(choice="no_face", metric="drop_fss")
    assert (drops.filter(value="skip")["difference"] < -1).all()


def test_nothing_in_nothing_out(taxonomy, steps, photos):
    empty = sensitivity(steps([]), photos([]), taxonomy)
    assert empty.schema == SENSITIVITY
    assert isinstance(empty, pl.DataFrame)
    assert empty.is_empty()
