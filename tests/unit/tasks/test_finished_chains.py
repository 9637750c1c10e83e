"""Which chains of a run with attempts are finished, with which image, and who is ranked by that."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl
import pytest
from drift import RULES, DriftHistory, a_drift_plan, large
from hypothesis import given
from hypothesis import strategies as st

from domain.plan import StepPlan
from domain.votes import VoteRules
from metrics.attempts import completion
from tasks import check_tables, step_tables
from tasks.finished_chains import Finished, finished_of
from tasks.histories import History, walk_all
from tasks.match_making import field_of, left_out_rows
from tasks.ranking_tables import unranked_models

VERDICTS = ("made", "not_made", "refused", "no_image", "off_shape")
Draw = Callable[[StepPlan], str | None]


def walked(history: DriftHistory) -> History:
    rows = step_tables.rows(history.records.values())
    tables = {str(model): held for (model,), held in rows.group_by(["model"])}
    return walk_all(history.run, history.photos, tables, check_tables.rows(history.checks.values()))


def a_history(photos: int, draw: Draw, min_completion: float = 0.8) -> DriftHistory:
    data = large(photos)
    run = a_drift_plan(data)
    votes = VoteRules(min_completion=min_completion)
    history = DriftHistory(
        run.model_copy(update={"suite": run.suite.model_copy(update={"votes": votes})}), data
    )
    history.do(draw)
    return history


def test_the_image_is_of_the_attempt_that_was_made() -> None:
    """The last step fails twice, with an image each time, and is made the third time."""

    def draw(step: StepPlan) -> str:
        return "not_made" if step.number == 5 and step.identity.attempt < 3 else "made"

    history = a_history(1, draw)
    done = finished_of(walked(history))
    assert done.chains.select("model", "photo").rows() == [("m0", "p0-1"), ("m1", "p0-1")]
    for row in done.chains.iter_rows(named=True):
        made = [
            outcome
            for outcome in history.records.values()
            if outcome.identity.attempt == 3 and outcome.identity.model == row["model"]
        ]
        assert [outcome.image.sha256 for outcome in made if outcome.image] == [row["image_sha256"]]
    assert done.unranked == {}


@pytest.mark.parametrize("verdict", ["not_made", "off_shape", "refused", "no_image"])
def test_a_chain_whose_last_step_fails_three_times_is_not_finished(verdict: str) -> None:
    """Though its last attempt may well have left an image."""

    def draw(step: StepPlan) -> str:
        return verdict if step.number == 5 and step.chain.model == "m1" else "made"

    done = finished_of(walked(a_history(2, draw)))
    assert done.chains["model"].to_list() == ["m0", "m0"]
    assert done.unranked == {"m1": "below_threshold"}


@given(
    ends=st.lists(st.sampled_from([*VERDICTS, "made", "made", "made", None]), min_size=1, max_size=60),
    threshold=st.sampled_from([0.0, 0.5, 0.667, 0.8, 1.0]),
)
def test_finished_is_what_every_chain_followed_by_itself_says(
    ends: list[str | None], threshold: float
) -> None:
    place = iter(range(10**6))
    history = a_history(3, lambda _: ends[next(place) % len(ends)], threshold)
    done = finished_of(walked(history))
    walks = history.walks()
    whole = [
        walk
        for walk in walks
        if walk.next_step is None and walk.attempts and walk.attempts[-1].verdict == "made"
    ]
    assert done.chains.select("model", "photo", "session").rows() == [
        (walk.chain.model, walk.chain.photo, walk.chain.session) for walk in whole
    ]
    last = [walk.attempts[-1].outcome.image for walk in whole]
    assert done.chains["image_sha256"].to_list() == [image.sha256 for image in last if image]
    counts = dict(done.completion.select("model", "n_complete").iter_rows())
    assert counts == {name: sum(w.chain.model == name for w in whole) for name in ("m0", "m1")}


def _of(complete: int, stopped: int = 0, unfinished: int = 0, off_shape: int = 0) -> pl.DataFrame:
    """Chains of one model by status."""
    statuses = ["complete"] * complete + ["stopped"] * stopped + ["unfinished"] * unfinished
    key = {"suite": "s", "dataset": "d", "model": "m"}
    rows = [{**key, "photo": f"p{n}", "session": "s", "status": one} for n, one in enumerate(statuses)]
    return pl.DataFrame(rows)


@pytest.mark.parametrize(
    ("chains", "reason"),
    [
        (_of(80, 20), None),
        (_of(799, 201), "below_threshold"),
        (_of(799, 200, 1), "unfinished"),
        (_of(800, 199, 1), None),
        (_of(4, 1), None),
        (_of(3, 2), "below_threshold"),
    ],
)
def test_one_rule_says_who_is_ranked_at_80_percent(chains: pl.DataFrame, reason: str | None) -> None:
    """The table, the matches and the ranking go by the same row."""
    attempts = chains.filter(pl.col("status") != "unfinished").with_columns(
        pl.lit(1, pl.Int64).alias("step"),
        pl.lit(1, pl.Int64).alias("attempt"),
        pl.when(pl.col("status") == "complete")
        .then(pl.lit("made"))
        .otherwise(pl.lit("refused"))
        .alias("verdict"),
    )
    table = completion(chains, attempts, 0.8)
    ended = chains.filter(pl.col("status") == "complete").select(
        "model", "photo", "session", image_sha256=pl.lit("0" * 64), image_extension=pl.lit("png")
    )
    done = Finished(ended, table, tuple(chains.select("photo", "session").iter_rows()))
    run = a_drift_plan(large(1))
    run = run.model_copy(update={"cards": (run.cards[0].model_copy(update={"id": "m"}),)})
    field = field_of(run, done)
    assert table["reason"].to_list() == [reason]
    assert (field.models == ("m",)) is (reason is None)
    assert unranked_models({"completion": table}) == ([] if reason is None else ["m"])
    assert dict(field.reasons) == ({} if reason is None else {"m": reason})


def test_who_changes_shape_meets_nobody_however_many_chains_it_completes() -> None:
    """Two off-shape attempts before each one that is made are most of its attempts."""

    def draw(step: StepPlan) -> str:
        return "off_shape" if step.chain.model == "m1" and step.identity.attempt < RULES.attempts else "made"

    history = a_history(2, draw)
    done = finished_of(walked(history))
    assert done.chains.height == 4
    assert done.unranked == {"m1": "changes_shape"}
    field = field_of(history.run, done)
    assert field.models == ("m0",)
    assert (field.not_ranked, field.left_out) == ({"m1": 1.0}, {"m1": 2})


def test_the_reasons_are_told_in_words() -> None:
    from domain.matches import MatchSet

    held = {"slow": 0.667, "wide": 1.0, "open": 0.5}
    made = MatchSet(
        suite="s", run_id="r", table="matches/s/0/matches.parquet", n_matches=0, n_gold=0,
        strategy="least_judged", seed=0, left_out=dict.fromkeys(held, 6), not_ranked=held,
        reasons={"slow": "below_threshold", "wide": "changes_shape", "open": "unfinished"},
    )  # fmt: skip
    assert [row["why"] for row in left_out_rows(made)] == [
        "completed 66.7% of its chains",
        "most of its edits have another shape; completed 100.0% of its chains",
        "errors left chains open that would decide; completed 50.0% of its chains so far",
    ]
