"""Steps that are tried more than once: all chains at once are walked as each alone, whatever is missing."""

from __future__ import annotations

from collections import defaultdict
from itertools import cycle

import polars as pl
import pytest
from chains import sessions_of
from drift import CHECKER, PROMPTS, RULES, DriftHistory, a_drift_plan, large
from hypothesis import given
from hypothesis import strategies as st

from domain.plan import Walk, is_off_shape
from domain.running import StepRules
from tasks import check_tables, step_tables
from tasks.histories import History, walk_all
from tasks.missing_work import missing, shards

Rows = dict[str, tuple[list[tuple[object, ...]], object]]


def walked(history: DriftHistory) -> History:
    rows = step_tables.rows(history.records.values())
    tables = {str(model): held for (model,), held in rows.group_by(["model"])}
    return walk_all(history.run, history.photos, tables, check_tables.rows(history.checks.values()))


def of_table(found: History) -> Rows:
    done: dict[str, list[tuple[object, ...]]] = defaultdict(list)
    shown = found.steps.select("chain", "step", "attempt", "key", "verdict", "image_sha256")
    for chain, *row in shown.iter_rows():
        done[found.chain(chain).label].append(tuple(row))
    following = {step.chain.label: step for step in found.next_steps()}
    pairs = zip(*(at.tolist() for at in found.pairs), strict=True)
    numbers = [photo * len(found.run.sessions) + session for photo, session in pairs]
    labels = [
        found.chain(model * found.stride + number).label
        for model in range(len(found.run.cards))
        for number in numbers
    ]
    assert len(labels) == found.chains
    return {label: (done[label], following.get(label)) for label in labels}


def one_by_one(walks: list[Walk]) -> Rows:
    return {
        walk.chain.label: (
            [
                (
                    attempt.step.number,
                    attempt.step.identity.attempt,
                    attempt.step.key,
                    attempt.verdict,
                    attempt.outcome.image.sha256 if attempt.outcome.image else None,
                )
                for attempt in walk.attempts
            ],
            walk.next_step,
        )
        for walk in walks
    }


KINDS = ["made", "made", "made", "not_made", "refused", "no_image", "off_shape", "unchecked", None]
ENDS = st.lists(st.sampled_from(KINDS), min_size=1, max_size=40)
WORDS = st.lists(st.lists(st.sampled_from(["a", "b"]), min_size=1, max_size=3), min_size=1, max_size=3)
EVERY_RULE = st.builds(
    StepRules,
    attempts=st.integers(1, 3),
    checker=st.sampled_from([None, "local"]),
    max_aspect_change=st.sampled_from([None, 0.01]),
)


@given(ends=ENDS, people=st.integers(1, 3), rules=EVERY_RULE, words=st.none() | WORDS)
def test_all_chains_at_once_are_walked_as_each_alone(
    ends: list[str | None], people: int, rules: StepRules, words: list[list[str]] | None
) -> None:
    """With one chain a photo, or with sessions that share prompts, and so steps."""
    photos = large(people)
    sessions = None if words is None else sessions_of(words)
    history = DriftHistory(a_drift_plan(photos, sessions, rules), photos)
    draw = cycle(ends)
    history.do(lambda _: next(draw))
    found, walks = walked(history), history.walks()
    assert of_table(found) == one_by_one(walks)
    open_ones = dict(found.open.select("chain", "is_edited").iter_rows())
    assert {found.chain(n).label: is_edited for n, is_edited in open_ones.items()} == {
        walk.chain.label: walk.unchecked is not None for walk in walks if walk.next_step
    }
    for walk in walks:
        assert found.number(walk.chain) is not None


def test_a_run_of_prompt_chains_has_only_the_pairs_of_a_photo_and_its_session(tmp_path) -> None:
    from adapters.stores.local import LocalStore

    photos = large(4)
    history = DriftHistory(a_drift_plan(photos), photos)
    ends = {"p0-1": "made", "p1-1": "refused"}
    history.do(lambda step: ends.get(step.chain.photo))
    found = walked(history)
    assert (found.chains, found.chains_of_a_model, found.stride) == (8, 4, 16)
    assert [(step.chain.photo, step.chain.session) for step in found.next_steps()] == 2 * [
        ("p2-1", "p2_1"),
        ("p3-1", "p3_1"),
    ]
    store = LocalStore(tmp_path, fsync=False)
    left = missing(found, store)
    assert (left.chains, left.complete, left.stopped, left.unfinished) == (8, 2, 2, 4)
    assert left.steps_missing == {"m0": 30, "m1": 30}, "two chains of five steps, three attempts each"
    assert [len(part.steps) for part in shards(found)] == [2, 2]
    other = found.chain(0).model_copy(update={"session": "p1_1"})
    assert found.number(other) is None


