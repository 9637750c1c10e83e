"""At the paper's size the tables come back within sampling error of the truth in the records."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from synthetic import GAPS, PAIRS, SCORES, TEST_SETS, synthetic_run

from metrics import scoring
from metrics.frames import SESSION_KEY
from metrics.planned_sessions import planned_sessions
from metrics.session_scores import ScoringRules, session_overedits

Z95 = 1.96


@pytest.fixture(scope="module")
def run(taxonomy):
    return synthetic_run(taxonomy, seed=7)


@pytest.fixture(scope="module")
def tables(run, taxonomy):
    return scoring.score(run.steps, run.photos, taxonomy, ScoringRules(resamples=1_000))


def test_the_run_is_of_the_papers_size(run, tables):
    assert run.sessions.height == 5 * 549 * 35 + 6 * 517 * 35 == 204_645
    assert tables.sessions.height == 204_645
    people = run.photos.group_by("dataset").agg(pl.len(), pl.col("subject").n_unique()).sort("dataset")
    assert people.rows() == [("celeba", 549, 488), ("celebset", 517, 68)]
    groups = run.photos.explode("groups").group_by("dataset", "groups").len()
    counts = {(dataset, group): n for dataset, group, n in groups.rows()}
    assert (counts["celeba", "gender=female"], counts["celeba", "age=old"]) == (305, 136)
    assert (counts["celebset", "skin=dark"], counts["celebset", "age=young"]) == (134, 98)


def z_scores(run, tables, score):
    cells = tables.leaderboard.filter(pl.col("test_set") != scoring.POOLED)
    found = []
    for row in cells.to_dicts():
        truth = run.expected(score, row["dataset"], row["model"], row["test_set"])
        se = (row[f"{score}_high"] - row[f"{score}_low"]) / 2 / Z95
        found.append((row["dataset"], (row[score] - truth) / se))
    return found


@pytest.mark.parametrize("score", SCORES)
def test_means_come_back(run, tables, score):
    found = z_scores(run, tables, score)
    assert len(found) == len(PAIRS) * len(TEST_SETS)
    z = np.array([value for _, value in found])
    # All cells of a dataset share their people, so they miss together; none may miss by far.
    assert np.abs(z).max() < 4
    assert (
        np.abs([z[[name == dataset for name, _ in found]].mean() for dataset in ("celeba", "celebset")]).max()
        < 3
    )


@pytest.mark.parametrize("score", SCORES)
def test_pooled_means_come_back(run, tables, score):
    weights = {name: count / sum(TEST_SETS.values()) for name, count in TEST_SETS.items()}
    for row in tables.leaderboard.filter(test_set=scoring.POOLED).to_dicts():
        cell = (row["dataset"], row["model"])
        truth = sum(weight * run.expected(score, *cell, name) for name, weight in weights.items())
        se = (row[f"{score}_high"] - row[f"{score}_low"]) / 2 / Z95
        assert abs(row[score] - truth) < 4 * se


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize(
    ("dataset", "group", "other"),
    [
        ("celeba", "gender=female", "gender=male"),
        ("celeba", "age=old", "age=young"),
        ("celebset", "gender=female", "gender=male"),
        ("celebset", "skin=dark", "skin=light"),
    ],
)
def test_group_gaps_come_back(run, tables, score, dataset, group, other):
    """Mean of a group less that of the others, over people, against the gap that was put in."""
    labelled = tables.sessions.drop_nulls(score).join(
        run.photos.select("dataset", "photo", "groups"), on=["dataset", "photo"]
    )
    labelled = labelled.filter(dataset=dataset)
    factor = 1 - run.rates.no_face if score == "drop_fss" else 1.0

    def people(name):
        return (
            labelled.filter(pl.col("groups").list.contains(name))
            .group_by("subject")
            .agg(pl.col(score).mean())[score]
        )

    ours, theirs = people(group), people(other)
    gap = factor * (GAPS[score].get(group, 0.0) - GAPS[score].get(other, 0.0))
    # The other axes are spread at random, or nearly so: they add noise and little bias.
    se = np.sqrt(ours.var() / len(ours) + theirs.var() / len(theirs))
    assert abs(ours.mean() - theirs.mean() - gap) < 4 * se
    assert dataset == "celebset" or se < (0.6 if score == "drop_fss" else 0.01)


def test_every_session_has_the_overedits_that_were_put_in(run, tables):
    both = tables.sessions.join(run.sessions, on=list(SESSION_KEY)).drop_nulls("oer")
    assert both.height > 190_000
    assert (both["oer"] * 4 == both["overedits"]).all()


def test_the_matrix_holds_every_overedit_once(run, tables, taxonomy):
    assert tables.overediting["count"].sum() == (tables.sessions["oer"] * 4).sum()
    planned = planned_sessions(run.steps, run.photos, taxonomy)
    found = session_overedits(planned, ScoringRules().overediting)
    counted = planned.complete & ~found.unknown
    assert tables.overediting.select("model", "dataset", "intended", "prompts").unique()["prompts"].sum() == (
        4 * counted.sum()
    )


def test_what_is_missing_is_as_often_missing_as_it_was_made(run, tables):
    rates = run.rates
    board = tables.leaderboard.filter(test_set=scoring.POOLED)
    n = board["n_planned"].sum()
    refused = (board["refusal"] * board["n_planned"]).sum() / n
    expected = 1 - (1 - rates.refused) ** 4
    assert abs(refused - expected) < 4 * np.sqrt(expected / n)
    assert abs(board["no_face"].mean() - rates.no_face) < 4 * np.sqrt(rates.no_face / n / 4)
    unparsable = tables.coverage.filter(what="sc")["n"].sum() / board["n_complete"].sum()
    assert abs(unparsable - (1 - (1 - rates.unparsable) ** 4)) < 4 * np.sqrt(0.012 / n)


def test_progression_falls_by_the_drop(run, tables):
    found = tables.progression
    assert found.filter(step=0)["fss"].is_between(0.7, 0.85).all()
    assert (found.filter(pl.col("step") > 0)["fss"] < 0.6).all()
