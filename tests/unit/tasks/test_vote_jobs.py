"""Jobs for services: priced, given once, and found again when their id was lost."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from fakes.vote_service import Crowd
from matched_runs import VotedRun, a_voted_run, make_matches

from adapters.stores.local import LocalStore
from domain.errors import AmbiguousError, BudgetError, DefinitionError, FatalError, StoreError
from domain.vote_requests import CollectRequest
from domain.votes import VoteRules
from tasks import ledger, vote_jobs
from tasks.match_making import rules_of
from tasks.vote_jobs import check_price, give, given, job_before_asking, job_of


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> VotedRun:
    """A run of two models on two photos, with its matches: two, and one with a known answer."""
    monkeypatch.setenv("FACEDRIFT_STORE", str(tmp_path / "store"))
    store = LocalStore(tmp_path / "store", fsync=False)
    return a_voted_run(store, people=2, models=2, rules=VoteRules(gold_share=0.0, gold_first=1))


@pytest.fixture
def crowd(run: VotedRun, monkeypatch: pytest.MonkeyPatch) -> Crowd:
    make_matches(run)
    found = Crowd()
    monkeypatch.setattr(vote_jobs, "vote_service", lambda _: found)
    return found


def asking(**fields: object) -> CollectRequest:
    base = {"suite": "quickstart", "source": "rapidata", "price_usd": 0.01}
    return CollectRequest.model_validate({**base, **fields})


def test_a_job_costs_its_responses(run: VotedRun, crowd: Crowd) -> None:
    job = job_before_asking(asking(responses=5))
    assert job
    assert (job.n_matches, job.responses, job.cost_usd, job.job_id) == (3, 5, 0.15, None)
    assert job_of(asking(), run.store).wanted.responses == 1  # the suite's
    assert crowd.orders == []


def test_a_job_is_given_once_with_the_pictures_of_its_matches(run: VotedRun, crowd: Crowd) -> None:
    job = job_of(asking(), run.store)
    there = give(job, crowd, run.store)
    assert there.job_id == "job-0"
    order = crowd.orders[0]
    assert (order.question, order.audience, order.responses) == (rules_of(run.run).question, "global", 1)
    assert [one.match for one in order.matches] == [name for name, _ in job.matches]
    shown = {
        f"{sha}.png": ledger.read_image(run.store, sha, "png")
        for _, match in job.matches
        for sha in (match.original_sha256, match.crop_a_sha256, match.crop_b_sha256)
    }
    assert crowd.seen == [shown]
    assert not order.matches[0].original.exists()  # cleaned up
    assert given(job_of(asking(), run.store), asking(), run.store) == there
    assert job_before_asking(asking()) is None


def test_a_job_whose_id_was_lost_is_found_and_not_paid_again(run: VotedRun, crowd: Crowd) -> None:
    crowd.loses = 1
    with pytest.raises(AmbiguousError):
        give(job_of(asking(), run.store), crowd, run.store)
    assert given(job_of(asking(), run.store), asking(), run.store) is None
    assert job_before_asking(asking()) is None
    there = given(job_of(asking(), run.store), asking(), run.store)
    assert there
    assert there.job_id == "job-0"
    assert len(crowd.orders) == 1


def test_a_job_that_was_not_taken_is_given_again(run: VotedRun, crowd: Crowd) -> None:
    crowd.refuses = 1
    with pytest.raises(FatalError):
        give(job_of(asking(), run.store), crowd, run.store)
    assert job_before_asking(asking())
    assert give(job_of(asking(), run.store), crowd, run.store).job_id == "job-0"
    assert len(crowd.orders) == 1


def test_nobody_is_asked_for_a_job_that_was_never_begun(run: VotedRun, crowd: Crowd) -> None:
    job_before_asking(asking())
    assert crowd.asked == 0


def test_other_voters_or_numbers_are_another_job(run: VotedRun, crowd: Crowd) -> None:
    names = {
        job_of(asking(**fields), run.store).wanted.name
        for fields in ({}, {"responses": 2}, {"audience": "experts"}, {"price_usd": 0.5}, {"responses": 1})
    }
    assert len(names) == 3  # a price makes no other job


def test_a_price_must_be_said_and_may_be_too_high(run: VotedRun, crowd: Crowd) -> None:
    with pytest.raises(DefinitionError, match="what one response costs") as raised:
        job_before_asking(asking(price_usd=None))
    assert raised.value.field == "price_usd"
    with pytest.raises(BudgetError, match="nothing was given"):
        job_before_asking(asking(responses=99, max_cost_usd=1.0))
    check_price(job_of(asking(responses=99, max_cost_usd=3.0), run.store), asking(max_cost_usd=3.0))


def test_a_job_that_somebody_else_gave_can_be_named(run: VotedRun, crowd: Crowd) -> None:
    assert job_before_asking(asking(job="elsewhere", price_usd=None)) is None
    there = given(job_of(asking(), run.store), asking(), run.store)
    assert there
    assert (there.job_id, there.cost_usd) == ("elsewhere", 0)
    with pytest.raises(DefinitionError, match="'elsewhere'"):
        job_before_asking(asking(job="another"))


def test_two_very_same_pictures_are_not_sent(run: VotedRun, monkeypatch: pytest.MonkeyPatch) -> None:
    make_matches(run)
    table = vote_jobs.match_tables.read_matches
    monkeypatch.setattr(
        vote_jobs.match_tables,
        "read_matches",
        lambda *given: table(*given).with_columns(
            crop_b_sha256=pl.when(pl.col("photo") == "p0-1").then("crop_a_sha256").otherwise("crop_b_sha256")
        ),
    )
    job = job_of(asking(), run.store)
    assert len(job.matches) + job.same == 3
    assert job.same >= 1
    assert all(match.photo != "p0-1" for _, match in job.matches)


def test_without_matches_it_says_how_to_make_them(run: VotedRun) -> None:
    with pytest.raises(StoreError, match="facedrift matches make quickstart"):
        job_of(asking(), run.store)
