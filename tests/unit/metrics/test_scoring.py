"""Laws over the whole way from the two input tables to every output table."""

from __future__ import annotations

import dataclasses
import math

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from domain.errors import MetricError
from metrics import scoring
from metrics.scoring import ScoringRules
from metrics.sensitivity import sensitivity

RULES = ScoringRules(resamples=50, floor=0.05)


def every_table(steps, photos, taxonomy):
    found = dataclasses.asdict(scoring.score(steps, photos, taxonomy, RULES))
    return found | {"sensitivity": sensitivity(steps, photos, taxonomy, RULES)}


@pytest.fixture(scope="session")
def drawn(taxonomy, a_step, a_photo, not_run):
    """Draw a run: two models, two photos of one person and one of nobody known, two steps a session."""
    ways = (
        {},
        {"face": "no_face", "fss": None},
        {"judgement": "unparsable"},
        {"tracked": "missing"},
        not_run | {"outcome": "refused", "reason": "policy"},
    )

    def draw(data):
        rows = []
        for model in ("m1", "m2"):
            for photo, subject in (("p1", "s1"), ("p2", "s1"), ("p3", None)):
                for test_set in ("hair", "pose"):
                    names = {"model": model, "photo": photo, "subject": subject, "test_set": test_set}
                    for step in (1, 2):
                        category = data.draw(st.sampled_from(sorted(taxonomy.sub_axis_of)))
                        beard = data.draw(st.sampled_from((["clean shaven"], ["stubble"], [])))
                        fields = {"fss": data.draw(st.floats(-1, 1)), **data.draw(st.sampled_from(ways))}
                        state = {} if taxonomy.sub_axis_of[category] == "beard" else {"beard": beard}
                        rows.append(a_step(step, category, state, **names, session=test_set, **fields))
        fss0 = st.sampled_from((None, -0.1, 0.04, 0.3, 0.9))
        return rows, [a_photo(photo=name, fss0=data.draw(fss0)) for name in ("p1", "p2", "p3")]

    return draw


few = settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))


@few
@given(data=st.data(), random=st.randoms())
def test_the_order_of_rows_does_not_matter(taxonomy, photos, steps, drawn, data, random):
    rows, bases = drawn(data)
    expected = every_table(steps(rows), photos(bases), taxonomy)
    random.shuffle(rows)
    random.shuffle(bases)
    for name, table in every_table(steps(rows), photos(bases), taxonomy).items():
        assert table.equals(expected[name]), name


@few
@given(data=st.data())
def test_scoring_in_parts_gives_the_same(taxonomy, photos, steps, drawn, data):
    rows, bases = drawn(data)
    whole = scoring.score_sessions(steps(rows), photos(bases), taxonomy, RULES)
    parts = [
        scoring.score_sessions(part, photos(bases), taxonomy, RULES)
        for part in steps(rows).partition_by("photo", "test_set")
    ]
    stacked = pl.concat(parts[::-1])
    assert stacked.sort("model", "photo", "session").equals(whole)
    assert scoring.leaderboard(stacked, RULES).equals(scoring.leaderboard(whole, RULES))
    assert scoring.coverage(stacked).equals(scoring.coverage(whole))


@few
@given(data=st.data())
def test_everything_is_finite_and_accounted_for(taxonomy, photos, steps, drawn, data):
    rows, bases = drawn(data)
    tables = every_table(steps(rows), photos(bases), taxonomy)
    for table in tables.values():
        for name, kind in table.schema.items():
            assert kind != pl.Float64 or all(v is None or math.isfinite(v) for v in table[name])
    left_out = tables["coverage"].group_by("model", "test_set", "what").agg(pl.col("n").sum())
    for row in tables["leaderboard"].filter(pl.col("test_set") != scoring.POOLED).to_dicts():
        out = dict(left_out.filter(model=row["model"], test_set=row["test_set"]).select("what", "n").rows())
        assert row["n_planned"] - row["n_complete"] == out.get("session", 0)
        for name in ("drop_fss", "sc", "oer", "drop_fss_floor_normalised"):
            assert row["n_complete"] - row[f"{name}_n"] == out.get(name, 0)
            assert (row[name] is None) == (row[f"{name}_n"] == 0)
        rates = ("completion", "refusal", "no_image", "failed", "not_run")
        assert sum(row[name] for name in rates) == pytest.approx(1, abs=1e-12)


