from __future__ import annotations

from typing import Literal

import numpy as np
import polars as pl
import pytest

from domain.errors import MetricError
from metrics.face_drift import FACE, face_drift


def faces(*chains: tuple[str, str, list[float | None]], model: str = "m") -> pl.DataFrame:
    """Photo, subject, FSS of each step."""
    rows = [
        ("s", "d", model, photo, subject, photo, step, value)
        for photo, subject, values in chains
        for step, value in enumerate(values, 1)
    ]
    return pl.DataFrame(rows, FACE, orient="row")


def drift(frame: pl.DataFrame, no_face: Literal["zero", "skip", "exclude"] = "zero") -> pl.DataFrame:
    return face_drift(frame, rng=np.random.default_rng(0), resamples=200, no_face=no_face)


def test_the_mean_at_each_step_begins_with_the_photo_itself() -> None:
    found = drift(faces(("a", "ann", [0.9, 0.5]), ("b", "bea", [0.7, 0.1])))
    assert found["step"].to_list() == [0, 1, 2]
    assert found["fss"].to_list() == pytest.approx([1.0, 0.8, 0.3])
    assert found["n"].to_list() == [2, 2, 2]
    assert found["fss_low"].to_list() == pytest.approx([1.0, 0.7, 0.1])
    assert found["fss_high"].to_list() == pytest.approx([1.0, 0.9, 0.5])


@pytest.mark.parametrize(
    ("rule", "means", "n", "lost"),
    [
        ("zero", [1.0, 0.45, 0.45], [2, 2, 2], [0, 1, 0]),
        ("skip", [1.0, 0.9, 0.45], [2, 1, 2], [0, 1, 0]),
        ("exclude", [1.0, 0.9, 0.5], [1, 1, 1], [0, 0, 0]),
    ],
)
def test_what_an_image_without_a_face_counts_as(
    rule: Literal["zero", "skip", "exclude"], means: list[float], n: list[int], lost: list[int]
) -> None:
    found = drift(faces(("a", "ann", [0.9, 0.5]), ("b", "bea", [None, 0.4])), rule)
    assert found["fss"].to_list() == pytest.approx(means)
    assert found["n"].to_list() == n
    assert found["n_no_face"].to_list() == lost


def test_two_photos_of_one_person_are_one_cluster() -> None:
    found = drift(faces(("a", "ann", [0.9]), ("b", "ann", [0.1])))
    assert found["clusters"].to_list() == [1, 1]
    assert found["fss_low"].to_list() == [None, None]


def test_a_model_without_chains_has_no_row_and_another_s_order_changes_nothing() -> None:
    assert drift(faces()).is_empty()
    one, other = ("a", "ann", [0.9, 0.5]), ("b", "bea", [0.7, 0.1])
    assert drift(faces(one, other)).equals(drift(faces(other, one)))


def test_a_chain_with_a_hole_is_refused() -> None:
    with pytest.raises(MetricError, match="not each from 1 on"):
        drift(faces(("a", "ann", [0.9, 0.5, 0.4])).filter(pl.col("step") != 2))
