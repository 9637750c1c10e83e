from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import overediting as oracle
from oracles.one_session import counted, session_overedits
from oracles.overediting import Increment, Intent

from domain.errors import MetricError
from metrics.overediting import OvereditingRules

GOLDEN = json.loads((Path(__file__).parents[2] / "golden/overediting_examples.json").read_text())
EXAMPLES = [
    pytest.param(case, expected, id=f"{case['id']}-{expected['rule']}-{expected['occlusion']}")
    for case in GOLDEN["cases"]
    for expected in case["expected"]
]
RULES = ("new", "resolve", "strict", "disjoint")


def intents(taxonomy, *categories):
    return [Intent(taxonomy.sub_axis_of[c], c) for c in categories]


def test_every_worked_example_is_there():
    assert [case["id"] for case in GOLDEN["cases"]] == [
        *("E1", "E2", "E3", "E4", "E5", "E5b", "E6", "E7", "E8", "E9", "E10", "E11", "E12", "E13", "E16")
    ]


def test_the_examples_start_from_the_shared_base(taxonomy, state_of):
    assert {s: tuple(GOLDEN["base"].get(s, ())) for s in taxonomy.sub_axes} == state_of()


@pytest.mark.parametrize(("case", "expected"), EXAMPLES)
def test_worked_example(taxonomy, state_of, case: dict[str, Any], expected: dict[str, Any]):
    asked = [Intent(taxonomy.sub_axis_of[a["category"]], **a) for a in case["asked"]]
    rules = OvereditingRules(rule=expected["rule"], occlusion=expected["occlusion"])
    found = session_overedits(taxonomy, asked, [state_of(s) for s in case["states"]], rules)
    increments = [sorted(map(tuple, step.increments)) for step in found.steps]
    assert increments == [sorted(map(tuple, step)) for step in expected["increments"]]
    assert [step.overedits for step in found.steps] == expected["overedits"]
    assert found.oer == pytest.approx(expected["oer"], abs=1e-12)
    if "missed" in expected:
        assert [list(step.miss_in_axis) for step in found.steps] == expected["missed"]
    violated = expected.get("keep_violations", [False] * len(asked))
    assert [step.keep_violation for step in found.steps] == violated


def test_increments_follow_the_taxonomy_and_name_their_row(taxonomy, state_of):
    states = [
        state_of(),
        state_of({"glasses": ["round glasses"], "hats": ["beret hat"], "beard": ["goatee"]}),
    ]
    (step,) = session_overedits(taxonomy, intents(taxonomy, "round glasses"), states).steps
    assert step.increments == (
        Increment("round glasses", "goatee"),
        Increment("round glasses", "beret hat"),
    )
    assert step.overedits == 2
    assert step.overedits_no_facial_hair == 1


def test_oer_is_never_clipped_and_leaves_out_facial_hair_on_request(taxonomy, state_of):
    # One step, everything but the asked sub-axis changes: 7 / 1, and 5 / 1 without mustache and beard.
    after = {
        "hair color": ["red hair"],
        "hair type": ["curly hair"],
        "hair style": ["bob cut"],
        "mustache": ["walrus mustache"],
        "beard": ["stubble"],
        "glasses": ["round glasses"],
        "hats": ["cowboy hat"],
        "head position": ["looking left"],
    }
    found = session_overedits(taxonomy, intents(taxonomy, "cowboy hat"), [state_of(), state_of(after)])
    assert (found.oer, found.oer_no_facial_hair) == (7.0, 5.0)


@pytest.mark.parametrize("rule", RULES)
def test_an_unchanged_session_has_no_overedit(taxonomy, state_of, rule):
    found = session_overedits(
        taxonomy, intents(taxonomy, "red hair", "stubble"), [state_of()] * 3, OvereditingRules(rule=rule)
    )
    assert (found.oer, found.missed_edits) == (0.0, 2)


def test_clean_shaven_entails_a_mustache_that_vanishes(taxonomy, state_of):
    bearded = state_of({"beard": ["full beard"], "mustache": ["walrus mustache"]})
    shaved = session_overedits(taxonomy, intents(taxonomy, "clean shaven"), [bearded, state_of()])
    assert shaved.oer == 0.0
    hatted = {**bearded, "hats": ("beret hat",)}
    bared = session_overedits(taxonomy, intents(taxonomy, "clean shaven"), [hatted, state_of()])
    assert bared.steps[0].increments == (Increment("clean shaven", "None[hats]"),)
    swapped = state_of({"mustache": ["pencil mustache"]})
    kept = session_overedits(taxonomy, intents(taxonomy, "clean shaven"), [bearded, swapped])
    assert kept.steps[0].increments == (Increment("clean shaven", "pencil mustache"),)
    trimmed = state_of({"beard": ["goatee"]})
    other = session_overedits(taxonomy, intents(taxonomy, "goatee"), [bearded, trimmed])
    assert other.steps[0].increments == (Increment("goatee", "None[mustache]"),)


