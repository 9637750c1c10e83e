"""The scene editor makes the edits that it says it makes, and loses the likeness that its card says."""

from __future__ import annotations

import numpy as np
import pytest
from pydantic import ValidationError
from scenes import PHOTOS, Scenes, photo, png, truth

from adapters.editors.scene import SceneSettings
from adapters.imaging.decode import decode_rgb
from adapters.imaging.face_models import FaceModels
from adapters.imaging.scene_cloth import body_below, chest_colour, colour_name
from adapters.imaging.scene_finding import find_things, has_words
from adapters.imaging.scene_places import is_at
from adapters.imaging.scene_prompts import COLOURS
from domain.chains import ChainSet
from domain.edits import Edited, EditOutcome, NoImage, Refused
from domain.loading import load
from domain.model_cards import ModelCard

DRIFTING = ("scene-steady", "scene-mild", "scene-medium", "scene-strong")
FIVE = (
    "Add a blue mug at the bottom left",
    "Change the colour of the shirt to green",
    "Move the blue mug to the bottom",
    "Replace the blue mug with a red vase",
    "Remove the red vase",
)


@pytest.fixture(scope="module")
def scenes(face_models: FaceModels) -> Scenes:
    return Scenes(face_models)


@pytest.fixture(scope="module")
def half() -> bytes:
    return photo("group-three", 0.5)


def reason(outcome: EditOutcome) -> str:
    assert isinstance(outcome, NoImage), outcome
    return outcome.reason.split(":")[0]


def things(image: bytes) -> list[tuple[str, str]]:
    return [(thing.kind, thing.colour) for thing in find_things(decode_rgb(image))]


def test_the_same_request_gives_the_same_bytes_and_any_part_of_it_matters(scenes: Scenes, half: bytes):
    def edited(prompt: str = FIVE[0], seed: int | None = 7, attempt: int = 1) -> bytes:
        outcome = scenes.ask(half, prompt, seed, attempt, face_drift=0.02)
        assert isinstance(outcome, Edited)
        return outcome.image

    first = edited()
    assert edited() == first
    assert first not in (edited(seed=8), edited(seed=None), edited(attempt=2), edited(FIVE[0] + "."))


def test_five_edits_one_after_the_other(scenes: Scenes, half: bytes):
    image = scenes.edit(half, FIVE[0])
    (mug,) = find_things(decode_rgb(image))
    assert (mug.kind, mug.colour) == ("mug", "blue")
    assert is_at("bottom left", mug.centre, decode_rgb(image).shape)
    image = scenes.edit(image, FIVE[1], FIVE[2])
    (moved,) = find_things(decode_rgb(image))
    assert (moved.kind, moved.colour, moved.cell) == (mug.kind, mug.colour, mug.cell)
    assert is_at("bottom", moved.centre, decode_rgb(image).shape)
    image = scenes.edit(image, FIVE[3])
    (vase,) = find_things(decode_rgb(image))
    assert (vase.kind, vase.colour, vase.centre) == ("vase", "red", moved.centre)
    assert things(scenes.edit(image, FIVE[4])) == []


def test_a_sign_is_written_and_rewritten(scenes: Scenes, half: bytes):
    image = scenes.edit(half, 'Add a white sign with black letters saying "OPEN" at the bottom left')
    again = scenes.edit(image, 'Change the sign to "CLOSED" in yellow letters on blue')
    expected = (image, "white", "black", "OPEN"), (again, "blue", "yellow", "CLOSED")
    for data, board, letters, words in expected:
        (sign,) = find_things(decode_rgb(data))
        assert (sign.colour, sign.letters) == (board, letters)
        assert has_words(decode_rgb(data), sign, words)


def test_an_item_gets_another_colour_where_it_is(scenes: Scenes, half: bytes):
    image = scenes.edit(half, FIVE[0])
    other = scenes.edit(image, "Make the mug orange")
    (before,), (after,) = (find_things(decode_rgb(data)) for data in (image, other))
    assert (after.colour, after.box) == ("orange", before.box)


