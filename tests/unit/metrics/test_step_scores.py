"""SC and overedits of single steps."""

from __future__ import annotations

import pytest

from domain.errors import MetricError
from metrics.planned_sessions import planned_sessions
from metrics.step_scores import STEP_SCORES, need_step_scores, step_scores


def scored(rows, taxonomy, a_photo, photos, steps):
    return step_scores(planned_sessions(steps(rows), photos([a_photo()]), taxonomy))


def test_scores_of_a_session(taxonomy, a_photo, a_step, photos, steps):
    """Step 2 asks for a handlebar mustache and colours the hair on the side."""
    brown = {"hair color": ["brown hair"], "glasses": ["round glasses"]}
    rows = [
        a_step(1),
        a_step(2, "handlebar mustache", brown, success=3.0),
    ]
    found = scored(rows, taxonomy, a_photo, photos, steps)
    assert found.schema == STEP_SCORES
    assert found.select("step", "sub_axis", "category", "sc", "overedits").rows() == [
        (1, "glasses", "round glasses", 0.8, 0),
        (2, "mustache", "handlebar mustache", 0.3, 1),
    ]


def test_what_is_not_scored_is_null_and_there(taxonomy, a_photo, a_step, photos, steps, not_run):
    rows = [
        a_step(1, session="stopped"),
        a_step(2, session="stopped", **not_run),
        a_step(1, session="unjudged", judgement="unparsable", success=None, overediting=None),
        a_step(1, session="untracked", state={"hats": None}, tracked="tracked"),
    ]
    found = scored(rows, taxonomy, a_photo, photos, steps)
    assert found.select("session", "step", "sc", "overedits").rows() == [
        ("stopped", 1, None, None),
        ("stopped", 2, None, None),
        ("unjudged", 1, None, 0),
        ("untracked", 1, 0.8, None),
    ]


def test_another_frame_is_refused(photos, a_photo):
    with pytest.raises(MetricError, match="step scores"):
        need_step_scores(photos([a_photo()]))