def test_same_category_again_is_a_hit(taxonomy, state_of):
    state = state_of({"hats": ["beanie hat"]})
    found = session_overedits(taxonomy, intents(taxonomy, "beanie hat"), [state, state])
    assert (found.missed_edits, found.oer) == (0, 0.0)


def test_a_tie_that_holds_the_asked_category_is_a_hit(taxonomy, state_of):
    after = state_of({"hair color": ["red hair", "orange hair"]})
    assert session_overedits(taxonomy, intents(taxonomy, "red hair"), [state_of(), after]).missed_edits == 0


def test_an_edit_that_shows_nothing_is_a_miss_in_its_none_column(taxonomy, state_of):
    found = session_overedits(taxonomy, intents(taxonomy, "beanie hat"), [state_of()] * 2)
    assert found.steps[0].miss_in_axis == ("None[hats]",)


@pytest.mark.parametrize(
    ("before", "after", "violated"),
    [
        (["baseball hat"], ["baseball hat"], False),
        (["baseball hat"], ["baseball hat", "bucket hat"], False),
        (["baseball hat"], [], True),
        ([], ["bucket hat"], False),
        (["baseball hat"], None, False),
        (None, ["bucket hat"], False),
    ],
)
def test_keep(taxonomy, state_of, before, after, violated):
    states = [state_of({"hats": before}), state_of({"hats": after})]
    found = session_overedits(taxonomy, [Intent("hats", "baseball hat", keep=True)], states)
    assert found.steps[0].keep_violation is violated
    assert found.keep_violations == violated
    assert found.steps[0].miss_in_axis == ()
    assert found.steps[0].increments == ()


def test_unknown_is_neither_absent_nor_a_change_and_leaves_no_oer(taxonomy, state_of):
    states = [
        state_of(),
        state_of({"beard": None, "glasses": ["round glasses"]}),
        state_of({"beard": ["stubble"]}),
    ]
    found = session_overedits(taxonomy, intents(taxonomy, "round glasses", "red hair"), states)
    assert found.unknown_state
    assert (found.oer, found.oer_no_facial_hair) == (None, None)
    assert [step.overedits for step in found.steps] == [0, 1]
    assert found.steps[1].increments == (Increment("red hair", "None[glasses]"),)


def test_an_unknown_asked_sub_axis_is_not_a_miss(taxonomy, state_of):
    states = [state_of(), state_of({"hats": None})]
    (step,) = session_overedits(taxonomy, intents(taxonomy, "beanie hat"), states).steps
    assert (step.miss_in_axis, step.asked_seen) == ((), False)


HAT = {"hats": ["beanie hat"]}
HIDDEN = {**HAT, "hair color": [], "hair type": []}


def test_hair_never_seen_under_a_hat_is_nothing_to_compare_with(taxonomy, state_of):
    states = [state_of(HIDDEN), state_of({"glasses": ["round glasses"]})]
    asked = intents(taxonomy, "round glasses")
    carry = session_overedits(taxonomy, asked, states)
    assert carry.steps[0].increments == (Increment("round glasses", "None[hats]"),)
    assert carry.oer == 1.0
    count = session_overedits(taxonomy, asked, states, OvereditingRules(occlusion="count"))
    assert count.oer == 3.0


def test_hair_that_changes_while_a_hat_is_on_is_compared_with_what_was_last_seen(taxonomy, state_of):
    states = [state_of(), state_of(HIDDEN), state_of({**HAT, "hair color": ["red hair"]})]
    found = session_overedits(taxonomy, intents(taxonomy, "beanie hat", "round glasses"), states)
    assert [step.increments for step in found.steps] == [(), (Increment("round glasses", "red hair"),)]


def test_hair_asked_for_while_hidden_is_a_miss_and_no_overedit_when_it_shows(taxonomy, state_of):
    states = [state_of(), state_of(HIDDEN), state_of(HIDDEN), state_of({"hair color": ["red hair"]})]
    found = session_overedits(taxonomy, intents(taxonomy, "beanie hat", "red hair", "round glasses"), states)
    assert found.steps[1].miss_in_axis == ("None[hair color]",)
    assert found.steps[2].increments == (Increment("round glasses", "None[hats]"),)


def test_hair_that_vanishes_without_a_hat_counts(taxonomy, state_of):
    states = [state_of(), state_of({"hair type": []})]
    found = session_overedits(taxonomy, intents(taxonomy, "red hair"), states)
    assert found.steps[0].increments == (Increment("red hair", "None[hair type]"),)


