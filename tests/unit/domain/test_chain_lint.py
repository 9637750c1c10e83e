"""A table of broken files: each is told by its line and code, and the rest of the file all the same."""

from __future__ import annotations

import pytest

from domain.chain_lint import lint_chains, median_words
from domain.chains import ChainSet
from domain.file_findings import Finding
from domain.loading import parse

GOOD = """\
id: mine
version: 1
source: by hand
chains:
  - photo: market-1
    edit_target: mixed
    people: 2
    face_size: medium
    photo_shape: landscape
    view: half
    prompts:
      - Change the man's jacket to green.
      - Add a blue mug on the table at the left.
      - Move the basket to the right edge of the counter.
      - Replace the apple with a yellow pear.
      - Change the words on the blue sign to "FRESH FISH" in white letters.
  - photo: bench-2
    edit_target: clothing
    people: "1"
    face_size: small
    photo_shape: portrait
    view: full
    prompts:
      - Dye the woman's hair red.
      - Change the coat from black to red and white striped.
      - Replace the boots with brown shoes.
      - Remove the scarf.
      - Give the woman a pink hat.
"""
PHOTOS = {
    "market-1": {"people": "2", "face_size": "medium", "photo_shape": "landscape"},
    "bench-2": {"people": "1", "face_size": "small", "photo_shape": "portrait", "view": "full"},
}
DRAFTED = {chain.photo: chain.prompts for chain in parse(GOOD, ChainSet, "").chains}


def changed(old: str, new: str) -> str:
    assert old in GOOD
    return GOOD.replace(old, new, 1)


def errors(found: list[Finding]) -> list[tuple[int, str]]:
    return [(one.line, one.code) for one in found if one.is_error]


def warnings(found: list[Finding]) -> list[tuple[int, str]]:
    return [(one.line, one.code) for one in found if not one.is_error]


def test_a_good_file_has_no_findings():
    assert lint_chains(GOOD, name="mine", photos=PHOTOS, drafted=DRAFTED) == []
    assert median_words(GOOD) == 6.5


