"""The laws of every editor that runs in this process, over every model card of one.

A new card is held to them by being there. Those of editors that ask a provider are in `test_providers.py`.
"""

from __future__ import annotations

import base64
import importlib
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from builders import encoded, noise
from pydantic import ValidationError

from adapters.base import Editor, EditorContext
from adapters.datasets.source import SourcePhoto
from adapters.editors.control_stranger import StrangerEditor
from adapters.embedders.insightface import InsightFaceEmbedder
from adapters.imaging.decode import decode_rgb, inspect_image
from adapters.imaging.face_models import FaceModels
from adapters.registry import EDITORS, IN_PROCESS, USES_POOL, editor_class
from domain.edits import Edited, EditOutcome, EditRequest, NoImage, Refused, Ticket
from domain.errors import DefinitionError, FacedriftError
from domain.keys import sha256
from domain.loading import load, names
from domain.model_cards import ModelCard
from domain.photos import Photo
from domain.sessions import SessionSet
from domain.taxonomy import Taxonomy

CARDS = [load(ModelCard, name) for name in names(ModelCard)]
LOCAL = [card for card in CARDS if card.provider in IN_PROCESS]
PROMPTS = [step.prompt for step in load(SessionSet, "face-edit-sessions").by_id["multi_axis_002"].steps]
EVERYDAY = [
    "Add a blue mug at the bottom left",
    "Change the hair colour to red",
    "Move the blue mug to the bottom right",
    "Remove the blue mug",
]
"""What the editor of scenes understands."""


@pytest.fixture(scope="module")
def bytes_of(faces: list[SourcePhoto]) -> dict[str, bytes]:
    return {sha256(photo.data): photo.data for photo in faces}


@pytest.fixture(scope="module")
def pool(faces: list[SourcePhoto], embedder: InsightFaceEmbedder) -> list[Photo]:
    readings = embedder.read([photo.data for photo in faces])
    return [
        Photo(
            id=photo.id,
            subject=photo.subject,
            role="base",
            image_sha256=sha256(photo.data),
            extension="png",
            width=reading.width or 0,
            height=reading.height or 0,
            box=reading.faces[0].box,
            licence=photo.licence,
            source=photo.source,
        )
        for photo, reading in zip(faces, readings, strict=True)
    ]


@pytest.fixture(scope="module")
def context(pool: list[Photo], bytes_of: dict[str, bytes], models: FaceModels) -> EditorContext:
    return EditorContext(
        taxonomy=load(Taxonomy, "face-edit-attributes"),
        pool=pool,
        load_photo=lambda photo: bytes_of[photo.image_sha256],
        face_models=lambda: models,
    )


@pytest.fixture(params=LOCAL, ids=lambda card: card.id)
def card(request: pytest.FixtureRequest) -> ModelCard:
    return request.param


@pytest.fixture
def prompts(card: ModelCard) -> list[str]:
    return EVERYDAY if card.provider == "scene" else PROMPTS


def build(card: ModelCard, context: EditorContext) -> Editor:
    return editor_class(card.provider).build(card, context)


def ask(editor: Editor, image: bytes, prompt: str = PROMPTS[0], **fields: Any) -> EditOutcome:
    request = EditRequest("m", image, sha256(image), prompt, **{"seed": 11, **fields})
    ticket = editor.submit(request)
    assert isinstance(ticket, Ticket)
    return editor.collect(ticket)


def test_every_provider_of_a_card_is_registered_and_every_registered_one_has_a_card():
    assert {card.provider for card in CARDS} == set(EDITORS)
    assert set(EDITORS) >= USES_POOL


@pytest.mark.parametrize("provider", EDITORS)
def test_every_registered_name_leads_to_a_class(provider: str):
    module, _, name = EDITORS[provider].partition(":")
    assert hasattr(importlib.import_module(module), name)
    assert hasattr(editor_class(provider), "build")


def test_an_unknown_provider_is_named_with_the_known_ones():
    with pytest.raises(DefinitionError, match="no editor for provider 'acme'") as caught:
        editor_class("acme")
    assert caught.value.allowed == tuple(EDITORS)