@pytest.mark.parametrize("name", ["astronaut", "group-middle"])
def test_clothes_get_each_colour_and_no_face_is_touched(scenes: Scenes, face_models: FaceModels, name: str):
    before = decode_rgb(photo(name, 0.5))
    faces = face_models.find(before)
    body = body_below(before.shape, faces, [])
    assert body is not None
    for colour in COLOURS:
        after = decode_rgb(scenes.edit(photo(name, 0.5), f"Change the colour of the shirt to {colour}"))
        assert colour_name(chest_colour(after, body)) == colour
        for face in faces:
            x0, y0, x1, y1 = (int(value) for value in face.box)
            inner = slice(y0, y1), slice(x0 + (x1 - x0) // 5, x1 - (x1 - x0) // 5)
            assert np.array_equal(after[inner], before[inner])


def test_clothes_keep_their_light_and_shade_and_drawn_things_their_colour(
    scenes: Scenes, face_models: FaceModels
):
    image = scenes.edit(photo("astronaut", 0.5), "Add a red ball at the bottom")
    after = scenes.edit(image, "Make the spacesuit blue")
    assert things(after) == [("ball", "red")]
    one, other = decode_rgb(image), decode_rgb(after)
    body = body_below(one.shape, face_models.find(one), find_things(one))
    assert body is not None
    grey = [rgb[body.chest].astype(float).mean(-1) for rgb in (one, other)]
    assert np.corrcoef(*grey)[0, 1] > 0.8


@pytest.mark.parametrize(
    ("prompt", "code"),
    [
        ("Make it nicer", "not_understood"),
        ('Put a white sign with black letters saying "OPEN" at the left', "no_room"),
    ],
)
def test_what_it_cannot_do_is_no_image(scenes: Scenes, prompt: str, code: str):
    assert reason(scenes.ask(photo("group-middle", 0.5), prompt)) == code


def test_an_image_without_a_face_or_without_a_chest_is_no_image(scenes: Scenes, face_models: FaceModels):
    assert reason(scenes.ask(png(np.full((200, 200, 3), 90, np.uint8)), FIVE[0])) == "no_face"
    assert reason(scenes.ask(b"\xff\xd8 broken", FIVE[0])) == "unreadable_image"
    rgb = decode_rgb(photo("astronaut", 0.5))
    chin = int(face_models.find(rgb)[0].box[3])
    assert reason(scenes.ask(png(rgb[: chin + 10]), FIVE[1])) == "no_clothing"


def test_what_is_not_there_is_left_alone_and_said(scenes: Scenes, half: bytes):
    outcome = scenes.ask(half, "Remove the blue mug")
    assert (truth(outcome)["made"], truth(outcome)["why"]) == (False, "not_found")
    assert isinstance(outcome, Edited)
    assert np.array_equal(decode_rgb(outcome.image), decode_rgb(half))


def test_misses_refusals_and_other_shapes_are_as_frequent_as_set(scenes: Scenes):
    small, count = photo("astronaut", 0.2), 160
    rates = {"miss_rate": 0.3, "refusal_rate": 0.2, "off_shape_rate": 0.1}
    outcomes = [scenes.ask(small, FIVE[0], seed=n // 2, attempt=1 + n % 2, **rates) for n in range(count)]
    refused = sum(isinstance(outcome, Refused) for outcome in outcomes)
    told = [truth(outcome) for outcome in outcomes if isinstance(outcome, Edited)]
    shapes = [decode_rgb(o.image).shape[:2] == (205, 205) for o in outcomes if isinstance(o, Edited)]
    assert shapes == [not one["off_shape"] for one in told]
    assert refused + len(told) == count
    seen = {
        0.2: refused / count,
        0.3: sum(one["why"] == "missed" for one in told) / len(told),
        0.1: sum(one["off_shape"] for one in told) / len(told),
    }
    for rate, found in seen.items():
        assert abs(found - rate) < 4 * (rate * (1 - rate) / len(told)) ** 0.5


def test_a_retry_may_succeed(scenes: Scenes):
    small = photo("astronaut", 0.2)
    made = [truth(scenes.ask(small, FIVE[0], seed=3, attempt=n, miss_rate=0.5))["made"] for n in range(1, 9)]
    assert set(made) == {True, False}


@pytest.mark.parametrize("name", PHOTOS)
def test_cards_lose_likeness_in_their_order(scenes: Scenes, name: str):
    original, likeness = photo(name, 0.5), dict[str, float]()
    for model in DRIFTING:
        drift = load(ModelCard, model).settings["face_drift"]
        image = scenes.edit(original, *[FIVE[0], FIVE[3]] * 2, FIVE[0], face_drift=drift)
        likeness[model] = scenes.likeness(original, image)
    values = list(likeness.values())
    assert values == sorted(values, reverse=True)
    assert values[0] > 0.98
    assert 0.75 < values[1] < 0.97
    assert values[1] - values[2] > 0.08
    assert values[2] - values[3] > 0.08


def test_nothing_but_the_face_drifts(scenes: Scenes, face_models: FaceModels, half: bytes):
    still, moved = (decode_rgb(scenes.edit(half, FIVE[0], face_drift=drift)) for drift in (0.0, 0.035))
    changed = np.abs(still.astype(int) - moved).max(-1) > 0
    for face in face_models.find(decode_rgb(half)):
        x0, y0, x1, y1 = (float(value) for value in face.box)
        wide, high = 0.3 * (x1 - x0), 0.3 * (y1 - y0)
        top, left = max(0, int(y0 - high)), max(0, int(x0 - wide))
        changed[top : int(y1 + high), left : int(x1 + wide)] = False
    assert not changed.any()


def test_the_careless_card_completes_few_chains_and_the_others_most(scenes: Scenes):
    rates = {name: load(ModelCard, name).settings for name in (*DRIFTING, "scene-careless")}
    small, complete = photo("astronaut", 0.2), dict.fromkeys(rates, 0)
    prompts = load(ChainSet, "everyday-demo").by_photo["group-left"].prompts

    def made(image: bytes, prompt: str, seed: int, model: str) -> bytes | None:
        for attempt in (1, 2, 3):
            outcome = scenes.ask(image, prompt, seed * 3 + attempt, attempt, **rates[model])
            if isinstance(outcome, Edited) and truth(outcome)["made"] and not truth(outcome)["off_shape"]:
                return outcome.image
        return None

    for model in rates:
        for chain in range(6):
            image: bytes | None = small
            for step, prompt in enumerate(prompts):
                image = None if image is None else made(image, prompt, 100 * chain + step, model)
            complete[model] += image is not None
    assert complete.pop("scene-careless") < 0.8 * 6
    assert set(complete.values()) == {6}


@pytest.mark.parametrize(
    "wrong", [{"miss_rate": 1.1}, {"refusal_rate": -0.1}, {"face_drift": 0.2}, {"drift": 0.1}]
)
def test_settings_are_checked(wrong: dict[str, float]):
    with pytest.raises(ValidationError):
        SceneSettings.model_validate(wrong)