J = "Change the man's jacket to green."
M = "Add a blue mug on the table at the left."
B = "Move the basket to the right edge of the counter."
A = "Replace the apple with a yellow pear."
S = """Change the words on the blue sign to "FRESH FISH" in white letters."""
BAD: dict[str, tuple[str, list[tuple[int, str]]]] = {
    "a word too many": (
        changed(J, "Change the jacket of the man who stands at the left of the market to green."),
        [(12, "too_long")],
    ),
    "eyes": (changed(J, "Change the man's eyes to green."), [(12, "face_word")]),
    "a smile": (changed(J, "Make the man's smile red."), [(12, "face_word")]),
    "skin": (changed(J, "Make the man's skin brown."), [(12, "face_word")]),
    "make-up": (changed(M, "Add red lipstick on the woman."), [(13, "face_word")]),
    "the head itself": (changed(B, "Move the man's head to the right."), [(14, "face_word")]),
    "a part with a hyphen": (changed(M, "Add a blue-eyed doll on the table."), [(13, "face_word")]),
    "keep the face": (
        changed(J, "Change the jacket to green, keep the same face."),
        [(12, "face_word"), (12, "keep_phrase")],
    ),
    "keep the person": (
        changed(J, "Change the jacket to green without changing the man."), [(12, "keep_phrase")],
    ),
    "nothing else": (changed(M, "Add a blue mug on the table, nothing else."), [(13, "keep_phrase")]),
    "do not change": (changed(A, "Do not change the man."), [(15, "keep_phrase")]),
    "hair twice": (
        changed("Remove the scarf.", "Change the hair to black."), [(27, "hair_twice")],
    ),
    "hair, not its colour": (
        changed("Dye the woman's hair red.", "Replace the woman's ponytail with a bun."),
        [(24, "hair_not_colour")],
    ),
    "added nowhere": (changed(M, "Add a blue mug."), [(13, "no_place")]),
    "moved nowhere": (changed(B, "Move the basket."), [(14, "no_place")]),
    "no quotation marks": (
        changed('"FRESH FISH"', "FRESH FISH"), [(16, "no_quotes")],
    ),
    "letters of no colour": (
        changed(S, 'Change the words on the blue sign to "FRESH FISH".'), [(16, "no_letter_colour")],
    ),
    "a sign of no colour": (
        changed(S, 'Change the words on the sign to "FRESH FISH" in white letters.'),
        [(16, "no_sign_colour")],
    ),
    "an added sign without its colours": (
        changed(M, 'Add a sign that says "SALE" on the table.'),
        [(13, "no_letter_colour"), (13, "no_sign_colour"), (16, "duplicate_target")],
    ),
    "one target twice": (changed(B, "Change the man's jacket to red."), [(14, "duplicate_target")]),
    "what was added is edited": (changed(B, "Change the mug to red."), [(14, "duplicate_target")]),
    "what came as a replacement is edited": (
        changed(A, "Replace the jacket with a green coat."), [(15, "duplicate_target")],
    ),
    "another kind": (changed(A, "Replace the apple with a red chair."), [(15, "other_kind")]),
    "clothes for a thing": (changed(A, "Replace the apple with a red hat."), [(15, "other_kind")]),
    "a person": (changed(A, "Remove the woman from the market."), [(15, "edits_person")]),
    "four prompts": (changed(f"      - {A}\n", ""), [(11, "prompt_count")]),
    "six prompts": (changed(f"- {A}\n", f"- {A}\n      - Remove the lamp.\n"), [(11, "prompt_count")]),
    "another target": (changed("edit_target: clothing", "edit_target: objects"), [(18, "edit_target")]),
    "not mixed": (changed("edit_target: clothing", "edit_target: mixed"), [(18, "edit_target")]),
    "a target from nowhere": (changed("edit_target: mixed", "edit_target: hats"), [(6, "bad_value")]),
    "too many people": (changed("people: 2", "people: 5"), [(7, "bad_value")]),
    "a size from nowhere": (changed("face_size: medium", "face_size: big"), [(8, "bad_value")]),
    "no view": (changed("    view: half\n", ""), [(5, "bad_value")]),
    "view not given": (changed("view: half", "view:"), [(10, "bad_value")]),
    "an unknown field": (changed("view: half", "view: half\n    vieww: half"), [(11, "unknown_field")]),
    "a field twice": (changed("view: half", "view: half\n    view: full"), [(11, "repeated_field")]),
    "a photo twice": (changed("bench-2", "market-1"), [(17, "duplicate_photo")]),
    "a photo id that cannot be one": (changed("bench-2", "Bench 2"), [(17, "bad_value")]),
    "another id than the file's": (changed("id: mine", "id: yours"), [(1, "wrong_name")]),
    "an id that cannot be one": (changed("id: mine", "id: My Set"), [(1, "bad_value"), (1, "wrong_name")]),
    "a later version under the first id": (changed("version: 1", "version: 2"), [(2, "version")]),
    "no version": (changed("version: 1\n", ""), [(1, "bad_value")]),
    "a prompt that is a number": (changed(J, "7"), [(12, "bad_value")]),
    "an empty prompt": (changed(J, '""'), [(12, "bad_value")]),
    "a prompt with a space at its end": (changed(J, '"Change the jacket to green. "'), [(12, "edge_spaces")]),
    "a tab": (changed("    view: half", "\tview: half"), [(10, "tab")]),
    "no YAML": (changed("id: mine", "id: [mine"), [(2, "yaml")]),
    "not a mapping": ("- a\n- b\n", [(1, "yaml")]),
    "nothing": ("", [(1, "yaml")]),
    "no chains": ("id: mine\nversion: 1\nsource: me\nchains: []\n", [(4, "bad_value")]),
    "chains that are none": ("id: mine\nversion: 1\nsource: me\nchains: 3\n", [(4, "bad_value")]),
}  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), BAD.values(), ids=BAD)
def test_a_bad_file_is_told_by_line_and_code(text: str, expected: list[tuple[int, str]]):
    assert errors(lint_chains(text, name="mine")) == expected


def test_there_are_bad_files_enough():
    assert len(BAD) >= 30


ODD: dict[str, tuple[str, list[tuple[int, str]]]] = {
    "not readable": (changed(B, "Open the basket."), [(14, "not_understood")]),
    "a colour that is not basic": (changed(J, "Change the man's jacket to teal."), [(12, "odd_colour")]),
    "blonde is for hair": (changed(J, "Change the man's jacket to blonde."), [(12, "odd_colour")]),
    "glasses": (changed(M, "Add sunglasses on the man."), [(13, "on_the_face")]),
    "a place that an earlier step made": (
        changed(B, "Move the basket to the left of the mug."), [(14, "relies_on_earlier")],
    ),
    "a place told by what was moved": (
        changed(A, "Add a yellow pear behind the basket."), [(15, "relies_on_earlier")],
    ),
    "it": (changed(B, "Move the basket next to it."), [(14, "points_back")]),
    "one of several": (changed(A, "Remove one of the apples."), [(15, "not_unique")]),
    "two of a kind, told apart": (
        changed(B, "Change the woman's jacket to red."), [(14, "duplicate_target")],
    ),
    "a kind in no list": (changed(A, "Replace the gizmo with a yellow pear."), [(15, "kind_undecided")]),
    "two edits": (
        changed(A, "Remove the apple and the pear."), [(15, "not_understood"), (15, "several_edits")],
    ),
    "two sentences": (
        changed(A, "Remove the apple. It is old."),
        [(15, "not_understood"), (15, "points_back"), (15, "sentences")],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), ODD.values(), ids=ODD)
