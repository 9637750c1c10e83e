from __future__ import annotations

import pytest

from metrics.frames import MISSED_EDITS, OVEREDITS
from metrics.overedit_tables import missed_edits, overediting_matrix
from metrics.session_scores import ScoringRules, score_sessions

KEY = ("face-edit", "celeba", "m1")


@pytest.fixture
def tables(taxonomy, photos, steps, a_photo):
    """Both tables of rows of steps over photos p1 and p2 (p2 has curly hair and stubble)."""

    def run(rows, rules=None):
        bases = photos([a_photo(), a_photo({"hair type": ["curly hair"], "beard": ["stubble"]}, photo="p2")])
        arguments = steps(rows), bases, taxonomy, rules
        return overediting_matrix(*arguments), missed_edits(*arguments)

    return run


def rows_of(frame, **fields):
    return frame.filter(**fields).drop("suite", "dataset", "model").rows()


def test_counts_and_both_rates(tables, a_step):
    found, _ = tables(
        [
            a_step(1, "red hair", {"beard": ["stubble"]}),
            a_step(1, "red hair", {"beard": ["stubble"], "hair type": ["straight hair"]}, photo="p2"),
        ]
    )
    assert found.schema == OVEREDITS
    # Two prompts; only p1 could get stubble (p2 has it), and only p2 straight hair.
    assert rows_of(found, found="stubble") == [("red hair", "stubble", 1, 2, 0.5, 1, 1.0)]
    assert rows_of(found, found="straight hair") == [("red hair", "straight hair", 1, 2, 0.5, 1, 1.0)]
    assert rows_of(found, found="beret hat") == [("red hair", "beret hat", 0, 2, 0.0, 2, 0.0)]
    assert rows_of(found, found="None[beard]") == [("red hair", "None[beard]", 0, 2, 0.0, 2, 0.0)]
    # Nobody wears a hat, so none can vanish.
    assert rows_of(found, found="None[hats]") == [("red hair", "None[hats]", 0, 2, 0.0, 0, None)]


def test_one_row_per_defined_cell_in_the_taxonomys_order(tables, a_step, taxonomy):
    found, _ = tables([a_step(1, "round glasses"), a_step(2, "red hair")])
    # 35 categories + 8 None columns, without the asked sub-axis: 43 - 10 (colour), 43 - 3 (glasses).
    assert found["intended"].to_list() == ["red hair"] * 33 + ["round glasses"] * 40
    assert found["found"][0] == "straight hair"
    assert not found.filter(found="black hair", intended="red hair").height
    assert found.filter(found="None[glasses]")["intended"].to_list() == ["red hair"]


def test_the_matrix_and_the_sessions_agree(tables, taxonomy, photos, steps, a_step, a_photo):
    rows = [
        a_step(1, "red hair", {"beard": ["stubble"], "hats": ["beret hat"]}),
        a_step(2, "round glasses", {"hair color": ["red hair"]}),
    ]
    found, _ = tables(rows)
    oer = score_sessions(steps(rows), photos([a_photo()]), taxonomy)["oer"][0]
    # Stubble and a beret at 1; both vanish at 2 (clean shaven again): 4 overedits in 2 steps.
    assert found["count"].sum() == 4 == oer * 2


def test_only_sessions_with_an_oer_count(tables, a_step, not_run):
    stopped = [
        a_step(1, "red hair", {"beard": ["stubble"]}),
        a_step(2, **not_run),
    ]
    unknown = [a_step(1, "red hair", {"beard": ["stubble"], "hats": None})]
    for rows in (stopped, unknown, []):
        matrix, missed = tables(rows)
        assert (matrix.height, missed.height) == (0, 0)
    assert (matrix.schema, missed.schema) == (OVEREDITS, MISSED_EDITS)


def test_hair_never_seen_under_a_hat_is_eligible_for_nothing(
    tables, a_step, photos, steps, a_photo, taxonomy
):
    hidden = {"hats": ["beanie hat"], "hair color": [], "hair type": []}
    arguments = steps([a_step(1, state=hidden)]), photos([a_photo(hidden)]), taxonomy
    found = overediting_matrix(*arguments)
    assert found.filter(found="red hair")["eligible"].to_list() == [0]
    assert found.filter(found="None[hair color]")["eligible"].to_list() == [0]
    counted = overediting_matrix(*arguments, ScoringRules(occlusion="count"))
    assert counted.filter(found="red hair")["eligible"].to_list() == [1]


@pytest.mark.parametrize(("rule", "count", "eligible"), [("new", 0, 0), ("strict", 1, 1)])
def test_a_tie_that_resolves(taxonomy, photos, steps, a_photo, a_step, rule, count, eligible):
    base = a_photo({"hair color": ["black hair", "brown hair"]})
    rows = steps([a_step(1, state={"hair color": ["brown hair"]})])
    found = overediting_matrix(rows, photos([base]), taxonomy, ScoringRules(rule=rule))
    assert rows_of(found, found="brown hair")[0][2::3] == (count, eligible)
    assert rows_of(found, found="straight hair")[0][2::3] == (0, 0)


def test_missed_edits(tables, a_step):
    _, found = tables(
        [
            a_step(1, "red hair", {"hair color": ["blue hair"]}),
            a_step(1, "red hair", {"hair type": ["curly hair"], "beard": ["stubble"]}, photo="p2"),
            a_step(2, "red hair", {"hair color": ["orange hair", "pink hair"]}),
            a_step(3, "beanie hat", {"hats": []}),
            a_step(4, "beret hat", {"hats": []}, keep=True),
        ]
    )
    assert found.schema == MISSED_EDITS
    assert rows_of(found, found="blue hair") == [("red hair", "blue hair", 1, 3, 1 / 3)]
    assert rows_of(found, found="orange hair") == [("red hair", "orange hair", 1, 3, 1 / 3)]
    assert rows_of(found, found="None[hats]") == [("beanie hat", "None[hats]", 1, 1, 1.0)]
    # 9 colours and None without red itself; 6 hats and None without the beanie; keeps ask for no change.
    assert found["intended"].to_list() == ["red hair"] * 9 + ["beanie hat"] * 6
    assert "red hair" not in found["found"].to_list()
