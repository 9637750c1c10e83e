"""The procedural editor draws what it says it draws, as often as it is set to, and remembers it."""

from __future__ import annotations

import io
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from PIL import Image
from pydantic import ValidationError

from adapters.editors.procedural import ProceduralSettings
from adapters.imaging.decode import decode_rgb
from adapters.imaging.face_models import FaceModels, align
from adapters.imaging.frame import Geometry, largest
from adapters.imaging.memory import Layer, Memory, read_memory, strip_memory, write_png
from adapters.imaging.regions import outside
from domain.edits import Edited, EditOutcome, NoImage
from domain.loading import load
from domain.sessions import SessionSet
from domain.taxonomy import Taxonomy

Edit = Callable[..., EditOutcome]


def edited(outcome: EditOutcome) -> Edited:
    assert isinstance(outcome, Edited), outcome
    return outcome


def truth(outcome: EditOutcome) -> dict[str, object]:
    found = edited(outcome).details["truth"]
    assert isinstance(found, dict)
    return dict(found)


def reason(outcome: EditOutcome) -> str:
    assert isinstance(outcome, NoImage), outcome
    return outcome.reason.split(":")[0]


def test_same_request_gives_same_bytes_and_any_part_of_it_matters(edit: Edit, astronaut: bytes) -> None:
    first = edited(edit(astronaut, "Add a bucket hat.", 7)).image
    assert edited(edit(astronaut, "Add a bucket hat.", 7)).image == first
    for other in (
        edit(astronaut, "Add a bucket hat.", 8),
        edit(astronaut, "Add a bucket hat.", None),
        edit(astronaut, "Add a bucket hat.", 7, 2),
        edit(astronaut, "Add a bucket hat", 7),
    ):
        assert edited(other).image != first


def test_threads_do_not_disturb_each_other(edit: Edit, astronaut: bytes) -> None:
    prompts = ["Add spiked hair.", "Add a goatee", "Add lavender hair", "Make them looking left."] * 2
    alone = [edited(edit(astronaut, prompt)).image for prompt in prompts]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda prompt: edited(edit(astronaut, prompt)).image, prompts))
    assert together == alone


def test_each_category_is_rendered_where_it_belongs_or_says_why_not(
    edit: Edit, astronaut: bytes, taxonomy: Taxonomy, face_models: FaceModels
) -> None:
    before = decode_rgb(astronaut)
    geometry = largest(face_models.find(before))
    assert geometry is not None
    refused: dict[str, str] = {}
    for sub_axis, categories in taxonomy.categories.items():
        for category in categories:
            prompt = next(a.name for a in taxonomy.attributes.values() if a.category == category)
            outcome = edit(astronaut, prompt, drift=0.0)
            if isinstance(outcome, NoImage):
                refused[category] = reason(outcome)
                continue
            after = decode_rgb(edited(outcome).image)
            assert after.shape == before.shape
            changed = np.abs(after.astype(int) - before).max(-1) > 12
            away = outside(geometry, changed.shape, 1.0, sub_axis)
            if category != "looking straight ahead":  # she already does
                assert changed[~away].sum() > 60, category
            assert changed[away].mean() < 0.001, category
    assert refused == {"buzz cut": "cannot_draw", "clean shaven": "nothing_to_shave"}


@pytest.mark.parametrize(
    ("prompt", "code"),
    [
        ("Make it prettier.", "no_attribute"),
        ("Add a military cut", "cannot_draw"),
        ("shaved", "nothing_to_shave"),
    ],
)
def test_what_it_cannot_do_is_no_image(edit: Edit, astronaut: bytes, prompt: str, code: str) -> None:
    assert reason(edit(astronaut, prompt)) == code


def test_an_image_without_a_face_is_no_image(edit: Edit) -> None:
    grey = io.BytesIO()
    Image.new("RGB", (200, 200), "grey").save(grey, "PNG")
    assert reason(edit(grey.getvalue(), "Add round glasses")) == "no_face"
    assert reason(edit(b"\xff\xd8 broken", "Add round glasses")) == "unreadable_image"


def test_a_hat_needs_room(edit: Edit, astronaut: bytes, face_models: FaceModels) -> None:
    rgb = decode_rgb(astronaut)
    geometry = largest(face_models.find(rgb))
    assert geometry is not None
    top = int(geometry.origin[1] - 0.45 * geometry.unit_px)
    tight = io.BytesIO()
    Image.fromarray(rgb[top:]).save(tight, "PNG")
    assert reason(edit(tight.getvalue(), "Add a stetson hat")) == "no_room"


def test_a_second_hat_replaces_the_first(edit: Edit, astronaut: bytes) -> None:
    cowboy = edited(edit(astronaut, "Add a cowboy hat", drift=0.0))
    both = decode_rgb(edited(edit(cowboy.image, "Replace the cowboy hat with a beanie hat", drift=0.0)).image)
    beanie = decode_rgb(edited(edit(astronaut, "Add a beanie hat", drift=0.0)).image)
    # The wide brim of the cowboy hat is gone: only the texture of the beanie, which is seeded, may differ.
    assert (np.abs(both.astype(int) - beanie).max(-1) > 40).mean() < 0.002


