from __future__ import annotations

import pytest

from domain.errors import MetricError
from metrics.frames import SESSIONS
from metrics.name_codes import cluster_codes
from metrics.planned_sessions import planned_sessions
from metrics.session_scores import ScoringRules, score_sessions


@pytest.fixture
def score(taxonomy, photos, steps, a_photo):
    """Score rows of steps; without photos given, over photo p1."""

    def run(rows, rules=None, photo_rows=None):
        return score_sessions(steps(rows), photos(photo_rows or [a_photo()]), taxonomy, rules)

    return run


def one(frame):
    (row,) = frame.to_dicts()
    return row


def test_a_complete_session(score, a_step):
    found = score(
        [
            a_step(1, "red hair", {"beard": ["stubble"]}, fss=0.6, success=10.0, overediting=3.0),
            a_step(2, "round glasses", {"hair color": ["red hair"], "beard": ["stubble"]}, fss=0.4),
        ]
    )
    assert found.schema == SESSIONS
    row = one(found)
    # Drops 25 and 50 %; SC 0.3 and 0.8; one overedit (stubble) in two steps.
    assert row["drop_fss"] == pytest.approx(37.5, abs=1e-12)
    assert row["sc"] == pytest.approx(0.55, abs=1e-12)
    assert (row["oer"], row["oer_no_facial_hair"]) == (0.5, 0.0)
    assert (row["complete"], row["stopped"], row["stopped_reason"]) == (True, None, None)
    assert (row["n_steps"], row["n_examined"], row["n_no_face"], row["n_unparsable"]) == (2, 2, 0, 0)
    assert (row["unknown_state"], row["missed_edits"], row["keep_violations"]) == (False, 0, 0)
    assert [row[f"{name}_excluded"] for name in ("drop_fss", "sc", "oer")] == [None] * 3


@pytest.mark.parametrize("outcome", ["refused", "no_image", "failed", "not_run"])
def test_an_incomplete_session_is_counted_and_not_scored(score, a_step, not_run, outcome):
    row = one(
        score([a_step(1), a_step(2, **not_run | {"outcome": outcome, "reason": "why"}), a_step(3, **not_run)])
    )
    assert (row["complete"], row["stopped"], row["stopped_reason"]) == (False, outcome, "why")
    scored = (
        "drop_fss",
        "sc",
        "oer",
        "oer_no_facial_hair",
        "unknown_state",
        "missed_edits",
        "keep_violations",
    )
    assert [row[name] for name in scored] == [None] * 7
    assert (row["n_steps"], row["n_examined"]) == (3, 1)


@pytest.mark.parametrize(
    ("fields", "photo", "reason"),
    [
        ({"face": None, "fss": None}, {}, "not_examined"),
        ({"face": "unreadable", "fss": None}, {}, "unreadable"),
        ({}, {"fss0": None}, "fss0_unknown"),
        ({}, {"fss0": 0.0}, "fss0_not_positive"),
        ({}, {"fss0": -0.3}, "fss0_not_positive"),
    ],
)
def test_a_session_without_drop_says_why(score, a_step, a_photo, fields, photo, reason):
    row = one(score([a_step(1), a_step(2, **fields)], ScoringRules(floor=0.1), [a_photo(**photo)]))
    assert (row["drop_fss"], row["drop_fss_excluded"]) == (None, reason)
    assert row["drop_fss_floor_normalised"] is None
    assert row["drop_fss_floor_normalised_excluded"] == reason
    assert row["sc"] is not None
    assert row["oer"] is not None


@pytest.mark.parametrize(
    ("no_face", "drop", "reason"), [("zero", 62.5, None), ("skip", 25.0, None), ("exclude", None, "no_face")]
)
def test_no_face(score, a_step, no_face, drop, reason):
    rows = [a_step(1), a_step(2, face="no_face", n_faces=0, fss=None)]
    row = one(score(rows, ScoringRules(no_face=no_face)))
    assert row["drop_fss"] == (drop if drop is None else pytest.approx(drop, abs=1e-12))
    assert row["drop_fss_excluded"] == reason
    assert (row["n_examined"], row["n_no_face"]) == (2, 1)


def test_a_cosine_beside_no_face_is_not_used(score, a_step):
    assert one(score([a_step(1, face="no_face", fss=0.6)]))["drop_fss"] == 100.0


def test_the_floor_normalised_drop_is_there_with_a_floor_only(score, a_step, a_photo):
    assert "drop_fss_floor_normalised" not in score([a_step(1)]).columns
    # (0.8 - 0.6) / (0.8 - 0.3) = 40 %.
    row = one(score([a_step(1)], ScoringRules(floor=0.3)))
    assert row["drop_fss_floor_normalised"] == pytest.approx(40.0, abs=1e-12)
    low = one(score([a_step(1)], ScoringRules(floor=0.3), [a_photo(fss0=0.2)]))
    assert low["drop_fss"] == pytest.approx(-200.0, abs=1e-12)
    assert low["drop_fss_floor_normalised_excluded"] == "fss0_not_above_floor"


