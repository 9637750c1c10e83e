"""A table of broken files: each is told by its line, and the rest of the file all the same."""

from __future__ import annotations

from importlib import resources

import pytest

from domain.file_findings import Finding
from domain.loading import load
from domain.session_lint import lint
from domain.taxonomy import Taxonomy

TAXONOMY = load(Taxonomy, "face-edit-attributes")
GOOD = """\
id: mine
version: 1
taxonomy: face-edit-attributes
source: by hand
sessions:
  - id: hair_001
    test_set: hair
    steps:
      - prompt: "Change the hair color to raven black hair."
        attribute: raven black hair
      - prompt: "Add a goatee."
        attribute: goatee
      - prompt: "Keep the goatee."
        attribute: goatee
        keep: true
      - prompt: "Replace the goatee with mutton chops."
        attribute: mutton chops
  - id: multi_axis_001
    test_set: multi_axis
    steps:
      - prompt: "Make them looking left."
        attribute: looking left
      - prompt: "Add round glasses."
        attribute: round glasses
      - prompt: "Add a bob cut."
        attribute: bob cut
      - prompt: "Add a wool hat."
        attribute: wool hat
"""
THIRD_SESSION = """\
  - id: hair_002
    test_set: hair
    steps:
"""
GOATEE = 'prompt: "Add a goatee."\n        attribute: goatee\n'


def linted(text: str, taxonomy: str = "") -> list[Finding]:
    return lint(
        text, lambda name: TAXONOMY if name == TAXONOMY.id else None, [TAXONOMY.id, "other"], taxonomy
    )


def changed(old: str, new: str) -> str:
    assert old in GOOD
    return GOOD.replace(old, new, 1)


def errors(found: list[Finding]) -> list[tuple[int, str]]:
    return [(one.line, one.code) for one in found if one.is_error]


def warnings(found: list[Finding]) -> list[tuple[int, str]]:
    return [(one.line, one.code) for one in found if not one.is_error]


def test_a_good_file_has_nothing_but_what_a_small_set_must_lack():
    found = linted(GOOD)
    assert errors(found) == []
    assert warnings(found) == [(5, "never_asked")]


def test_the_sessions_of_the_paper_have_no_errors_and_their_known_slips():
    file = resources.files("domain") / "definitions" / "sessions" / "face-edit-sessions.yaml"
    found = linted(file.read_text(encoding="utf-8"))
    assert errors(found) == []
    assert {one.code for one in found} == {
        "asked_again", "duplicate_prompt", "full_stops", "hidden", "keep_reworded", "never_asked", "one_axis",
        "unbalanced",
    }  # fmt: skip
    assert sum(one.code == "asked_again" for one in found) == 23
    [stops] = [one for one in found if one.code == "full_stops"]
    assert "40 of 140" in stops.message
    [never] = [one for one in found if one.code == "never_asked"]
    assert never.message.startswith("5 categories")


