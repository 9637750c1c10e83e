from __future__ import annotations

import pytest
from builders import an_identity, an_image_ref, an_outcome
from pydantic import ValidationError

from domain.keys import canonical_json
from domain.records import FaceBox, FaceReading, OutcomeRecord


def test_an_outcome_survives_its_json():
    record = an_outcome(
        an_identity(), details={"truth": {"made": True, "parts": [1, 2.5, None]}}, cost_usd=0.04
    )
    assert OutcomeRecord.model_validate_json(record.model_dump_json()) == record


def test_an_outcome_with_ill_formed_text_can_be_stored_and_read():
    record = an_outcome(
        an_identity(), kind="refused", image=None, reason="no \ud83d", details={"a": "\udc00"}
    )
    stored = canonical_json(record.model_dump(mode="json"))
    assert OutcomeRecord.model_validate_json(stored).reason == "no ?"


@pytest.mark.parametrize(
    "fields",
    [
        {"kind": "edited", "image": None},
        {"kind": "refused", "image": an_image_ref()},
        {"kind": "no_image", "image": an_image_ref()},
    ],
)
def test_an_outcome_has_an_image_exactly_when_it_is_edited(fields: dict[str, object]):
    with pytest.raises(ValidationError, match="exactly when it is `edited`"):
        an_outcome(an_identity(), **fields)


@pytest.mark.parametrize("fields", [{"kind": "failed"}, {"version": 2}, {"extra": 1}, {"latency_s": None}])
def test_other_outcomes_are_refused(fields: dict[str, object]):
    with pytest.raises(ValidationError):
        an_outcome(an_identity(), **fields)


def test_floats_of_a_reading_survive_their_json_to_the_last_bit():
    box = FaceBox(box=(0.1, 1 / 3, 2.0**-40, 1e20), score=0.7000000000000001, embedding="AAAA")
    reading = FaceReading(status="read", width=3, height=4, rung="320", faces=(box,))
    assert FaceReading.model_validate_json(reading.model_dump_json()) == reading