def test_shaving_takes_off_what_was_drawn(edit: Edit, astronaut: bytes) -> None:
    half = edited(edit(astronaut, "Add a full beard", drift=0.0))
    bearded = edited(edit(half.image, "Add a chaplin mustache", drift=0.0))
    outcome = edit(bearded.image, "Make them clean shaven", drift=0.0)
    assert truth(outcome)["changed"] == {"beard": "clean shaven", "mustache": None}
    assert np.array_equal(decode_rgb(edited(outcome).image), decode_rgb(astronaut))


def test_keep_changes_nothing_that_was_asked(edit: Edit, astronaut: bytes) -> None:
    outcome = edit(astronaut, "Keep their circular glasses.")
    assert truth(outcome) == {
        "asked": "round glasses", "asked_sub_axis": "glasses", "made": False, "keep": True, "changed": {},
    }  # fmt: skip
    worn = edited(edit(astronaut, "Add circular glasses."))
    assert truth(edit(worn.image, "Keep their circular glasses."))["made"] is True


def test_misses_and_overedits_are_as_frequent_as_set(edit: Edit, small_face: bytes) -> None:
    count, missed, overdone, untouched = 200, 0, 0, decode_rgb(small_face)
    for seed in range(count):
        outcome = edit(small_face, "Add square glasses", seed, drift=0.0, miss_rate=0.3, overedit_rate=0.4)
        found = truth(outcome)
        changed = found["changed"]
        assert isinstance(changed, dict)
        others = set(changed) - {"glasses"}
        assert found["made"] is ("glasses" in changed)
        missed += not found["made"]
        overdone += bool(others)
        assert len(others) <= 1
        same = np.array_equal(decode_rgb(edited(outcome).image), untouched)
        assert same is (not changed), "what the truth tells is what the pixels show"
    assert abs(missed / count - 0.3) < 4 * (0.3 * 0.7 / count) ** 0.5
    assert abs(overdone / count - 0.4) < 4 * (0.4 * 0.6 / count) ** 0.5


def test_likeness_falls_step_by_step(edit: Edit, astronaut: bytes, face_models: FaceModels) -> None:
    def embedding(image: bytes) -> np.ndarray:
        rgb = decode_rgb(image)
        return face_models.embed([align(rgb, face_models.find(rgb)[0])])[0]

    first, image, likeness = embedding(astronaut), astronaut, [1.0]
    for _ in range(4):
        image = edited(edit(image, "Keep the beret hat.", drift=0.02)).image
        likeness.append(float(embedding(image) @ first))
    assert likeness == sorted(likeness, reverse=True)
    assert 0.4 < likeness[-1] < 0.95


def test_every_session_of_the_suite_can_be_played(edit: Edit, small_face: bytes) -> None:
    for session in load(SessionSet, "face-edit-sessions").sessions:
        image = small_face
        for step in session.steps:
            outcome = edited(edit(image, step.prompt, miss_rate=0.1, overedit_rate=0.2))
            found = truth(outcome)
            assert found["keep"] is step.keep
            image = outcome.image
        memory = read_memory(image)
        assert memory is not None
        assert memory[1] == small_face
        assert len(memory[0].drift_seeds) == 4


def test_memory_survives_and_does_not_touch_pixels() -> None:
    rgb = np.random.default_rng(0).integers(0, 256, (40, 30, 3), dtype=np.uint8)
    layer = Layer(category="round glasses", seed=3, form="oval", tinted=True)
    memory = Memory(drift_seeds=(1, 2), layers={"glasses": layer})
    image = write_png(rgb, memory, b"the first photo")
    assert read_memory(image) == (memory, b"the first photo")
    bare = strip_memory(image)
    assert read_memory(bare) is None
    assert len(bare) < len(image)
    assert np.array_equal(decode_rgb(bare), rgb)
    assert strip_memory(bare) == bare


@pytest.mark.parametrize(
    "damage", [b"", b"no png at all", b"\x89PNG\r\n\x1a\n", b"\x89PNG\r\n\x1a\n\xff\xff\xff\xfffdRT"]
)
def test_damaged_memory_is_none(damage: bytes) -> None:
    assert read_memory(damage) is None
    rgb = np.zeros((8, 8, 3), np.uint8)
    image = write_png(rgb, Memory(), b"photo")
    at = image.index(b"photo")
    assert read_memory(image) == (Memory(), b"photo")
    assert read_memory(image[:at] + b"\x07" + image[at + 1 :]) is None
    assert read_memory(image[: at + 3]) is None


@pytest.mark.parametrize(
    "wrong", [{"miss_rate": 1.1}, {"overedit_rate": -0.1}, {"drift": 0.2}, {"mis_rate": 0.1}]
)
def test_settings_are_checked(wrong: dict[str, float]) -> None:
    with pytest.raises(ValidationError):
        ProceduralSettings.model_validate(wrong)


def test_mirroring_twice_is_no_change(astronaut: bytes, face_models: FaceModels) -> None:
    rgb = decode_rgb(astronaut)
    geometry = largest(face_models.find(rgb))
    assert geometry is not None
    turned = geometry.mirrored(rgb.shape[1])
    assert turned.yaw == pytest.approx(-geometry.yaw, abs=0.01)
    back: Geometry = turned.mirrored(rgb.shape[1])
    assert np.allclose(back.contour, geometry.contour, atol=1e-6)