BAD: dict[str, tuple[str, list[tuple[int, str]], str]] = {
    "misspelt attribute": (
        changed("attribute: bob cut", "attribute: bob cutt"), [(26, "unknown_attribute")], "bob cut",
    ),
    "attribute from nowhere": (
        changed("attribute: bob cut", "attribute: xylophone"), [(26, "unknown_attribute")], "none is near",
    ),
    "a category for an attribute": (
        changed("attribute: raven black hair", "attribute: Red hair"),
        [(10, "unknown_attribute")], "'Red hair' is a category; name one of its attributes",
    ),
    "a sub-axis for an attribute": (
        changed("attribute: raven black hair", "attribute: hair color"),
        [(10, "unknown_attribute")], "'hair color' is a sub-axis; name one of its attributes",
    ),
    "unknown attribute and a prompt that is wrong besides": (
        changed('"Add a bob cut."\n        attribute: bob cut', '"Keep something. "\n        attribute: xyz'),
        [(25, "edge_spaces"), (25, "keep_flag"), (25, "not_named"), (26, "unknown_attribute")], "'Keep'",
    ),
    "an id that cannot be one": (changed("id: mine", "id: My Set!"), [(1, "bad_value")], "'id'"),
    "attribute not named": (
        changed("Add a bob cut.", "Add something short."), [(25, "not_named")], "bob cut",
    ),
    "a longer attribute is named": (
        changed("Add a wool hat.", "Add a winter beanie hat.").replace(": wool hat", ": beanie hat"),
        [(27, "names_other")], "'winter beanie hat', not for its attribute 'beanie hat'",
    ),
    "the last one named is another": (
        changed("Add a bob cut.", "Add a bob cut with round glasses."),
        [(25, "names_other")], "'round glasses'",
    ),
    "one that nobody asked for is replaced": (
        changed("Replace the goatee", "Replace the full beard"), [(16, "names_unasked")], "'full beard'",
    ),
    "an axis in the test set of another": (
        changed("Change the hair color to raven black hair.", "Add oval glasses.").replace(
            ": raven black hair", ": oval glasses"
        ),
        [(10, "wrong_test_set")], "accessories, multi_axis",
    ),
    "unknown test set": (changed("test_set: hair", "test_set: hairs"), [(7, "bad_value")], "'hairs'"),
    "two sessions of one id": (
        changed("id: multi_axis_001", "id: hair_001"), [(18, "duplicate_id")], "first in line 6",
    ),
    "the same prompt twice running": (
        changed("Keep the goatee.", "Add a goatee").replace("        keep: true\n", ""),
        [(13, "duplicate_prompt")], "step 2",
    ),
    "keep without Keep": (changed("Keep the goatee.", "Leave the goatee."), [(15, "keep_flag")], "not begin"),
    "Keep without keep": (
        changed("        keep: true\n", ""), [(13, "keep_flag")], "`keep` is not true",
    ),
    "keep of what nobody asked for": (
        changed(
            '"Keep the goatee."\n        attribute: goatee', '"Keep the mohawk."\n        attribute: mohawk'
        ),
        [(14, "keep_unasked")], "raven black hair, goatee",
    ),
    "keep with something else": (
        changed("Keep the goatee.", "Keep raven black hair on goatee."),
        [(13, "names_unasked")], "to be kept",
    ),
    "a session too short": (
        GOOD + THIRD_SESSION + "      - " + GOATEE, [(31, "step_count")], "1 steps, most have 4",
    ),
    "a character that is not seen": (
        changed("Add a bob cut.", "Add a\u200b bob cut."), [(25, "unprintable")], "U+200B",
    ),
    "a line break in a prompt": (
        changed('"Add a bob cut."', '"Add a\\nbob cut."'), [(25, "unprintable")], "U+000A",
    ),
    "a space at the end": (changed("Add a bob cut.", "Add a bob cut. "), [(25, "edge_spaces")], "space"),
    "a tab for spaces": (changed("    test_set: hair", "\ttest_set: hair"), [(7, "tab")], "tab"),
    "a tab in a comment": (changed("source: by hand", "source: by hand #\tme"), [(4, "tab")], "tab"),
    "an open bracket": (changed("version: 1", "version: [1"), [(3, "yaml")], "not valid YAML"),
    "an open quote": (changed('"Add a wool hat."', '"Add a wool hat.'), [(29, "yaml")], "not valid YAML"),
    "unknown field": (
        changed("keep: true", "kept: true"), [(13, "keep_flag"), (15, "unknown_field")], "keep",
    ),
    "unknown field of the set": (
        changed("version: 1", "version: 1\nauthor: me"), [(3, "unknown_field")], "source",
    ),
    "field twice": (changed("version: 1", "version: 1\nversion: 2"), [(3, "repeated_field")], "'version'"),
    "no version": (changed("version: 1\n", ""), [(1, "bad_value")], "'version'"),
    "empty prompt": (changed('"Add a bob cut."', '""'), [(25, "bad_value")], "prompt"),
    "a prompt that is a number": (changed('"Add a bob cut."', "12"), [(25, "bad_value")], "prompt"),
    "a session id with capitals": (changed("id: hair_001", "id: Hair_001"), [(6, "bad_value")], "id"),
    "no sessions": (GOOD.partition("sessions:")[0] + "sessions: []\n", [(5, "bad_value")], "sessions"),
    "unknown taxonomy": (
        changed("taxonomy: face-edit-attributes", "taxonomy: face-edit"),
        [(3, "unknown_taxonomy")], TAXONOMY.id,
    ),
    "a list": ("- a\n- b\n", [(1, "yaml")], "one mapping"),
    "nothing": ("", [(1, "yaml")], "one mapping"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "expected", "said"), BAD.values(), ids=list(BAD))
