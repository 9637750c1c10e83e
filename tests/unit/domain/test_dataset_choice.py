"""Everyday photos have no references, so that choices about them are refused."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from domain.dataset_choice import DatasetChoice
from domain.dataset_options import EverydayOptions, PackagedEverydayOptions, dataset_options


def test_everyday_photos_take_thresholds_as_options():
    choice = DatasetChoice(
        id="set", adapter="everyday_photos", path="here",
        options={"table": "list.yaml", "licences": ["public domain"], "screening": {"max_yaw_deg": 30}},
    )  # fmt: skip
    options = dataset_options(choice.adapter, choice.options)
    assert isinstance(options, EverydayOptions)
    assert (options.table, options.licences) == ("list.yaml", ("public domain",))
    assert (options.screening.max_yaw_deg, options.screening.min_face_share) == (30, 0.10)


def test_packaged_photos_take_no_path_and_admit_their_licences():
    choice = DatasetChoice(id="demo", adapter="packaged_everyday")
    options = dataset_options(choice.adapter, choice.options)
    assert isinstance(options, PackagedEverydayOptions)
    assert "public domain (NASA)" in options.licences
    with pytest.raises(ValidationError, match="takes no `path`"):
        DatasetChoice(id="demo", adapter="packaged_everyday", path="here")


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"mirror_alone": False}, "takes no mirror_alone"),
        ({"min_fss0": 0.3}, "takes no min_fss0"),
        (
            {"exclude_near_duplicates": True, "per_group": {"n": 1}},
            "takes no exclude_near_duplicates, per_group",
        ),
        ({"options": {"screening": {"max_yaw": 30}}}, "Extra inputs are not permitted"),
        ({"options": {"screening": {"max_faces": 5}}}, "less than or equal to 4"),
        ({"options": {"licenses": []}}, "it has: licences, screening, table"),
        ({"path": None}, "needs a `path`"),
    ],
)
def test_what_would_do_nothing_is_refused(fields: dict[str, Any], problem: str):
    with pytest.raises(ValidationError, match=problem):
        DatasetChoice.model_validate({"id": "set", "adapter": "everyday_photos", "path": "here"} | fields)
