from __future__ import annotations

import math

import polars as pl
import pytest

from domain.errors import MetricError
from metrics.coverage import coverage
from metrics.frames import COVERAGE, LEADERBOARD, PROGRESSION, SESSIONS
from metrics.leaderboard import leaderboard
from metrics.progression import progression
from metrics.session_scores import ScoringRules

QUICK = ScoringRules(resamples=200)
NORMAL = ScoringRules(interval="normal")


def a_session(**fields):
    """A complete session of m1 with drop 20 %, SC 0.5 and OER 0.25."""
    row = {
        **{"suite": "face-edit", "dataset": "celeba", "model": "m1", "photo": "p1", "session": "h1"},
        **{"test_set": "hair", "subject": "s1", "n_steps": 4, "complete": True},
        **{"drop_fss": 20.0, "sc": 0.5, "oer": 0.25, "oer_no_facial_hair": 0.0},
        **{"n_examined": 4, "n_no_face": 0, "n_unparsable": 0, "unknown_state": False},
        **{"missed_edits": 0, "keep_violations": 0},
    }
    return row | fields


def a_stop(outcome, **fields):
    scores = (
        "drop_fss",
        "sc",
        "oer",
        "oer_no_facial_hair",
        "unknown_state",
        "missed_edits",
        "keep_violations",
    )
    return a_session(**dict.fromkeys(scores), complete=False, stopped=outcome, n_examined=1, **fields)


def table(*rows):
    return pl.DataFrame(rows, schema=SESSIONS)


def cell(board, test_set="all", model="m1"):
    (row,) = board.filter(test_set=test_set, model=model).to_dicts()
    return row


def test_means_counts_and_rates():
    board = leaderboard(
        table(
            a_session(),
            a_session(session="h2", drop_fss=30.0, sc=None, sc_excluded="judgement_missing", n_no_face=1),
            a_stop("refused", session="h3"),
            a_stop("not_run", session="h4") | {"sc": 1.0, "n_no_face": 1},
        ),
        QUICK,
    )
    assert board.schema == LEADERBOARD
    row = cell(board)
    assert (row["n_planned"], row["n_complete"]) == (4, 2)
    assert (row["drop_fss"], row["drop_fss_n"], row["drop_fss_clusters"]) == (25.0, 2, 1)
    assert (row["drop_fss_low"], row["drop_fss_high"]) == (None, None)
    assert (row["sc"], row["sc_n"]) == (0.5, 1)
    assert (row["oer"], row["oer_no_facial_hair"], row["oer_no_facial_hair_n"]) == (0.25, 0.0, 2)
    rates = ("completion", "refusal", "no_image", "failed", "not_run", "no_face")
    assert [row[name] for name in rates] == [0.5, 0.25, 0.0, 0.0, 0.25, 1 / 8]
    assert (row["no_face_rule"], row["overedit_rule"]) == ("zero", "new")
    assert (row["occlusion"], row["interval"]) == ("carry", "bootstrap")


def test_all_pools_sessions_and_is_not_the_mean_of_means():
    board = leaderboard(
        table(
            a_session(drop_fss=10.0),
            a_session(session="h2", drop_fss=10.0),
            a_session(session="p1", test_set="pose", drop_fss=40.0),
        ),
        QUICK,
    )
    assert board["test_set"].to_list() == ["all", "hair", "pose"]
    assert board["drop_fss"].to_list() == [20.0, 10.0, 40.0]


def test_undefined_is_null_with_n_0():
    row = cell(leaderboard(table(a_stop("failed")), QUICK))
    for name in ("drop_fss", "sc", "oer", "oer_no_facial_hair"):
        assert [row[name], row[f"{name}_low"], row[f"{name}_high"]] == [None] * 3
        assert (row[f"{name}_n"], row[f"{name}_clusters"]) == (0, 0)
    assert (row["completion"], row["failed"], row["no_face"]) == (0.0, 1.0, None)


def test_sorted_by_drop_then_model_with_undefined_last():
    board = leaderboard(
        table(
            a_session(model="b", drop_fss=30.0),
            a_session(model="c", drop_fss=10.0),
            a_session(model="a", drop_fss=30.0),
            a_stop("failed", model="0"),
        ),
        QUICK,
    )
    assert board.filter(test_set="all")["model"].to_list() == ["c", "a", "b", "0"]


def test_normal_and_paper_intervals():
    sessions = table(
        *(a_session(session=f"h{n}", drop_fss=v, sc=v / 100) for n, v in enumerate((10.0, 20.0, 30.0)))
    )
    # sd 10 over three sessions: 1.96 x 10 / sqrt 3; the paper counts 12 images: half of that.
    half = 19.6 / math.sqrt(3)
    normal = cell(leaderboard(sessions, NORMAL))
    assert normal["drop_fss_high"] == pytest.approx(20 + half, abs=1e-12)
    assert normal["drop_fss_clusters"] == 3
    paper = cell(leaderboard(sessions, ScoringRules(interval="paper")))
    assert paper["drop_fss_high"] == pytest.approx(20 + half / 2, abs=1e-12)
    assert (paper["sc_low"], paper["sc_high"]) == (normal["sc_low"], normal["sc_high"])


