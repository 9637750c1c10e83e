"""The local step checker passes edits that were made and fails the others, by looking at the pictures."""

from __future__ import annotations

import json
import random
from typing import Any

import cv2
import numpy as np
import pytest
from scenes import Scenes, any_prompt, photo, png, truth

from adapters.imaging.decode import decode_rgb
from adapters.imaging.face_models import FaceModels
from adapters.imaging.scene_finding import find_things
from adapters.imaging.scene_prompts import ITEMS
from adapters.judges.local_steps import LocalStepChecker
from domain.edits import Edited
from domain.errors import PhotoError
from domain.judging import Checklist, parse_checklist

MUG = "Add a blue mug at the bottom left"
MOVE = "Move the blue mug to the bottom"
SWAP = "Replace the blue mug with a green book"
SIGN = 'Put a white sign with black letters saying "OPEN" at the bottom left'
REWRITE = 'Change the words on the sign to "CLOSED" in white letters on a blue sign'
SHIRT = "Change the colour of the shirt to red"
HAIR = "Change the hair colour to blue"
DRIFT = 0.035


@pytest.fixture(scope="module")
def scenes(face_models: FaceModels) -> Scenes:
    return Scenes(face_models)


@pytest.fixture(scope="module")
def checker(face_models: FaceModels) -> LocalStepChecker:
    return LocalStepChecker(face_models)


@pytest.fixture(scope="module")
def clean() -> bytes:
    return photo("group-three", 0.5)


@pytest.fixture(scope="module", params=["clean", "drifted"])
def start(request: pytest.FixtureRequest, scenes: Scenes, clean: bytes) -> bytes:
    """A photo as it is, and one whose faces have drifted over three edits."""
    if request.param == "clean":
        return clean
    return scenes.edit(clean, SHIRT, "Add a white lamp at the top right", "Remove the lamp", face_drift=DRIFT)


def check(checker: LocalStepChecker, before: bytes, after: bytes, prompt: str) -> Checklist:
    return parse_checklist(json.dumps(checker.check(before, after, prompt)))


EARLIER: dict[str, tuple[str, ...]] = {
    MUG: (), SHIRT: (), HAIR: (), SIGN: (), MOVE: (MUG,), SWAP: (MUG,), "Remove the mug": (MUG,),
    "Make the mug red": (MUG,), REWRITE: (SIGN,), "Move the sign to the bottom": (SIGN,),
}  # fmt: skip
"""Prompts with what must be there before."""


@pytest.mark.parametrize("prompt", EARLIER)
def test_a_made_edit_passes_and_none_fails(
    scenes: Scenes, checker: LocalStepChecker, start: bytes, prompt: str
):
    asked = prompt.replace("red", "green") if prompt == SHIRT else prompt
    before = scenes.edit(start, *EARLIER[prompt], face_drift=DRIFT)
    after = scenes.edit(before, asked, face_drift=DRIFT)
    seen = check(checker, before, after, asked)
    assert seen.made, seen
    assert (seen.wrong_details, seen.major_unrequested_changes) == (0, ())
    untouched = check(checker, before, before, asked)
    assert not untouched.made
    assert not untouched.right_item_changed
    assert untouched.framing_kept
    assert untouched.major_unrequested_changes == ()


@pytest.mark.parametrize(
    ("asked", "done"),
    [
        (MUG, "Add a red mug at the bottom left"),
        (SHIRT, "Change the colour of the shirt to green"),
        (HAIR, "Change the hair colour to red"),
        (SWAP, "Replace the blue mug with a red book"),
        (SWAP, "Replace the blue mug with a green vase"),
        ("Make the mug red", "Make the mug yellow"),
        (SIGN, SIGN.replace("OPEN", "OVEN")),
        (SIGN, SIGN.replace("black", "red")),
        (REWRITE, REWRITE.replace("blue", "green")),
    ],
)
def test_one_wrong_detail_is_counted_and_forgiven(
    scenes: Scenes, checker: LocalStepChecker, clean: bytes, asked: str, done: str
):
    before = scenes.edit(clean, *EARLIER[asked])
    seen = check(checker, before, scenes.edit(before, done), asked)
    assert (seen.wrong_details, seen.details_right, seen.made) == (1, False, True)


@pytest.mark.parametrize(
    ("asked", "done", "wrong"),
    [
        (SWAP, "Replace the blue mug with a red vase", 2),
        (SIGN, SIGN.replace("OPEN", "OVEN").replace("white", "pink"), 2),
        (REWRITE, 'Change the sign to "NO" in red letters on green', 3),
    ],
)
def test_more_of_them_are_not(
    scenes: Scenes, checker: LocalStepChecker, clean: bytes, asked: str, done: str, wrong: int
):
    before = scenes.edit(clean, *EARLIER[asked])
    seen = check(checker, before, scenes.edit(before, done), asked)
    assert (seen.wrong_details, seen.made) == (wrong, False)


@pytest.mark.parametrize(
    ("asked", "done"), [(MUG, "Add a blue mug at the top right"), (MOVE, "Move the mug to the bottom right")]
)
def test_another_place_is_a_wrong_place(
    scenes: Scenes, checker: LocalStepChecker, clean: bytes, asked: str, done: str
):
    before = scenes.edit(clean, *EARLIER[asked])
    seen = check(checker, before, scenes.edit(before, done), asked)
    assert (seen.right_item_changed, seen.right_place, seen.made) == (True, False, False)


