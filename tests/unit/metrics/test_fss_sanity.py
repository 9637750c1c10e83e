"""FSS of base photos by group (Table 29) and by accessory (Appendix L), on hand-made photos."""

from __future__ import annotations

import pytest

from domain.errors import MetricError
from metrics.comparison_rules import ComparisonRules
from metrics.fss_sanity import (
    FSS0_DISTANCES,
    FSS0_MEANS,
    fss0_distances,
    fss0_means,
    occlusion_distances,
    occlusion_labels,
    occlusion_means,
)
from metrics.group_axes import PAPER_AXES

RULES = ComparisonRules(permutations=99, resamples=100)


@pytest.fixture
def base(a_photo, photos):
    return photos(
        [
            a_photo(photo="p1", subject="a", fss0=0.9, groups=["gender=male", "skin=light"]),
            a_photo({"hats": ["beret hat"]}, photo="p2", subject="b", fss0=0.8, groups=["gender=male"]),
            a_photo(
                {"hats": ["beret hat"], "glasses": None},
                photo="p3",
                subject="c",
                fss0=0.5,
                groups=["gender=female", "skin=light"],
            ),
            a_photo({"hats": None}, photo="p4", subject="d", fss0=0.2, groups=["gender=female", "skin=dark"]),
            a_photo({"hats": None}, photo="p5", subject="e", fss0=None, groups=["gender=female"]),
        ]
    )


def test_fss_by_group(base):
    means = fss0_means(base, PAPER_AXES, RULES)
    assert means.schema == FSS0_MEANS
    found = {(row["axis"], row["group"]): row for row in means.to_dicts()}
    assert found["gender", "male"]["mean"] == pytest.approx(85.0)
    assert found["gender", "female"]["mean"] == pytest.approx(35.0)
    assert (found["gender", "female"]["n"], found["gender", "female"]["rank"]) == (2, 1)
    assert found["gender_skin", "male-dark"]["n"] == 0
    distances = fss0_distances(base, PAPER_AXES, RULES)
    assert distances.schema == FSS0_DISTANCES
    rows = {row["axis"]: row for row in distances.to_dicts()}
    assert rows["gender"]["wd"] == pytest.approx(50.0)
    assert rows["gender"]["worst"] == "female"
    assert rows["skin"]["wd"] == pytest.approx(50.0)
    assert rows["age"]["wd"] is None


def test_occlusion_labels(base):
    labels = occlusion_labels(base)
    assert dict(labels.select("photo", "group").rows()) == {
        "p1": "without",
        "p2": "with",
        "p3": "with",
        "p4": None,
        "p5": None,
    }


def test_fss_by_accessory(base):
    means = {row["group"]: row for row in occlusion_means(base, RULES).to_dicts()}
    assert (means["with"]["mean"], means["with"]["n"]) == (pytest.approx(65.0), 2)
    assert (means["without"]["mean"], means["without"]["n"]) == (pytest.approx(90.0), 1)
    found = occlusion_distances(base, RULES).to_dicts()
    assert len(found) == 1
    assert found[0]["wd"] == pytest.approx(25.0)


def test_a_missing_column_is_refused(base):
    with pytest.raises(MetricError, match="fss0"):
        fss0_means(base.drop("fss0"), PAPER_AXES, RULES)
    with pytest.raises(MetricError, match="state_hats"):
        occlusion_means(base.drop("state_hats"), RULES)