@pytest.mark.parametrize(
    ("judgements", "reason", "unparsable"),
    [
        (("scored", "unparsable"), "judgement_unparsable", 1),
        (("missing", "unparsable"), "judgement_unparsable", 1),
        (("scored", "missing"), "judgement_missing", 0),
        (("scored", None), "judgement_missing", 0),
    ],
)
def test_a_session_without_sc_says_why(score, a_step, judgements, reason, unparsable):
    rows = [a_step(number, judgement=judgement) for number, judgement in enumerate(judgements, 1)]
    row = one(score(rows))
    assert (row["sc"], row["sc_excluded"], row["n_unparsable"]) == (None, reason, unparsable)


@pytest.mark.parametrize(
    ("tracked", "state", "base", "reason"),
    [
        ("unparsable", {}, {}, "tracking_unparsable"),
        ("missing", {}, {}, "tracking_missing"),
        (None, {}, {}, "tracking_missing"),
        ("tracked", {"beard": None}, {}, "state_unknown"),
        ("tracked", {}, {"beard": None}, "base_state_unknown"),
    ],
)
def test_a_session_without_oer_says_why(score, a_step, a_photo, tracked, state, base, reason):
    row = one(score([a_step(1), a_step(2, state=state, tracked=tracked)], photo_rows=[a_photo(base)]))
    assert (row["oer"], row["oer_no_facial_hair"], row["unknown_state"]) == (None, None, True)
    assert row["oer_excluded"] == reason


def test_misses_and_violated_keeps_are_counted(score, a_step):
    hat = {"hats": ["beanie hat"], "glasses": []}
    rows = [
        a_step(1, "beanie hat"),
        a_step(2, "round glasses", hat),
        a_step(3, "beanie hat", {"hats": ["bucket hat"]}, keep=True),
    ]
    row = one(score(rows))
    assert (row["missed_edits"], row["keep_violations"], row["oer"]) == (1, 1, 0.0)


def test_rules_reach_the_overedits(score, a_step):
    hidden = {"hats": ["beanie hat"], "hair color": [], "hair type": []}
    rows = [a_step(1, "beanie hat", hidden), a_step(2, "round glasses")]
    # The worked example E8: 0.5 with the hair carried, 2.5 with it counted.
    assert one(score(rows))["oer"] == 0.5
    assert one(score(rows, ScoringRules(occlusion="count")))["oer"] == 2.5


def test_a_photo_is_found_by_its_dataset(score, a_step, a_photo):
    other = a_photo(dataset="celebset", fss0=0.4)
    rows = [a_step(1), a_step(1, dataset="celebset", fss=0.2)]
    found = score(rows, photo_rows=[other, a_photo()])
    assert found["drop_fss"].to_list() == [pytest.approx(25.0), pytest.approx(50.0)]
    with pytest.raises(MetricError, match="photo 'p1' of dataset 'celebset' has steps"):
        score(rows)


def test_a_category_that_does_not_exist_names_the_session(score, a_step):
    with pytest.raises(MetricError, match=r"'tiara' is not a category of 'hats'.*session='hair_001'"):
        score([a_step(1, "beanie hat", asked_category="tiara")])
    with pytest.raises(MetricError, match=r"state 1: 'tiara'.*model='m1'"):
        score([a_step(1, state={"hats": ["tiara"]})])


def test_people_are_the_clusters_and_photos_where_they_are_unknown(taxonomy, photos, steps, a_photo, a_step):
    rows = [
        a_step(1),
        a_step(1, photo="p2"),
        a_step(1, photo="p3", subject=None),
        a_step(1, photo="s1", subject=None),
    ]
    bases = photos([a_photo(photo=name) for name in ("p1", "p2", "p3", "s1")])
    places = planned_sessions(steps(rows), bases, taxonomy).places
    clusters = cluster_codes(places["subject"], places["photo"]).tolist()
    assert clusters[0] == clusters[1]
    assert len(set(clusters)) == 3


@pytest.mark.parametrize(
    "fields",
    [
        {"no_face": "ignore"},
        {"interval": "exact"},
        {"rule": "newest"},
        {"seed": -1},
        {"resamples": 0},
        {"floor": float("nan")},
    ],
)
def test_rules_that_do_not_exist_raise(fields):
    with pytest.raises(MetricError):
        ScoringRules(**fields)


def test_no_step_gives_an_empty_table(score):
    assert score([]).schema == SESSIONS
