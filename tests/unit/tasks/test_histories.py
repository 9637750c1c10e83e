"""A whole table of finished steps is walked as each chain would be, one by one."""

from __future__ import annotations

from collections import defaultdict
from itertools import cycle

import polars as pl
import pytest
from chains import FOUR, History, a_dataset, a_plan, an_end, sessions_of
from hypothesis import given
from hypothesis import strategies as st

from domain.plan import Walk
from tasks import histories, step_tables
from tasks.histories import walk_all
from tasks.missing_work import shards


def tables_of(history: History) -> dict[str, pl.DataFrame]:
    rows = step_tables.rows(history.records.values())
    return {str(model): held for (model,), held in rows.group_by(["model"])}


def as_walks(found: histories.History) -> dict[str, tuple[list[tuple[object, ...]], object]]:
    """Of each chain the keys, kinds and images of its finished steps, and its next step."""
    done: dict[str, list[tuple[object, ...]]] = defaultdict(list)
    for row in found.steps.iter_rows(named=True):
        done[found.chain(row["chain"]).label].append(
            (row["step"], row["key"], row["kind"], row["image_sha256"])
        )
    following = {step.chain.label: step for step in found.next_steps()}
    labels = (found.chain(number).label for number in range(found.chains))
    return {label: (done[label], following.get(label)) for label in labels}


def one_by_one(walks: list[Walk]) -> dict[str, tuple[list[tuple[object, ...]], object]]:
    return {
        walk.chain.label: (
            [
                (number, o.key, o.kind, o.image.sha256 if o.image else None)
                for number, o in enumerate(walk.outcomes, 1)
            ],
            walk.next_step,
        )
        for walk in walks
    }


PROMPTS = st.lists(st.lists(st.sampled_from(["a", "b", "c"]), min_size=1, max_size=4), min_size=1, max_size=4)
ENDS = st.lists(st.sampled_from(["edited", "edited", "refused", "no_image", None]), min_size=1, max_size=40)


@given(
    prompts=PROMPTS,
    ends=ENDS,
    people=st.integers(1, 3),
    seeded=st.lists(st.booleans(), min_size=1, max_size=2),
)
def test_all_chains_at_once_are_walked_as_each_alone(
    prompts: list[list[str]], ends: list[str | None], people: int, seeded: list[bool]
) -> None:
    """Sessions share prompts, and so steps; models have a seed or not."""
    photos = a_dataset(people)
    history = History(a_plan(photos, sessions_of(prompts), seeded), photos)
    draw = cycle(ends)
    history.do(lambda _: next(draw))
    found = walk_all(history.run, photos, tables_of(history))
    assert as_walks(found) == one_by_one(history.walks())
    assert [found.number(found.chain(n)) for n in range(found.chains)] == list(range(found.chains))


def test_rows_of_other_settings_seeds_and_attempts_are_not_found() -> None:
    photos = a_dataset(2)
    run = a_plan(photos, sessions_of([FOUR]))
    history = History(run, photos)
    history.do(lambda step: "edited" if step.number < 3 else None)
    tables = tables_of(history)
    assert walk_all(run, photos, tables).steps.height == 8
    for column, value in (("settings_fingerprint", "e" * 64), ("attempt", 2), ("seed", 5), ("prompt", "no")):
        other = {model: frame.with_columns(pl.lit(value).alias(column)) for model, frame in tables.items()}
        kind = tables["m0"].schema[column]
        other = {model: frame.with_columns(pl.col(column).cast(kind)) for model, frame in other.items()}
        assert walk_all(run, photos, other).steps.is_empty(), column
    other_seeds = run.model_copy(update={"suite": run.suite.model_copy(update={"seed": 9})})
    assert walk_all(other_seeds, photos, tables).steps.height == 4, (
        "only the model without a seed finds its own"
    )


def test_a_run_without_chains_has_an_empty_history() -> None:
    photos = a_dataset(1)
    for run in (a_plan(photos, ()), a_plan(photos, sessions_of([FOUR])).model_copy(update={"photos": ()})):
        found = walk_all(run, photos, {})
        assert (found.chains, found.steps.height, found.open.height) == (0, 0, 0)
        assert list(found.next_steps()) == []


def test_only_some_chains_are_put_into_shards() -> None:
    photos = a_dataset(3)
    run = a_plan(photos, sessions_of([FOUR, FOUR[::-1]]))
    history = History(run, photos)
    history.do(lambda step: "edited" if step.chain.photo == "p0-1" else None)
    found = walk_all(run, photos, tables_of(history))
    every = [step.chain for part in shards(found) for step in part.steps]
    assert len(every) == 8
    wanted = (every[6], every[1], found.chain(0))  # the last one is over
    parts = shards(found, wanted)
    assert [part.number for part in parts] == [1, 2]
    assert [step.chain for part in parts for step in part.steps] == [every[1], every[6]]


def test_a_row_carries_all_that_is_read_from_the_table() -> None:
    photos = a_dataset(1)
    run = a_plan(photos, sessions_of([FOUR]))
    step = next(walk.next_step for walk in History(run, photos).walks())
    assert step is not None
    told = {"made": True, "changed": ["hats"]}
    outcome = an_end(step, cost_usd=0.25, lost_calls=2, details={"truth": told, "other": 1})
    [row] = step_tables.rows([outcome, outcome]).iter_rows(named=True)
    assert outcome.image is not None
    assert (row["width"], row["height"]) == (outcome.image.width, outcome.image.height)
    assert (row["cost_usd"], row["lost_calls"], row["truth"]) == (0.25, 2, '{"changed":["hats"],"made":true}')
    assert set(step_tables.IDENTITY) <= set(row)


@pytest.mark.parametrize("told", [None, "text", ["list"]])
def test_what_is_no_account_of_an_edit_is_none(told: object) -> None:
    photos = a_dataset(1)
    step = next(w.next_step for w in History(a_plan(photos, sessions_of([FOUR])), photos).walks())
    assert step is not None
    assert step_tables.rows([an_end(step, details={"truth": told})])["truth"].to_list() == [None]