def test_the_same_request_gets_the_same_answer(
    card: ModelCard, context: EditorContext, faces: list[SourcePhoto], prompts: list[str]
):
    one, other = build(card, context), build(card, context)
    for prompt in prompts[:2]:
        first = ask(one, faces[6].data, prompt)
        assert ask(one, faces[6].data, prompt) == first
        assert ask(other, faces[6].data, prompt) == first


def test_threads_share_an_editor(
    card: ModelCard, context: EditorContext, faces: list[SourcePhoto], prompts: list[str]
):
    editor = build(card, context)
    with ThreadPoolExecutor(4) as threads:
        together = list(threads.map(lambda photo: ask(editor, photo.data, prompts[0]), faces[:4]))
    assert together == [ask(build(card, context), photo.data, prompts[0]) for photo in faces[:4]]


def test_a_whole_chain_stays_decodable_and_keeps_its_shape(
    card: ModelCard, context: EditorContext, faces: list[SourcePhoto], prompts: list[str]
):
    editor = build(card, context)
    edited = 0
    for photo in faces[:2]:
        image = photo.data
        for prompt in prompts:
            outcome = ask(editor, image, prompt)
            assert isinstance(outcome, Edited | Refused | NoImage)
            assert outcome.served_version
            if not isinstance(outcome, Edited):
                assert outcome.reason
                break
            edited += 1
            before, after = inspect_image(image), inspect_image(outcome.image)
            if card.shape_policy == "same":
                assert (after.width, after.height) == (before.width, before.height)
            image = outcome.image
    assert edited >= len(prompts)


def test_other_formats_than_png_go_in(
    card: ModelCard, context: EditorContext, faces: list[SourcePhoto], prompts: list[str]
):
    editor = build(card, context)
    for form in ("JPEG", "WEBP"):
        data = encoded(decode_rgb(faces[6].data), form, quality=90)
        answers = [ask(editor, data, prompts[0], attempt=attempt) for attempt in (1, 2, 3)]
        edited = [answer for answer in answers if isinstance(answer, Edited)]
        assert len(edited) == 3 or card.settings.get("refusal_rate")
        heights = {inspect_image(answer.image).height for answer in edited}
        assert heights == {432} or card.shape_policy == "any"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"<html>no</html>",
        encoded(noise(64, 64), "JPEG")[:-900],
        encoded(noise(64, 64)),
        encoded(noise(1, 1)),
    ],
    ids=["empty", "html", "truncated", "no face", "1x1"],
)
def test_an_input_that_is_no_portrait_ends_in_an_outcome_or_in_our_own_error(
    card: ModelCard, context: EditorContext, data: bytes
):
    try:
        outcome = ask(build(card, context), data)
    except FacedriftError:
        return
    assert isinstance(outcome, Edited | Refused | NoImage)


@pytest.mark.parametrize("prompt", ["", "do something nice", "ß" * 5000, "Add <script>alert(1)</script>"])
def test_a_prompt_that_asks_for_nothing_known(
    card: ModelCard, context: EditorContext, faces: list[SourcePhoto], prompt: str
):
    assert isinstance(ask(build(card, context), faces[6].data, prompt), Edited | Refused | NoImage)


def test_settings_that_an_editor_does_not_know_are_refused(card: ModelCard, context: EditorContext):
    changed = card.model_copy(update={"settings": {**card.settings, "gamma_rays": 3}})
    with pytest.raises(ValidationError, match="gamma_rays\n  Extra inputs are not permitted"):
        build(changed, context)


def test_settings_of_the_wrong_kind_are_refused(card: ModelCard, context: EditorContext):
    for name in card.settings:
        changed = card.model_copy(update={"settings": {**card.settings, name: "a lot"}})
        with pytest.raises(ValidationError, match=name):
            build(changed, context)


class TestUnchanged:
    def test_it_returns_the_very_bytes(self, context: EditorContext):
        editor = build(load(ModelCard, "control-unchanged"), context)
        for data in (encoded(noise(8, 8), "JPEG"), b"whatever these are"):
            outcome = ask(editor, data)
            assert isinstance(outcome, Edited)
            assert outcome.image == data