def test_an_old_place_that_is_not_empty_fails(scenes: Scenes, checker: LocalStepChecker, clean: bytes):
    before = scenes.edit(clean, MUG)
    copied = scenes.edit(before, "Add a blue mug at the bottom")
    seen = check(checker, before, copied, MOVE)
    assert (seen.right_place, seen.old_place_empty, seen.made) == (True, False, False)
    half = decode_rgb(scenes.edit(before, MOVE)).copy()
    (mug,) = find_things(decode_rgb(before))
    x0, y0, x1, y1 = mug.box
    half[y0:y1, x0 : (x0 + x1) // 2] = decode_rgb(before)[y0:y1, x0 : (x0 + x1) // 2]
    seen = check(checker, before, png(half), MOVE)
    assert (seen.old_place_empty, seen.made) == (False, False)


def test_something_else_is_a_large_change(scenes: Scenes, checker: LocalStepChecker, clean: bytes):
    asked = scenes.edit(clean, MUG)
    for other, words in (
        ("Add a red ball at the bottom right", "a red ball appeared at the bottom right"),
        ("Change the colour of the shirt to green", "something else changed"),
        ("Change the hair colour to red", ""),
    ):
        seen = check(checker, clean, scenes.edit(asked, other), MUG)
        if words:
            assert words in " ".join(seen.major_unrequested_changes)
            assert not seen.made
        else:  # the hair is inside the boxes around heads, where nobody looks
            assert seen.made
    before = scenes.edit(asked, "Add a red ball at the bottom right")
    gone = check(checker, before, scenes.edit(before, "Remove the ball", MOVE), MOVE)
    assert gone.major_unrequested_changes == ("a red ball vanished from the bottom right",)
    signed = scenes.edit(clean, SIGN)
    other_words = 'Change the sign to "CLOSED" in black letters on white'
    rewritten = scenes.edit(signed, other_words, SHIRT)
    assert "the sign was rewritten" in check(checker, signed, rewritten, SHIRT).major_unrequested_changes


def test_an_untouched_photo_with_other_clothes_is_the_wrong_item(
    scenes: Scenes, checker: LocalStepChecker, clean: bytes
):
    seen = check(checker, clean, scenes.edit(clean, SHIRT), MUG)
    assert (seen.prompt_applies, seen.right_item_changed, seen.made) == (True, False, False)
    assert seen.major_unrequested_changes


def zoomed(rgb: np.ndarray, by: float) -> np.ndarray:
    height, width = rgb.shape[:2]
    y, x = round(height * by / 2), round(width * by / 2)
    inner = rgb[y : height - y, x : width - x]
    return np.asarray(cv2.resize(inner, (width, height), interpolation=cv2.INTER_AREA))


@pytest.mark.parametrize("name", ["astronaut", "group-three", "group-right"])
def test_another_framing_fails(scenes: Scenes, checker: LocalStepChecker, name: str):
    before = photo(name, 0.5)
    made = decode_rgb(scenes.edit(before, "Add a blue mug at the bottom right"))
    height, width = made.shape[:2]
    others = {
        "mirrored": made[:, ::-1],
        "shifted": np.roll(made, width // 20, 1),
        "zoomed": zoomed(made, 0.12),
        "cropped": made[height // 16 :],
        "turned": made[::-1, ::-1],
    }
    for what, rgb in others.items():
        seen = check(checker, before, png(rgb), "Add a blue mug at the bottom right")
        assert not seen.framing_kept, what
        assert not seen.made
    assert check(checker, before, png(made), "Add a blue mug at the bottom right").framing_kept


def test_another_size_of_the_same_shape_is_no_other_framing(
    scenes: Scenes, checker: LocalStepChecker, clean: bytes
):
    made = decode_rgb(scenes.edit(clean, MUG))
    double = png(cv2.resize(made, None, fx=2, fy=2, interpolation=cv2.INTER_CUBIC))
    assert check(checker, clean, double, MUG).made


def test_a_prompt_that_does_not_apply(scenes: Scenes, checker: LocalStepChecker, clean: bytes):
    for prompt in (MOVE, "Make it nicer"):
        seen = check(checker, clean, scenes.edit(clean, MUG), prompt)
        assert (seen.prompt_applies, seen.made) == (False, False)


def test_an_image_that_does_not_decode_is_an_error(checker: LocalStepChecker, clean: bytes):
    with pytest.raises(PhotoError):
        checker.check(clean, b"<html>", MUG)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_it_agrees_with_what_the_editor_did(scenes: Scenes, checker: LocalStepChecker):
    rng, seen, disagreed = random.Random(5), 0, list[Any]()
    for chain in range(20):
        for name in ("astronaut", "group-left", "group-four"):
            image, drift = photo(name, 0.5), rng.choice((0.0, 0.01, DRIFT))
            for step in range(5):
                there = [f"{t.colour} {t.kind}" for t in find_things(decode_rgb(image)) if t.kind in ITEMS]
                prompt = any_prompt(rng, there)
                outcome = scenes.ask(image, prompt, seed=chain, miss_rate=0.25, face_drift=drift)
                if not isinstance(outcome, Edited):
                    continue
                answer = check(checker, image, outcome.image, prompt)
                seen += 1
                if answer.made != truth(outcome)["made"]:
                    disagreed.append((name, step, prompt, answer))
                image = outcome.image
    assert seen > 200
    assert len(disagreed) <= 0.03 * seen, disagreed