def test_people_of_two_datasets_are_never_pooled():
    board = leaderboard(table(a_session(), a_session(dataset="celebset", drop_fss=50.0)), QUICK)
    assert board.filter(test_set="all")["drop_fss"].to_list() == [20.0, 50.0]


def many(models):
    return [
        a_session(model=model, photo=f"p{n}", subject=f"s{n // 2}", drop_fss=float(n * n + len(model)))
        for model in models
        for n in range(8)
    ]


def test_one_more_model_moves_no_interval_of_the_others():
    alone, together = (
        leaderboard(table(*many(["m1"])), QUICK),
        leaderboard(table(*many(["m1", "m22"])), QUICK),
    )
    assert together.filter(model="m1").equals(alone)
    assert cell(alone)["drop_fss_clusters"] == 4
    assert cell(alone)["drop_fss_low"] < cell(alone)["drop_fss"] < cell(alone)["drop_fss_high"]


def test_the_seed_moves_the_interval_and_not_the_mean():
    sessions = table(*many(["m1"]))
    first, second = (cell(leaderboard(sessions, ScoringRules(seed=s, resamples=200))) for s in (1, 2))
    assert first["drop_fss"] == second["drop_fss"]
    assert first["drop_fss_low"] != second["drop_fss_low"]


def test_the_floor_normalised_drop_is_averaged_where_there():
    name = "drop_fss_floor_normalised"
    schema = {**SESSIONS, name: pl.Float64, f"{name}_excluded": pl.String}
    rows = [
        a_session(**{name: 40.0}),
        a_session(session="h2", **{f"{name}_excluded": "fss0_not_above_floor"}),
    ]
    sessions = pl.DataFrame(rows, schema=schema)
    row = cell(leaderboard(sessions, QUICK))
    assert (row[name], row[f"{name}_n"]) == (40.0, 1)
    assert coverage(sessions).rows() == [
        ("face-edit", "celeba", "m1", "hair", name, "fss0_not_above_floor", 1)
    ]


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_score_that_is_not_finite_names_its_row(bad):
    with pytest.raises(MetricError, match=r"oer is not finite .*session='h2'"):
        leaderboard(table(a_session(), a_session(session="h2", oer=bad)))


def test_malformed_sessions_raise():
    with pytest.raises(MetricError, match="no column 'oer'"):
        leaderboard(table(a_session()).drop("oer"))
    with pytest.raises(MetricError, match="there twice"):
        coverage(table(a_session(), a_session()))
    with pytest.raises(MetricError, match="named 'all'"):
        leaderboard(table(a_session(test_set="all")))


def test_no_session_gives_empty_tables():
    assert leaderboard(table()).schema == LEADERBOARD
    assert coverage(table()).schema == COVERAGE


def test_coverage_counts_every_exclusion():
    found = coverage(
        table(
            a_session(),
            a_session(session="h2", sc=None, sc_excluded="judgement_unparsable"),
            a_session(session="h3", oer=None, oer_no_facial_hair=None, oer_excluded="state_unknown"),
            a_session(session="h5", drop_fss=None, drop_fss_excluded="no_face"),
            a_stop("refused", session="h4"),
            a_stop("refused", session="h6"),
        )
    )
    assert found.schema == COVERAGE
    key = ("face-edit", "celeba", "m1", "hair")
    assert found.rows() == [
        (*key, "drop_fss", "no_face", 1),
        (*key, "oer", "state_unknown", 1),
        (*key, "sc", "judgement_unparsable", 1),
        (*key, "session", "refused", 2),
    ]


@pytest.fixture
def progress(taxonomy, photos, steps, a_photo, a_step):
    rows = [
        *(a_step(1, fss=0.6), a_step(2, fss=0.4)),
        *(a_step(1, photo="p2", fss=0.5), a_step(2, photo="p2", face="no_face", fss=None)),
        *(a_step(1, photo="p3"), a_step(2, photo="p3", outcome="failed")),
        *(a_step(1, photo="p4"), a_step(2, photo="p4", face="unreadable", fss=None)),
        *(a_step(1, photo="p5", fss=-0.2), a_step(2, photo="p5", fss=-0.2)),
    ]
    bases = photos([a_photo(photo=f"p{n}", fss0=0.8 if n < 5 else 0.5) for n in range(1, 6)])
    return lambda rules: progression(steps(rows), bases, taxonomy, rules)


def test_progression(progress):
    found = progress(NORMAL)
    assert found.schema == PROGRESSION
    assert found["step"].to_list() == [0, 1, 2]
    # p1, p2 and p5: 0.8, 0.8, 0.5; 0.6, 0.5, 0 (clipped); 0.4, 0 (no face), 0 (clipped).
    assert found["fss"].to_list() == pytest.approx([0.7, 1.1 / 3, 0.4 / 3], abs=1e-12)
    assert found["fss_n"].to_list() == [3, 3, 3]


def test_progression_follows_the_rule_for_no_face(progress):
    assert progress(ScoringRules(no_face="skip", resamples=50))["fss_n"].to_list() == [3, 3, 2]
    excluded = progress(ScoringRules(no_face="exclude", resamples=50))
    assert excluded["fss_n"].to_list() == [2, 2, 2]
    assert excluded["fss_clusters"].to_list() == [1, 1, 1]


def test_progression_of_nothing(taxonomy, photos, steps):
    assert progression(steps([]), photos([]), taxonomy).schema == PROGRESSION
