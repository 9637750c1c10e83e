"""The local writer of chains asks for what there is room for, and the scene editor then makes all of it."""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np
import pytest
from scenes import PHOTOS, Scenes, photo, portrait

from adapters.imaging.decode import decode_rgb
from adapters.imaging.face_models import FaceModels
from adapters.imaging.frame import Image
from adapters.imaging.scene_prompts import ITEMS, SIGNS, read_wish
from adapters.judges.local_chains import LocalChainWriter, chain_for
from adapters.judges.local_steps import LocalStepChecker
from domain import keys
from domain.chain_drafting import Draft, DraftWanted, read_draft
from domain.chain_rules import chain_problems
from domain.errors import PhotoError
from domain.judging import parse_checklist

SHA = keys.sha256(b"a photo")


class Shelf:
    """A photo that has room for some kinds, once at each of some places."""

    def __init__(self, clothes: str | None, kinds: tuple[str, ...], places: tuple[str, ...]) -> None:
        self.clothes = clothes
        self.kinds, self.free = kinds, list(places)

    def put(self, kind: str, place: str) -> bool:
        if kind not in self.kinds or place not in self.free:
            return False
        self.free.remove(place)
        return True


@pytest.fixture(scope="module")
def scenes(face_models: FaceModels) -> Scenes:
    return Scenes(face_models)


@pytest.fixture(scope="module")
def draft(face_models: FaceModels) -> Callable[[bytes], Draft]:
    writer = LocalChainWriter(lambda: face_models)
    return lambda image: read_draft(writer.draft_chain(image, DraftWanted(steps=5)).raw_text, 5)


@pytest.mark.parametrize("name", [*PHOTOS, "portrait"])
def test_all_that_is_asked_for_can_be_made_and_is_seen(
    scenes: Scenes, face_models: FaceModels, draft: Callable[[bytes], Draft], name: str
):
    image = portrait() if name == "portrait" else photo(name)
    checker, drafted, before = LocalStepChecker(face_models), draft(image), decode_rgb(image)
    assert list(chain_problems(drafted.prompts, drafted.edit_target, 5)) == []
    for prompt in drafted.prompts:
        after = scenes.edit(image, prompt, face_drift=0.0)
        assert parse_checklist(json.dumps(checker.check(image, after, prompt))).made, prompt
        image = after
    after = decode_rgb(image)
    for face in face_models.find(before):
        x0, y0, x1, y1 = (max(0, int(value)) for value in face.box)
        inner = slice(y0, y1), slice(x0 + (x1 - x0) // 5, x1 - (x1 - x0) // 5)
        assert np.array_equal(after[inner], before[inner]), "a face is never covered"


def test_a_face_that_fills_the_picture_gets_no_shirt_and_smaller_things_beside_it(
    draft: Callable[[bytes], Draft],
):
    wishes = [read_wish(prompt) for prompt in draft(portrait()).prompts]
    assert {wish.verb for wish in wishes if wish} == {"add"}
    assert len({wish.target.kind for wish in wishes if wish}) == 5
    assert {wish.place for wish in wishes if wish} == {"top left", "top right", "top"}, "nothing else is free"


def test_a_photo_without_a_face_is_drafted_unseen():
    class Nobody:
        def find(self, pixels: Image, /) -> tuple[()]:
            return ()

    plain = photo("astronaut", 0.1)
    reply = LocalChainWriter(Nobody).draft_chain(plain, DraftWanted(steps=5))
    answer = json.loads(reply.raw_text)
    assert (answer["edit_target"], answer["prompts"]) == chain_for(keys.sha256(plain), 5)
    with pytest.raises(PhotoError):
        LocalChainWriter(Nobody).draft_chain(b"<html>", DraftWanted(steps=5))


def test_the_shirt_gets_another_colour_than_it_has():
    for number in range(30):
        sha = keys.sha256(bytes([number]))
        usual = chain_for(sha, 1)[1][0].rstrip(".").split()[-1]
        other = chain_for(sha, 1, Shelf(usual, (), ()))[1][0]
        assert other.startswith("Change the colour of the shirt to ")
        assert usual not in other


def test_what_fits_nowhere_is_passed_over():
    places = ("bottom", "left", "top")
    target, prompts = chain_for(SHA, 3, Shelf(None, ("label", "book", "kite"), places))
    wishes = [wish for wish in map(read_wish, prompts) if wish]
    assert [wish.target.kind for wish in wishes][:1] == ["label"]
    assert {wish.target.kind for wish in wishes} == {"label", "book", "kite"}
    assert {wish.place for wish in wishes} == set(places)
    assert target == "mixed"
    target, prompts = chain_for(SHA, 2, Shelf(None, ("ball", "box"), places))
    assert target == "objects"
    assert not any(kind in prompt for prompt in prompts for kind in SIGNS)


@pytest.mark.parametrize("clothes", [None, "red"])
@pytest.mark.parametrize("kinds", [(), ("board", "vase"), ITEMS])
@pytest.mark.parametrize("steps", [1, 2, 5, 10, 17])
def test_a_chain_keeps_the_rules_whatever_there_is_room_for(
    clothes: str | None, kinds: tuple[str, ...], steps: int
):
    for number in range(20):
        room = Shelf(clothes, kinds, ("top", "bottom left"))
        target, prompts = chain_for(keys.sha256(bytes([number])), steps, room)
        assert len(prompts) == steps
        assert list(chain_problems(prompts, target, steps)) == []