@few
@given(data=st.data())
def test_pooled_means_are_weighted_by_sessions(taxonomy, photos, steps, drawn, data):
    rows, bases = drawn(data)
    board = every_table(steps(rows), photos(bases), taxonomy)["leaderboard"]
    for row in board.filter(test_set=scoring.POOLED).to_dicts():
        own = board.filter((pl.col("test_set") != scoring.POOLED) & (pl.col("model") == row["model"]))
        total = (own["drop_fss"] * own["drop_fss_n"]).sum()
        assert (row["drop_fss"] or 0) * row["drop_fss_n"] == pytest.approx(total, rel=1e-9, abs=1e-9)


@few
@given(data=st.data())
def test_all_at_once_is_one_after_the_other(taxonomy, photos, steps, drawn, data):
    rows, bases = drawn(data)
    arguments = steps(rows), photos(bases), taxonomy, RULES
    sessions = scoring.score_sessions(*arguments)
    found = scoring.score(*arguments)
    assert found.sessions.equals(sessions)
    assert found.leaderboard.equals(scoring.leaderboard(sessions, RULES))
    assert found.coverage.equals(scoring.coverage(sessions))
    assert found.coverage_by_group.equals(scoring.coverage_by_group(sessions, arguments[1]))
    assert found.progression.equals(scoring.progression(*arguments))
    assert found.overediting.equals(scoring.overediting_matrix(*arguments))
    assert found.missed_edits.equals(scoring.missed_edits(*arguments))


@few
@given(data=st.data())
def test_the_compact_form_and_any_split_of_it_give_the_same(taxonomy, photos, steps, drawn, data):
    rows, bases = drawn(data)
    expected = every_table(steps(rows), photos(bases), taxonomy)
    coded = scoring.code_steps(steps(rows), taxonomy)
    cuts = sorted(data.draw(st.lists(st.integers(0, coded.height), max_size=3)))
    pieces = [coded[start:end] for start, end in zip([0, *cuts], [*cuts, coded.height], strict=True)]
    stacked = pl.concat(data.draw(st.permutations(pieces)))
    for name, table in every_table(stacked, photos(bases), taxonomy).items():
        assert table.equals(expected[name]), name


@few
@given(data=st.data())
def test_the_order_of_groups_does_not_matter(taxonomy, photos, steps, drawn, data):
    rows, bases = drawn(data)
    names = data.draw(st.permutations(["gender=male", "skin=light", "age=old"]))
    ordered = [photo | {"groups": sorted(names)} for photo in bases]
    shuffled = [photo | {"groups": names} for photo in bases]
    expected = every_table(steps(rows), photos(ordered), taxonomy)
    for name, table in every_table(steps(rows), photos(shuffled), taxonomy).items():
        assert table.equals(expected[name]), name


@few
@given(data=st.data())
def test_a_row_that_is_there_twice_is_an_error(taxonomy, photos, steps, drawn, data):
    rows, bases = drawn(data)
    twice = [*rows, data.draw(st.sampled_from(rows))]
    with pytest.raises(MetricError, match="a row is there twice"):
        scoring.score(steps(twice), photos(bases), taxonomy, RULES)
    with pytest.raises(MetricError, match="a row is there twice"):
        scoring.score(steps(rows), photos([*bases, data.draw(st.sampled_from(bases))]), taxonomy, RULES)


@few
@given(data=st.data(), bad=st.sampled_from([math.nan, math.inf, -math.inf]))
def test_what_is_not_finite_never_reaches_a_mean(taxonomy, photos, steps, drawn, data, bad):
    rows, bases = drawn(data)
    column = data.draw(st.sampled_from(["fss", "success", "overediting"]))
    place = data.draw(st.integers(0, len(rows) - 1))
    spoilt = [row | ({column: bad} if number == place else {}) for number, row in enumerate(rows)]
    with pytest.raises(MetricError, match=f"{column} is not finite|outside 0 to 10"):
        scoring.score(steps(spoilt), photos(bases), taxonomy, RULES)
    with pytest.raises(MetricError, match="fss0 is not finite"):
        scoring.score(steps(rows), photos([bases[0] | {"fss0": bad}, *bases[1:]]), taxonomy, RULES)