def test_an_edit_whose_check_is_missing_is_not_counted_as_an_edit_to_come(tmp_path) -> None:
    from adapters.stores.local import LocalStore

    photos = large(1)
    run = a_drift_plan(photos, seeded=(True,))
    assert run.checker_card is not None
    run = run.model_copy(update={"checker_card": run.checker_card.model_copy(update={"price_usd": 0.5})})
    history = DriftHistory(run, photos)
    ends = iter(["made", "not_made", "unchecked"])
    history.do(lambda _: next(ends, None))
    left = missing(walked(history), LocalStore(tmp_path, fsync=False))
    assert left.steps_missing == {"m0": 3 * 4 - 2}, "one attempt is made, one waits for its check"
    assert left.answers_missing == {"local": 3 * 4 - 1}
    assert left.cost_usd == pytest.approx(11 * 0.5 + 10 * run.cards[0].price_usd)


@pytest.mark.parametrize(
    ("before", "after", "is_off"),
    [
        ((1248, 832), (1248, 832), False),
        ((1248, 832), (1536, 1024), False),
        ((1000, 1000), (1010, 1000), False),  # exactly 1 %
        ((1000, 1000), (1000, 1010), False),
        ((10_000, 10_000), (10_101, 10_000), True),
        ((10_000, 10_000), (10_000, 10_101), True),
        ((1248, 832), (1024, 1024), True),
    ],
)
def test_one_per_cent_is_exactly_one_per_cent(
    before: tuple[int, int], after: tuple[int, int], is_off: bool
) -> None:
    assert is_off_shape(before, after, 0.01) is is_off


def test_three_verdicts_of_one_step_end_a_chain_and_a_fourth_prompt_is_never_reached() -> None:
    photos = large(1)
    history = DriftHistory(a_drift_plan(photos, seeded=(True,)), photos)
    ends = {(1, 1): "made", (2, 1): "refused", (2, 2): "off_shape", (2, 3): "made"}
    ends |= {(3, 1): "not_made", (3, 2): "no_image", (3, 3): "off_shape"}
    history.do(lambda step: ends[step.number, step.identity.attempt])
    [walk] = history.walks()
    assert walk.status == "stopped"
    assert [a.verdict for a in walk.attempts] == list(ends.values())
    third = [a.step for a in walk.attempts if a.step.number == 3]
    assert len({step.identity.input_sha256 for step in third}) == 1, "each attempt on the same input"
    assert third[0].identity.input_sha256 == walk.attempts[3].outcome.image.sha256  # type: ignore[union-attr]
    assert len({step.identity.seed for step in third}) == 3, "each attempt with its own seed"
    assert len(history.checks) == 3, "an image of another shape is not checked"
    assert walked(history).steps["verdict"].to_list() == list(ends.values())


def test_another_checker_s_answers_are_not_its_own() -> None:
    """The same outcomes; only what this run's checker said decides."""
    photos = large(2)
    run = a_drift_plan(photos)
    history = DriftHistory(run, photos)
    history.do(lambda _: "made")
    assert [walk.status for walk in history.walks()] == ["complete"] * 4
    other = run.model_copy(update={"checker": CHECKER.model_copy(update={"version": "2"})})
    again = DriftHistory(other, photos, history.records)
    assert {walk.status for walk in again.walks()} == {"unfinished"}
    assert all(walk.unchecked for walk in again.walks())
    assert walked(again).open["is_edited"].to_list() == [True] * 4


def test_rows_of_the_checks_table_are_each_edit_once() -> None:
    photos = large(1)
    history = DriftHistory(a_drift_plan(photos, seeded=(True,)), photos)
    history.do(lambda step: "not_made" if step.number == 2 else "made")
    rows = check_tables.rows([*history.checks.values(), *history.checks.values()])
    assert rows.schema == check_tables.SCHEMA
    assert sorted(rows["made"].to_list()) == [False, False, False, True]
    assert rows.filter(~pl.col("made"))["faults"].to_list()[0] == ["right_place", "unrequested: another sky"]
    assert PROMPTS[1] in rows.filter(~pl.col("made"))["prompt"][0]
    assert RULES.attempts == 3