def test_under_an_unknown_hat_hair_is_not_compared(taxonomy, state_of):
    states = [state_of(), state_of({**HIDDEN, "hats": None}), state_of({"hair color": ["red hair"]})]
    found = session_overedits(taxonomy, intents(taxonomy, "round glasses", "round glasses"), states)
    assert [step.overedits for step in found.steps] == [0, 0]


def test_resolve_starts_anew_after_a_change_and_after_the_sub_axis_was_asked(taxonomy, state_of):
    rules = OvereditingRules(rule="resolve")

    def colour(*names):
        return state_of({"hair color": list(names)})

    states = [
        colour("black hair"),
        colour("red hair"),
        colour("red hair", "brown hair"),
        colour("brown hair"),
    ]
    asked = intents(taxonomy, "round glasses", "red hair", "round glasses")
    found = session_overedits(taxonomy, asked, states, rules)
    # Black -> red counts; red is asked and gives {red, brown}; brown agrees with it.
    assert [step.overedits for step in found.steps] == [1, 0, 0]
    states = [colour("black hair"), colour("red hair"), colour("red hair")]
    again = session_overedits(taxonomy, intents(taxonomy, "round glasses", "beret hat"), states, rules)
    assert [step.overedits for step in again.steps] == [1, 0]


def test_shapes_that_do_not_fit_raise(taxonomy, state_of):
    with pytest.raises(MetricError, match="do not fit 1 steps of 1 sessions"):
        counted(taxonomy, intents(taxonomy, "red hair"), [state_of()])


@st.composite
def sessions(draw, taxonomy):
    """Four steps with ties, unknown features, hats that hide hair, and "keep"."""
    hidden = ("hair color", "hair type", "hair style")

    def state():
        held = {}
        for name, names in taxonomy.categories.items():
            seen = st.sets(st.sampled_from(names[:3]), max_size=2).map(lambda found: tuple(sorted(found)))
            held[name] = draw(st.one_of(st.just(()), seen, seen, st.none()) if name == "hats" else seen)
        if held["hats"] != () and draw(st.booleans()):
            held |= dict.fromkeys(hidden, ())
        if draw(st.integers(0, 9)) == 0:
            held[draw(st.sampled_from(taxonomy.sub_axes))] = None
        return held

    asked = draw(st.lists(st.sampled_from(sorted(taxonomy.sub_axis_of)), min_size=4, max_size=4))
    keeps = [draw(st.integers(0, 4)) == 0 for _ in asked]
    steps = [Intent(taxonomy.sub_axis_of[c], c, keep) for c, keep in zip(asked, keeps, strict=True)]
    return steps, [state() for _ in range(5)]


@settings(max_examples=150, deadline=None)
@given(data=st.data(), rule=st.sampled_from(RULES), occlusion=st.sampled_from(("carry", "count")))
def test_arrays_count_what_the_rules_say(taxonomy, data, rule, occlusion):
    asked, states = data.draw(sessions(taxonomy))
    rules = OvereditingRules(rule=rule, occlusion=occlusion)
    assert session_overedits(taxonomy, asked, states, rules) == oracle.session_overedits(
        taxonomy, asked, states, rules
    )


@pytest.mark.parametrize("fields", [{"rule": "newest"}, {"occlusion": "ignore"}])
def test_rules_that_do_not_exist_raise(fields):
    with pytest.raises(MetricError, match="no overediting rule"):
        OvereditingRules(**fields)


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_laws_of_the_rules(taxonomy, data):
    """Nothing in the asked sub-axis; "strict" counts most; one overedit needs at least one increment."""

    def state():
        return {
            name: tuple(sorted(data.draw(st.sets(st.sampled_from(held), max_size=2))))
            for name, held in taxonomy.categories.items()
        }

    states = [state() for _ in range(3)]
    asked = intents(taxonomy, *data.draw(st.lists(st.sampled_from(sorted(taxonomy.sub_axis_of)), **TWO)))
    totals = {}
    for rule in RULES:
        found = session_overedits(taxonomy, asked, states, OvereditingRules(rule=rule, occlusion="count"))
        totals[rule] = sum(step.overedits for step in found.steps)
        for step in found.steps:
            columns = [name for _, name in step.increments]
            own = {*taxonomy.categories[step.intent.sub_axis], f"None[{step.intent.sub_axis}]"}
            assert not own & set(columns)
            assert 0 <= step.overedits_no_facial_hair <= step.overedits <= min(7, len(columns))
            assert len(set(columns)) == len(columns)
    assert totals["disjoint"] <= totals["new"] <= totals["strict"]


TWO = {"min_size": 2, "max_size": 2}