class TestRecompress:
    @pytest.fixture
    def editor(self, context: EditorContext) -> Editor:
        return build(load(ModelCard, "control-recompress"), context)

    def test_it_returns_a_jpeg_of_the_same_size(self, editor: Editor, faces: list[SourcePhoto]):
        for data, size in (
            (faces[0].data, (384, 520)),
            (encoded(noise(5, 3)), (5, 3)),
            (encoded(noise(1, 1)), (1, 1)),
        ):
            outcome = ask(editor, data)
            assert isinstance(outcome, Edited)
            facts = inspect_image(outcome.image)
            assert (facts.extension, facts.width, facts.height) == ("jpg", *size)

    def test_it_loses_a_little_more_at_each_step(self, editor: Editor, faces: list[SourcePhoto]):
        original = decode_rgb(faces[0].data).astype(int)
        image, losses = faces[0].data, []
        for _ in range(4):
            outcome = ask(editor, image)
            assert isinstance(outcome, Edited)
            image = outcome.image
            losses.append(np.abs(decode_rgb(image) - original).mean())
        assert losses == sorted(losses)
        assert 0 < losses[0] < losses[3] < 20

    def test_an_unreadable_input_gives_no_image_with_the_reason(self, editor: Editor):
        outcome = ask(editor, b"<html>")
        assert isinstance(outcome, NoImage)
        assert outcome.reason.startswith("not_an_image: ")


class TestStranger:
    @pytest.fixture
    def editor(self, context: EditorContext) -> Editor:
        return build(load(ModelCard, "control-stranger"), context)

    def test_it_never_returns_the_subject_and_always_the_same_stranger(
        self, editor: Editor, pool: list[Photo], bytes_of: dict[str, bytes], embedder: InsightFaceEmbedder
    ):
        for photo in pool:
            data = bytes_of[photo.image_sha256]
            outcomes = [ask(editor, data, prompt) for prompt in PROMPTS[:2]]
            assert outcomes[0] == outcomes[1]
            assert isinstance(outcomes[0], Edited)
            assert outcomes[0].details["stranger"] != photo.subject
            own, swapped = embedder.read([data, outcomes[0].image])
            a, b = (np.frombuffer(base64.b64decode(r.faces[0].embedding), "<f4") for r in (own, swapped))
            assert float(a @ b) < 0.35

    def test_nothing_changes_from_the_second_step_on(self, editor: Editor, faces: list[SourcePhoto]):
        first = ask(editor, faces[2].data)
        assert isinstance(first, Edited)
        second = ask(editor, first.image, PROMPTS[1])
        assert isinstance(second, Edited)
        assert second.image == first.image

    def test_nor_where_the_stranger_already_has_the_right_size(self):
        """Fitted to its own size, a PNG written by the same library equals the stranger's base photo."""
        data = [encoded(noise(40, 30, seed)) for seed in range(3)]
        template = {
            "role": "base",
            "extension": "png",
            "width": 40,
            "height": 30,
            "licence": "x",
            "source": "x",
        }
        pool = [
            Photo(id=f"p{n}", subject=f"s{n}", image_sha256=sha256(d), box=(0, 0, 9, 9), **template)
            for n, d in enumerate(data)
        ]
        editor = StrangerEditor(pool, lambda photo: data[int(photo.id[1])])
        for image in data:
            first = ask(editor, image)
            assert isinstance(first, Edited)
            assert first.image not in data
            assert any(np.array_equal(decode_rgb(first.image), decode_rgb(d)) for d in data if d != image)
            second = ask(editor, first.image)
            assert isinstance(second, Edited)
            assert second.image == first.image

    def test_another_photo_of_the_subject_is_no_stranger(self, pool: list[Photo], bytes_of: dict[str, bytes]):
        twin = pool[1].model_copy(update={"subject": pool[0].subject})
        editor = StrangerEditor([pool[0], twin], lambda photo: bytes_of[photo.image_sha256])
        outcome = ask(editor, bytes_of[pool[0].image_sha256])
        assert isinstance(outcome, NoImage)
        assert outcome.reason.startswith("no_stranger")
