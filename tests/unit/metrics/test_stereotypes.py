"""SC on instructions about facial hair (Table 30), on hand-made steps."""

from __future__ import annotations

import polars as pl
import pytest
from unit.metrics.group_frames import photo, photos_frame

from domain.errors import MetricError
from metrics.comparison_rules import ComparisonRules
from metrics.group_axes import GENDER
from metrics.step_scores import STEP_SCORES
from metrics.stereotypes import (
    STEREOTYPE_DISTANCES,
    STEREOTYPE_MEANS,
    stereotype_distances,
    stereotype_means,
)

RULES = ComparisonRules(permutations=99, resamples=100)
PHOTOS = photos_frame(photo("p1", "a", "gender=male"), photo("p2", "b", "gender=female"), photo("p3", "c"))


def scores(*rows: tuple[str, str, float | None]) -> pl.DataFrame:
    held = [
        {
            **{"suite": "s", "dataset": "celebset", "model": "m1", "photo": of, "session": f"x{number}"},
            **{"test_set": "hair", "step": 1, "sub_axis": sub_axis, "category": "any", "sc": sc},
            "overedits": 0,
        }
        for number, (of, sub_axis, sc) in enumerate(rows)
    ]
    return pl.DataFrame(held, schema=STEP_SCORES)


SCORES = scores(
    ("p1", "mustache", 0.9),
    ("p1", "beard", 0.5),
    ("p1", "hair color", 0.0),
    ("p1", "beard", None),
    ("p2", "beard", 0.3),
    ("p3", "beard", 0.1),
)


def test_only_facial_hair_counts():
    means = stereotype_means(SCORES, PHOTOS, [GENDER], RULES)
    assert means.schema == STEREOTYPE_MEANS
    assert means.select("model", "group", "mean", "rank", "n").rows() == [
        ("m1", "male", 70.0, 2, 2),
        ("m1", "female", 30.0, 1, 1),
    ]
    found = stereotype_distances(SCORES, PHOTOS, [GENDER], RULES).to_dicts()
    assert len(found) == 1
    assert found[0]["wd"] == pytest.approx(40.0)
    assert (found[0]["worst"], found[0]["n_a"], found[0]["n_b"]) == ("female", 2, 1)
    assert stereotype_distances(SCORES, PHOTOS, [GENDER], RULES).schema == STEREOTYPE_DISTANCES


def test_no_instruction_about_facial_hair_gives_no_row():
    assert stereotype_means(scores(("p1", "hats", 0.5)), PHOTOS, [GENDER], RULES).height == 0


def test_a_score_that_is_not_finite_is_refused():
    with pytest.raises(MetricError, match="finite"):
        stereotype_means(scores(("p1", "beard", float("nan"))), PHOTOS, [GENDER], RULES)