def test_a_bad_file_is_told_by_its_lines(text: str, expected: list[tuple[int, str]], said: str):
    found = linted(text)
    assert errors(found) == expected
    assert said in "\n".join(one.text("mine.yaml") for one in found if one.is_error)


def test_a_copied_session_is_found_and_reworded_ones_are_a_warning():
    copy = GOOD[GOOD.index("  - id: hair_001") : GOOD.index("  - id: multi")].replace("hair_001", "hair_002")
    assert errors(linted(GOOD + copy)) == [(29, "duplicate_session")]
    found = linted(GOOD + copy.replace("Add a goatee.", "Give them a goatee."))
    assert errors(found) == []
    assert (29, "same_attributes") in warnings(found)


ODD = {
    "without a full stop": (changed("Add a bob cut.", "Add a bob cut"), (25, "full_stops")),
    "two sentences": (changed("Add a bob cut.", "Look. Add a bob cut."), (25, "sentences")),
    "two edits": (changed("Add a bob cut.", "Smile and add a bob cut."), (25, "several_edits")),
    "very long": (changed("Add a bob cut.", f"Add a {'very ' * 25}bob cut."), (25, "long")),
    "hair under a hat": (
        GOOD + '      - prompt: "Add a mohawk."\n        attribute: mohawk\n', (30, "hidden"),
    ),
    "one axis only": (changed("test_set: hair", "test_set: multi_axis"), (7, "one_axis")),
    "the category is there": (
        changed("Replace the goatee with mutton chops.", "Add a soul patch.").replace(
            ": mutton chops", ": soul patch"
        ),
        (17, "asked_again"),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), ODD.values(), ids=list(ODD))
def test_what_is_odd_is_a_warning(text: str, expected: tuple[int, str]):
    assert expected in warnings(linted(text))


def test_every_problem_is_told_and_not_only_the_first():
    text = changed("attribute: bob cut", "attribute: bob cutt").replace("Keep the goatee.", "Keep them so.")
    text = text.replace("keep: true", "kept: true").replace("test_set: multi_axis", "test_set: many")
    assert errors(linted(text)) == [
        (13, "keep_flag"), (13, "not_named"), (15, "unknown_field"), (19, "bad_value"),
        (26, "unknown_attribute"),
    ]  # fmt: skip


def test_a_taxonomy_of_ones_own_is_taken_in_place_of_the_one_that_is_named():
    text = changed("taxonomy: face-edit-attributes", "taxonomy: gone")
    assert errors(linted(text)) == [(3, "unknown_taxonomy")]
    assert errors(linted(text, TAXONOMY.id)) == []


def test_a_line_says_where_how_bad_and_what_would_do():
    [error] = [one for one in linted(changed("attribute: bob cut", "attribute: bob cutt")) if one.is_error]
    assert error.text("a.yaml") == (
        "a.yaml:26: error: 'bob cutt' is none of the 169 attributes of 'face-edit-attributes' "
        "[unknown_attribute]; allowed or nearest: bob cut, lob cut, buzz cut"
    )


@pytest.mark.parametrize("text", ["a: &a [*a]\n", "&a {b: *a}\n", "[" * 300, "\x00", "a: 2026-13-45\n"])
def test_hostile_files_end_in_findings(text: str):
    assert errors(linted(text))