def test_an_odd_file_is_warned_of(text: str, expected: list[tuple[int, str]]):
    found = lint_chains(text, name="mine")
    assert errors(found) == []
    assert sorted(warnings(found)) == sorted(expected)


FINE = [
    "Add a red hat on the man's head.",
    "Add two glasses of water on the table.",
    "Put a wine glass on the table.",
    "Add a peach on the plate.",
    "Remove the orange.",
    "Change the red shirt to a blue one.",
    "Move the lamp to the other side of the table.",
    "Add earrings on the woman.",
    'Add a white sign that says "KEEP SMILING" in red letters on the wall.',
    "Make the shirt black, red and white striped.",
    "Replace the coffee cup with a tea cup.",
]


@pytest.mark.parametrize("prompt", FINE)
def test_what_only_looks_wrong_passes(prompt: str):
    quoted = prompt if '"' not in prompt else f"'{prompt}'"
    text = changed(B, quoted).replace(f"- {S}", "- Remove the towel.").replace("mug", "map")
    codes = {one.code for one in lint_chains(text, name="mine")}
    assert codes <= {"edit_target"}


def test_chains_are_held_against_the_photos():
    photos = {**PHOTOS, "stairs-3": {}, "bench-2": {**PHOTOS["bench-2"], "view": "half", "people": "3"}}
    found = lint_chains(changed("market-1", "market-7"), photos=photos)
    assert errors(found) == [(5, "unknown_photo"), (19, "differs"), (22, "differs")]
    assert warnings(found) == [(4, "no_chain")]
    [unknown] = [one for one in found if one.code == "unknown_photo"]
    assert unknown.allowed == ("market-1",)
    [missing] = [one for one in found if one.code == "no_chain"]
    assert "market-1, stairs-3" in missing.message


def test_other_prompts_than_the_stored_ones_want_a_version_of_their_own():
    [found] = lint_chains(changed("pink hat", "black hat"), drafted=DRAFTED)
    assert (found.line, found.code, found.is_error) == (1, "changed", False)
    assert "bench-2" in found.message
    assert "mine-v2" in found.message


def test_a_packaged_id_is_taken_and_a_later_version_is_not():
    assert errors(lint_chains(GOOD, taken=("mine",))) == [(1, "taken")]
    later = changed("id: mine\nversion: 1", "id: mine-v2\nversion: 2")
    assert lint_chains(later, name="mine-v2", taken=("mine",)) == []


def test_a_set_may_declare_another_length():
    short = "\n".join(line for line in GOOD.splitlines() if "apple" not in line and "pink" not in line)
    assert [code for _, code in errors(lint_chains(short))] == ["prompt_count"] * 2
    assert lint_chains(short.replace("source:", "steps: 4\nsource:")) == []


def test_equal_prompts_for_two_photos_are_worth_a_look():
    first, second = GOOD.index("      - Change the man's"), GOOD.index("  - photo: bench-2")
    prompts, tail = GOOD[first:second], GOOD.index("      - Dye")
    text = (GOOD[:tail] + prompts).replace("edit_target: clothing", "edit_target: mixed")
    assert warnings(lint_chains(text)) == [(23, "same_prompts")]


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        (
            changed("edit_target: clothing", "edit_targt: clothing"), 18,
            "unknown field (field 'edit_targt' of photo 'bench-2'); did you mean edit_target?",
        ),
        (
            changed("edit_target: clothing", "colour: red"), 18,
            "unknown field (field 'colour' of photo 'bench-2')",
        ),
        (
            changed("face_size: small", "face_size: tiny"), 20,
            "'tiny' is not a choice here (field 'face_size' of photo 'bench-2')",
        ),
        (
            changed("source: by hand", "sourc: by hand"), 3,
            "unknown field (field 'sourc'); did you mean source?",
        ),
    ],
)  # fmt: skip
def test_a_field_is_named_by_its_photo_and_a_slip_is_told_once(text: str, line: int, said: str) -> None:
    found = [one for one in lint_chains(text) if one.is_error]
    assert (line, said) in {(one.line, one.message) for one in found}
    assert len(found) == (2 if "colour" in said else 1), "a field that nobody meant leaves another missing"
